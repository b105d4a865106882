"""Names that promise a secret: password, apiKey, X-Auth-Token, CVV, Set-Cookie."""

import re

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", re.ASCII)
_ANYWHERE = ("password", "passwd", "passphrase")
_AT_THE_END = (
    *("pwd", "passcode", "secret", "secrets", "token", "authorization", "cookie", "cookies"),
    *("apikey", "accesskey", "authkey", "privatekey", "secretkey", "signingkey"),
    *("credential", "credentials"),
)
_WHOLE_WORDS = {"pin", "cvv", "cvc", "csc", "otp"}


def is_secret_name(name: str) -> bool:
    """Whether what stands under this name must not be kept, in whichever case it is written."""
    words = [word.lower() for word in _WORDS.findall(name)]
    joined = "".join(words)
    return (
        any(part in joined for part in _ANYWHERE)
        or joined.endswith(_AT_THE_END)
        or joined == "pass"
        or not _WHOLE_WORDS.isdisjoint(words[-1:])
    )


def is_cookie_name(name: str) -> bool:
    """Whether a list of cookies stands under this name, each with a name of its own."""
    return name.lower().rstrip("s").endswith("cookie")
