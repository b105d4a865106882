"""Finds secrets in text: by their shape (a token, a card number), or by their name (`password=`).

Every pattern runs in linear time: it starts only where a run of its characters starts, and its
repetitions are possessive or bounded.
"""

import base64
import binascii
import re
from collections.abc import Callable
from functools import lru_cache

MARK = "[redacted]"
_Replacement = str | Callable[[re.Match[str]], str]

# -- by shape --------------------------------------------------------------------------------

_START = r"(?:(?<![A-Za-z0-9_-])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt]))"
"""The start of a word, also after an escape."""

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
_QUERY = re.compile(
    r"(?i)([?&](?:code|sig|signature|key|sid|session|sessionid|jwt|auth|ticket)=)[^&#\s\"'<>]+"
)
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
    """Replace every secret that has a known shape."""
    # Most texts have nothing that any of the patterns could start with.
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
        text = base64.b64decode(word + "=" * (-len(word) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in text and text.isprintable()


def _looks_random(token: str) -> bool:
    """Whether a word is a token rather than a CSS class, which may start with `sk-` too."""
    body = token[3:]
    mixed = not body.islower() and not body.isupper() and any(map(str.isdigit, body))
    return mixed or _RANDOM_RUN.search(body) is not None


def _is_card(text: str) -> bool:
    """Whether digits start like a card number (times start with 1) and have its checksum."""
    digits = [int(character) for character in text if character.isdigit()]
    if not (13 <= len(digits) <= 19 and _is_issued("".join(map(str, digits[:4])))):
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[::-2]) + sum(doubled)) % 10 == 0


def _is_issued(beginning: str) -> bool:
    return beginning[0] in "3456" or "2221" <= beginning <= "2720"


_SHAPES: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
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


# -- by name ---------------------------------------------------------------------------------

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", re.ASCII)
_ANYWHERE = ("password", "passwd", "passphrase")
_AT_THE_END = (
    *("pwd", "passcode", "secret", "secrets", "token", "authorization", "cookie", "cookies"),
    *("apikey", "accesskey", "authkey", "privatekey", "secretkey", "signingkey"),
    *("credential", "credentials"),
)
_WHOLE_WORDS = {"pin", "cvv", "cvc", "csc", "otp"}

_NAME = r"(?<![\w.\-])(?P<name>\w[\w.\-]{0,100}+)"
_QUOTE = r"\\{0,7}[\"'`]"
_PAIR = re.compile(
    rf"{_NAME}(?P<closed>{_QUOTE})?(?:\]|%5[Dd])?(?:"
    rf"[ \t]{{0,4}}(?P<sign>[=:])[ \t]{{0,4}}(?P<open>{_QUOTE})"
    r"|(?P<plain>=|%3[Dd])(?![=\s])"
    r"|(?P<number>:[ \t]{0,4}(?=\d))"
    r")",
    re.ASCII,
)
_HEX_BEFORE = re.compile(r"[0-9A-Fa-f]{2}(?=.)")
_BEFORE_A_KEY = re.compile(r"(?:[{,(\n]\s{0,40}|\A)\Z")
_PLAIN_VALUE = re.compile(r"(?:[^\s&;\"'`<>%\\]|%(?!26|3[Bb]|2[0237]))*+")
_NUMBER = re.compile(r"[\d.eE+-]+")
_LINE = re.compile(
    r"^(?P<before>[ \t>*-]{0,20}(?P<name>[A-Za-z_][\w.\-]{0,100}+)[ \t]?:[ \t]{1,4})"
    r"(?P<value>\S++)(?=[ \t\r]{0,4}$)",
    re.MULTILINE | re.ASCII,
)
_TELLING = re.compile(r"[0-9!@#$%^&*+=~]")
_COOKIES = re.compile(
    rf"(?i)cookies?(?:{_QUOTE})?[ \t]{{0,4}}(?::[ \t]{{0,4}}(?:{_QUOTE})?|=[ \t]{{0,4}}{_QUOTE})"
)
_COOKIE = re.compile(
    r"(?P<name>[ \t]{0,4}[^=;,\s\"'`\\]{1,256}+)"
    r"(?:=(?P<value>[A-Za-z]{3,9},\ [^;,\r\n\"'`\\]{0,40}|\"[^\";\r\n]*+\"?|[^;,\s\"'`\\]*+))?"
    r"(?P<more>[ \t]{0,4}[;,])?"
)
_SIGNS = ("=", ":", "%3")
_ATTRIBUTES = {"path", "domain", "expires", "max-age", "samesite", "priority", "version"}


