"""Who holds a token: JWTs, checked against a signing secret, against a service's key set, or both.

The key decides the algorithm, never the token: a public key is no secret, and `none` is no key.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Container
from typing import Any, NamedTuple, TypeGuard
from urllib.parse import urlsplit

import jwt
import msgspec

from tabhub.errors import AccessError, InvalidArguments, TabhubError, Unavailable
from tabhub.proxy.outputs import Identity
from tabhub.rate_limit import Clock

SHORTEST_SECRET = 32
"""Bytes; a shorter one could be guessed from one token."""
LONGEST_TOKEN = 32_768
KEY_SET_SECONDS = 600.0
UNKNOWN_KEY_SECONDS = 60.0
"""How often a key set is fetched for a key that it does not have."""
KEY_SET_BYTES = 1_000_000
OPERATOR_SECONDS = 60
SECRET_ALGORITHM = "HS256"
_ALGORITHMS = {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}
_CURVES = {"EC": "P-256", "OKP": "Ed25519"}
_MESSAGES: dict[type[Exception], tuple[str, str]] = {
    jwt.ExpiredSignatureError: ("Token expired", "token_expired"),
    jwt.InvalidAudienceError: ("Token is for another service", "not_authenticated"),
    jwt.InvalidIssuerError: ("Token is from another issuer", "not_authenticated"),
}

Fetch = Callable[[], Awaitable[bytes]]
IsRevoked = Callable[[Identity], bool]
LONGEST_SECONDS = 30 * 24 * 3600
"""How long a token may live, as revocations are kept only a day longer."""
LEEWAY_SECONDS = 300.0
"""By which the clock of an issuer may be ahead."""


class _Key(NamedTuple):
    algorithm: str
    key: Any


class KeySet:
    """The public keys of an issuer (JWKS), fetched when needed."""

    def __init__(self, fetch: Fetch, clock: Clock = time.monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._keys: dict[str | None, _Key] = {}
        self._fetched_at = float("-inf")
        self._tried_at = float("-inf")
        self._lock = asyncio.Lock()

    @property
    def is_fetching(self) -> bool:
        return self._lock.locked()

    async def find(self, id: str | None) -> _Key | None:
        """A key; None if there is none. Raises Unavailable if that cannot be known now."""
        if id in self._keys and self._clock() < self._fetched_at + KEY_SET_SECONDS:
            # A slow issuer, asked for another key, keeps nobody waiting who has a known one.
            return self._keys[id]
        # Whoever comes while the set is fetched waits for it.
        async with self._lock:
            now = self._clock()
            is_old = now >= self._fetched_at + KEY_SET_SECONDS
            is_fresh = False
            if (is_old or id not in self._keys) and now >= self._tried_at + UNKNOWN_KEY_SECONDS:
                self._tried_at = now
                is_fresh = await self._refresh()
            if id not in self._keys and not is_fresh:
                # It may be a new key, which strangers with unknown ones must not keep out for good.
                raise Unavailable(
                    "The issuer's key for this token cannot be looked up now; try again later.",
                    "server_unavailable",
                )
            return self._keys.get(id)

    async def _refresh(self) -> bool:
        """Fetch the set; returns whether that has worked."""
        try:
            found = msgspec.json.decode(await self._fetch(), type=dict[str, Any])
            keys = {entry.get("kid"): _read(entry) for entry in found["keys"]}
        except (TabhubError, ValueError, LookupError, AttributeError, TypeError):
            # Without an answer the known keys go on for a while: an issuer may be down.
            return False
        self._keys = {id: key for id, key in keys.items() if key is not None}
        self._fetched_at = self._clock()
        return True


def _read(entry: dict[str, Any]) -> _Key | None:
    """A key of a set; None for one that is not for signatures, or of a kind that we do not take."""
    kind = entry.get("kty", "")
    algorithm = _ALGORITHMS.get(kind)
    if algorithm is None or entry.get("use", "sig") != "sig":
        return None
    if entry.get("crv") != _CURVES.get(kind) or entry.get("alg", algorithm) != algorithm:
        return None
    try:
        return _Key(algorithm, jwt.PyJWK(entry, algorithm).key)
    except jwt.PyJWTError:
        return None


class ProxyTokens:
    """Checks tokens."""

    def __init__(
        self,
        *,
        secret: bytes | None = None,
        key_set: KeySet | None = None,
        issuer: str | None = None,
        audience: str | None = None,
        hosts: Container[str] = (),
        is_revoked: IsRevoked = lambda identity: False,
    ) -> None:
        self._secret = secret
        self._key_set = key_set
        self._issuer = issuer
        self._audience = audience
        self._hosts = hosts
        self._is_revoked = is_revoked

    async def identity(self, token: str) -> Identity:
        """Who a token is for; raises AccessError, or Unavailable if it cannot be checked now."""
        claims = self._claims(token, await self._key(token))
        user = claims.get("user_id", claims.get("sub"))
        if not _is_text(user) or not user:
            raise _refused("Token names no user")
        self._require_host(claims.get("connection_url"))
        client, id = claims.get("client", ""), claims.get("jti", "")
        if not _is_text(client) or not _is_text(id):
            raise _refused("Invalid token")
        expires, issued = float(claims["exp"]), _issued(claims.get("iat"))
        _require_end(expires, issued or time.time())
        identity = Identity(user, expires, issued, id, client)
        if self._is_revoked(identity):
            raise _refused("Token was revoked")
        return identity

    async def _key(self, token: str) -> _Key:
        """The key for a token, by which key it names and not by which algorithm it wants."""
        if len(token) > LONGEST_TOKEN:
            raise _refused("Invalid token")
        try:
            header = jwt.get_unverified_header(token)
        except jwt.PyJWTError:
            raise _refused("Invalid token") from None
        if self._secret is not None and header.get("alg") == SECRET_ALGORITHM:
            return _Key(SECRET_ALGORITHM, self._secret)
        found = None
        if self._key_set is not None and header.get("alg") in _ALGORITHMS.values():
            found = await self._key_set.find(header.get("kid"))
        if found is None:
            raise _refused("Invalid token")
        return found

    def _claims(self, token: str, key: _Key) -> dict[str, Any]:
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm],
                issuer=self._issuer,
                audience=self._audience,
                # Without the leeway for clocks that are ahead: that is ours.
                options={
                    "require": ["exp"],
                    "verify_aud": self._audience is not None,
                    "verify_iat": False,
                },
            )
        except jwt.MissingRequiredClaimError as error:
            raise _refused(f"Token has no {error.claim}") from None
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
            message, reason = _MESSAGES.get(type(error), ("Invalid token", "not_authenticated"))
            raise _refused(message, reason) from None
        return claims

    def _require_host(self, url: object) -> None:
        """A token that says where it is to be used counts only there."""
        if url is None:
            return
        try:
            host = urlsplit(url).netloc if isinstance(url, str) else ""
        except ValueError:
            host = ""
        if not host or host.lower() not in self._hosts:
            raise _refused("Token is for another service")

    def is_operator(self, given: str, port: int) -> bool:
        """Whether somebody knows the signing secret: shows it, or a token of `operator_token`."""
        if self._secret is None:
            return False
        if hmac.compare_digest(given.encode(), self._secret):
            return True
        try:
            jwt.decode(
                given,
                self._secret,
                algorithms=[SECRET_ALGORITHM],
                audience=_operators_of(port),
                options={"require": ["exp", "aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError):
            return False
        return True


def _is_text(value: object) -> TypeGuard[str]:
    """Whether a claim is a text; JSON can also have halves of characters, which nothing takes."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _issued(claim: object) -> float:
    """When a token was made, by a clock that may be a little ahead; 0 if it does not say."""
    try:
        issued = 0.0 if claim is None else float(claim)  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError):
        raise _refused("Invalid token") from None
    if issued > time.time() + LEEWAY_SECONDS:
        raise _refused("Token is not valid yet")
    return issued


