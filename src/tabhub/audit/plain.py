"""A quick look that tells most values to be free of secrets, so that few are read with care.

It may suspect too much, never too little: whatever redaction would change is not plain.
"""

import re

PLAIN_BYTES = 1_000
"""Of what is longer, something may have to be cut."""

_FILLING = b"_-.0123456789"
"""What may stand between the words of a name."""
_NAMES = re.compile(
    b"pass|pwd|secret|token|authorization|cookie|credential"
    b"|apikey|accesskey|authkey|privatekey|signingkey|pin|cvv|cvc|csc|otp"
)
_SHAPES = re.compile(
    b"-----begin|bearer|basic|eyj|github_|xox|xapp-|akia|asia|gho_|ghp_|ghs_|ghu_|ghr_"
    b"|aiza|glpat-|npm_|sk-|thc_|sk_|rk_"
)
_QUERY = re.compile(rb"[?&](?:code|sig|key|sid|session|jwt|auth|ticket)")
_LONG_NUMBER = re.compile(rb"\d(?:[ -]?\d){12}")


def is_plain(encoded: bytes) -> bool:
    """Whether a value, as JSON, is short and has nothing that could be a secret or its name."""
    if len(encoded) > PLAIN_BYTES or not encoded.isascii():
        return False
    text = encoded.lower()
    words = text.translate(None, _FILLING)
    return not (
        _NAMES.search(words)
        or _SHAPES.search(text)
        or (b"://" in text and b"@" in text)
        or b"\\u" in text
        or _QUERY.search(text)
        or _LONG_NUMBER.search(text)
    )
