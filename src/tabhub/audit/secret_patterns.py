"""Secrets known by their shape alone, whatever stands around them.

Every pattern is linear in the text: it begins only where a run of its characters begins, and its
repetitions give nothing back or are bounded.
"""

import base64
import binascii
import re
from collections.abc import Callable

MARK = "[redacted]"

_START = r"(?:(?<![A-Za-z0-9_-])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))"
"""Not within a word; an escape before it is no part of the word."""

_GAP = r"(?:\s|\+|%20){1,4}"
_JWT = re.compile(_START + r"eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}", re.ASCII)
_TOKEN = re.compile(
    _START
    + "(?:"
    + "|".join(
        [
            r"gh[opsur]_[A-Za-z0-9]{20,}+",
            r"github_pat_\w{20,}+",
            r"xox[a-z]-[\w-]{10,}+",
            r"xapp-[\w-]{16,}+",
            r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
            r"AIza[\w-]{30,}+",
            r"glpat-[\w-]{16,}+",
            r"npm_[A-Za-z0-9]{30,}+",
            r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+",
            r"thc_[\w-]{20,}+",
        ]
    )
    + ")",
    re.ASCII,
)
_SK_TOKEN = re.compile(_START + r"sk-[\w-]{20,}+", re.ASCII)
_RANDOM_RUN = re.compile(r"(?<![a-z0-9])(?=[a-z]*+[0-9])[a-z0-9]{16,}+")
_BEARER = re.compile(rf"(?i)(?<![a-z])(bearer{_GAP})([\w.~+/-]{{8,}}+=*+)", re.ASCII)
_BASIC = re.compile(rf"(?i)(?<![a-z])(basic{_GAP})([A-Za-z0-9+/]{{4,}}+={{0,2}})", re.ASCII)
_PROSE = re.compile(r"[A-Za-z]?[a-z]{1,20}(?:[-/.][a-z]{1,20}){0,3}+\.?")
_SCHEMES = "bearer|basic|token|digest|negotiate|ntlm|dpop|oauth|hmac|hawk|api-?key|aws4-hmac-sha256"
_HEADER = re.compile(
    rf"(?i)(authorization\\{{0,7}}[\"']?\s{{0,4}}[:=]\s{{0,4}}\\{{0,7}}[\"'`]?(?:{_SCHEMES}){_GAP})"
    r"([^\s\"'`\\]++)"
)
_USERINFO = re.compile(r"(?<=://)([^\s/?#@:\"'<>]{0,256}:)([^\s/?#\"'<>]+)(?=@)")
_KEY_EDGE = r"-----{}(?:[ +]|%20)(?:[A-Z0-9]{{1,20}}(?:[ +]|%20)){{0,3}}?PRIVATE(?:[ +]|%20)KEY"
_PRIVATE_KEY = re.compile(
    rf"({_KEY_EDGE.format('BEGIN')}[^-]{{0,10}}-----)(?:.*?(?={_KEY_EDGE.format('END')})|.*+)",
    re.DOTALL,
)
_CARD = re.compile(
    r"(?:(?<![\w.-])|(?<=\\[nrt]))(?:"
    r"\d{13,19}"
    r"|\d{4}([ -])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?"
    r"|\d{4}([ -])\d{6}\2\d{4,5}"
    r")(?![ -]?\d|\.\d|[\w-])",
    re.ASCII,
)
_SHORTEST_CARD = 13
_HINT = re.compile(
    "(?i)-----BEGIN|authorization|bearer|basic|eyJ|gh[opsur]_|github_|xox|xapp-|A[KS]IA|AIza"
    "|glpat-|npm_|[rs]k_|thc_|sk-|://|[?&]"
)


def without_shapes(text: str) -> str:
    """The text with every secret of a known shape replaced."""
    # Most texts are short and have nothing that any of these could begin with.
    if _HINT.search(text):
        for pattern, replacement in _SHAPES:
            text = pattern.sub(replacement, text)
    return _CARD.sub(_first_if(_is_card), text) if len(text) >= _SHORTEST_CARD else text


def _first_if(is_secret: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
    return lambda found: MARK if is_secret(found[0]) else found[0]


def _second_if(is_secret: Callable[[str], bool]) -> Callable[[re.Match[str]], str]:
    return lambda found: found[1] + MARK if is_secret(found[2]) else found[0]


def _is_bearer_token(word: str) -> bool:
    return _PROSE.fullmatch(word) is None


def _is_basic_credential(word: str) -> bool:
    try:
        told = base64.b64decode(word + "=" * (-len(word) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in told and told.isprintable()


def _looks_random(token: str) -> bool:
    """Names in style sheets begin like these tokens too, but nobody mixes them up so."""
    body = token[3:]
    mixed = not body.islower() and not body.isupper() and any(map(str.isdigit, body))
    return mixed or _RANDOM_RUN.search(body) is not None


def _is_card(text: str) -> bool:
    """Begins as the numbers of cards do (times and most ids begin with 1), and checks out."""
    digits = [int(character) for character in text if character.isdigit()]
    if not (13 <= len(digits) <= 19 and _is_issued("".join(map(str, digits[:4])))):
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[::-2]) + sum(doubled)) % 10 == 0


def _is_issued(beginning: str) -> bool:
    return beginning[0] in "3456" or "2221" <= beginning <= "2720"


_QUERY = re.compile(
    r"(?i)([?&](?:code|sig|signature|key|sid|session|sessionid|jwt|auth|ticket)=)[^&#\s\"'<>]+"
)

_SHAPES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_PRIVATE_KEY, rf"\1{MARK}"),
    (_HEADER, rf"\1{MARK}"),
    (_BEARER, _second_if(_is_bearer_token)),
    (_BASIC, _second_if(_is_basic_credential)),
    (_JWT, MARK),
    (_TOKEN, MARK),
    (_SK_TOKEN, _first_if(_looks_random)),
    (_USERINFO, rf"\1{MARK}"),
    (_QUERY, rf"\1{MARK}"),
)