def is_secret_name(name: str) -> bool:
    """Whether a name, in any style of writing, is that of a secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    joined = "".join(words)
    return (
        any(part in joined for part in _ANYWHERE)
        or joined.endswith(_AT_THE_END)
        or joined == "pass"
        or not _WHOLE_WORDS.isdisjoint(words[-1:])
    )


def without_named(text: str) -> str:
    """Replace every value that has the name of a secret, and the value of every cookie."""
    if not any(sign in text for sign in _SIGNS):
        return text
    if "cookie" in text.lower():
        text = _cookies(text)
    return _LINE.sub(_line, _pairs(text))


def _pairs(text: str) -> str:
    parts, at = [], 0
    for found in _PAIR.finditer(text):
        start = found.end()
        if start >= at and (end := _value_end(text, found)) > start:
            parts += [text[at:start], MARK]
            at = end
    return "".join(parts) + text[at:]


def _value_end(text: str, found: re.Match[str]) -> int:
    """Where the secret after this name ends; 0 if no secret follows."""
    if not _is_secret_pair(text, found):
        return 0
    start = found.end()
    if found["plain"]:
        return _end(_PLAIN_VALUE, text, start)
    if found["number"]:
        return _end(_NUMBER, text, start)
    closing = _closing(found["open"]).search(text, start)
    end = closing.start() if closing else len(text)
    # `_cookies` replaces each value in a list of cookies.
    is_list = _is_cookie_name(found["name"]) and "=" in text[start:end]
    return 0 if is_list else end


def _is_cookie_name(name: str) -> bool:
    return name.lower().rstrip("s").endswith("cookie")


def _is_secret_pair(text: str, found: re.Match[str]) -> bool:
    name = found["name"]
    if text[found.start() - 1 : found.start()] == "%":
        name = _HEX_BEFORE.sub("", name, count=1)
    if not is_secret_name(name):
        return False
    # In prose a colon may follow any word; a key is quoted, or starts a line or an object.
    if found["plain"] or found["sign"] == "=" or found["closed"]:
        return True
    before = text[max(0, found.start() - 41) : found.start()]
    return not found["number"] and _BEFORE_A_KEY.search(before) is not None


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start


@lru_cache
def _closing(opening: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\\){re.escape(opening)}")


def _line(found: re.Match[str]) -> str:
    """Replace the value in a line such as `Password: hunter2`; prose has no digits or signs."""
    value = found["value"]
    is_secret = is_secret_name(found["name"]) and _TELLING.search(value) and "=" not in value
    return found["before"] + MARK if is_secret else found[0]


def _cookies(text: str) -> str:
    parts, at = [], 0
    for found in _COOKIES.finditer(text):
        if found.end() < at:
            continue
        parts.append(text[at : found.end()])
        at = found.end()
        while (cookie := _COOKIE.match(text, at)) is not None:
            parts.append(_one_cookie(cookie))
            at = cookie.end()
            if cookie["more"] is None:
                break
    return "".join(parts) + text[at:]


def _one_cookie(cookie: re.Match[str]) -> str:
    if not cookie["value"] or cookie["name"].strip().lower() in _ATTRIBUTES:
        return cookie[0]
    return f"{cookie['name']}={MARK}{cookie['more'] or ''}"