def _require_end(expires: float, issued: float) -> None:
    """A token that lives longer would count again after its revocation is forgotten."""
    longest = LONGEST_SECONDS + LEEWAY_SECONDS
    if expires > min(issued, time.time()) + longest:
        raise _refused("Token lives more than 30 days")


def _refused(why: str, reason: str = "not_authenticated") -> AccessError:
    return AccessError(f"Authentication failed: {why}", reason)


def operator_token(secret: bytes, port: int) -> str:
    """Proves to the node on a port that one knows the signing secret, without showing it.

    Another program may have taken the port: what it learns is of no use anywhere else.
    """
    claims = {"aud": _operators_of(port), "exp": int(time.time()) + OPERATOR_SECONDS}
    return jwt.encode(claims, secret, algorithm=SECRET_ALGORITHM)


def _operators_of(port: int) -> str:
    return f"tabhub-proxy-operators:{port}"


def is_whole_token(text: str) -> bool:
    """Whether a text is a token, or a part of one, and not the id of one."""
    # What every JWT begins with: the first characters of an object in JSON.
    return text.startswith("eyJ")


def issue(secret: bytes, user: str, seconds: float, **claims: Any) -> str:
    """A token of this service's own."""
    if not 0 < seconds <= LONGEST_SECONDS:
        raise InvalidArguments(f"A token lives 1 to {LONGEST_SECONDS} seconds.")
    # As the clock says it: whoever revokes all tokens of a user makes the next one in the same
    # millisecond, and a date that is rounded lies before the revocation or in the next second.
    now = time.time()
    own = {"user_id": user, "iat": now, "exp": now + int(seconds), "jti": secrets.token_hex(8)}
    return jwt.encode({**own, **claims}, secret, algorithm=SECRET_ALGORITHM)
