"""Tokens: which are taken, by which keys, and which tricks are refused."""

import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tabhub.errors import AccessError, TabhubError, Unavailable
from tabhub.proxy.identity import KeySet, ProxyTokens, issue
from tabhub.proxy.outputs import Identity
from tabhub.proxy.revocations import Revocation, Revocations
from tests.proxy.issuer import FAR

pytestmark = pytest.mark.requirement("PX-05")
SECRET = b"s" * 32
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
KEYS: dict[str, Any] = {
    "RS256": RSA_KEY,
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}


def public(algorithm: str, **more: Any) -> dict[str, Any]:
    """The entry of a key in a key set; its id is the name of its algorithm."""
    kind = jwt.get_algorithm_by_name(algorithm)
    entry = json.loads(kind.to_jwk(KEYS[algorithm].public_key()))
    return {"kid": algorithm, **entry, **more}


class Issuer:
    """A key set that counts how often it is fetched."""

    def __init__(self, *entries: dict[str, Any]) -> None:
        self.entries = list(entries)
        self.fetched = 0
        self.time = 0.0
        self.is_down = False
        self.keys = KeySet(self.fetch, lambda: self.time)

    async def fetch(self) -> bytes:
        self.fetched += 1
        if self.is_down:
            raise Unavailable("The issuer is down.")
        return json.dumps({"keys": self.entries}).encode()


def signed(
    algorithm: str = "HS256", key: Any = SECRET, id: str | None = None, **claims: Any
) -> str:
    headers = {} if id is None else {"kid": id}
    return jwt.encode(
        {"user_id": "ann", "exp": FAR, **claims}, key, algorithm=algorithm, headers=headers
    )


async def refusal(tokens: ProxyTokens, token: str) -> str:
    with pytest.raises(TabhubError) as refused:
        await tokens.identity(token)
    is_final = isinstance(refused.value, AccessError)
    assert is_final == (refused.value.reason != "server_unavailable")
    return refused.value.reason


async def test_a_token_says_who_holds_it_and_until_when() -> None:
    tokens = ProxyTokens(secret=SECRET)
    token = signed(jti="t1", client="claude")
    assert await tokens.identity(token) == Identity("ann", FAR, 0.0, "t1", "claude")
    by_subject = jwt.encode({"sub": "bob", "exp": FAR}, SECRET)
    assert (await tokens.identity(by_subject)).user == "bob"
    assert (await tokens.identity(issue(SECRET, "cat", 60, client="x"))).client == "x"


@pytest.mark.parametrize("algorithm", list(KEYS))
async def test_each_kind_of_key_in_a_key_set_is_taken(algorithm: str) -> None:
    tokens = ProxyTokens(key_set=Issuer(*map(public, KEYS)).keys)
    token = signed(algorithm, KEYS[algorithm], algorithm)
    assert (await tokens.identity(token)).user == "ann"


async def test_a_secret_and_a_key_set_can_be_used_together() -> None:
    tokens = ProxyTokens(secret=SECRET, key_set=Issuer(public("RS256")).keys)
    await tokens.identity(signed())
    await tokens.identity(signed("RS256", RSA_KEY, "RS256"))


async def test_a_public_key_is_no_secret_to_sign_with() -> None:
    pem = RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    encode = jwt.utils.base64url_encode
    head = encode(json.dumps({"alg": "HS256", "kid": "RS256"}).encode())
    body = encode(json.dumps({"user_id": "ann", "exp": FAR}).encode())
    signature = jwt.get_algorithm_by_name("HS256").sign(head + b"." + body, pem)
    token = b".".join([head, body, encode(signature)]).decode()
    assert await refusal(ProxyTokens(key_set=Issuer(public("RS256")).keys), token)
    both = ProxyTokens(secret=SECRET, key_set=Issuer(public("RS256")).keys)
    assert await refusal(both, token) == "not_authenticated"


@pytest.mark.parametrize(
    "token",
    [
        jwt.encode({"user_id": "ann", "exp": FAR}, "", algorithm="none"),
        signed(key=b"t" * 32),
        signed("HS512", b"s" * 64),
        signed()[:-2],
        signed(user_id=5),
        signed(user_id=""),
        signed(jti=5),
        signed(client=["x"]),
        signed(nbf=FAR),
        jwt.encode({"user_id": "ann"}, SECRET),
        jwt.encode({"user_id": "ann", "exp": "soon"}, SECRET),
        jwt.encode({"exp": FAR}, SECRET),
        "",
        "a.b.c",
        "x" * 100_000,
        signed("RS256", RSA_KEY, "RS256"),
    ],
    # Tokens are others each time, and names of tests are not.
    ids=lambda token: "token",
)
async def test_other_tokens_are_refused(token: str) -> None:
    assert await refusal(ProxyTokens(secret=SECRET), token) == "not_authenticated"


async def test_an_expired_token_says_so() -> None:
    assert await refusal(ProxyTokens(secret=SECRET), signed(exp=1)) == "token_expired"


async def test_the_clock_of_an_issuer_may_be_a_little_ahead() -> None:
    tokens, now = ProxyTokens(secret=SECRET), time.time()
    for ahead in (0.5, 2, 60):
        await tokens.identity(signed(iat=now + ahead, exp=now + 3600))
    odd: list[Any] = [now + 3600, 1e300, "soon", [1], {}]
    for iat in odd:
        assert await refusal(tokens, signed(iat=iat, exp=now + 7200)) == "not_authenticated"


@pytest.mark.parametrize("later", [0.000001, 0.0003, 0.0007])
async def test_a_token_of_the_millisecond_of_a_revocation_counts(
    monkeypatch: pytest.MonkeyPatch, later: float
) -> None:
    revoked_at = 1_900_000_000.9990002
    revocations = Revocations(lambda: revoked_at)
    revocations.add(Revocation(revoked_at, user="ann"))
    monkeypatch.setattr(time, "time", lambda: revoked_at + later)
    issued = jwt.decode(issue(SECRET, "ann", 60), options={"verify_signature": False})["iat"]
    assert not revocations.is_revoked(Identity("ann", issued + 60, issued))
    assert issued <= time.time()


async def test_a_token_lives_at_most_thirty_days() -> None:
    tokens, now, day = ProxyTokens(secret=SECRET), int(time.time()), 24 * 3600
    await tokens.identity(issue(SECRET, "ann", 30 * day))
    await tokens.identity(signed(exp=now + 30 * day))
    long = signed(exp=now + 3650 * day), signed(iat=now, exp=now + 31 * day)
    # Its revocation may be forgotten before it ends, although it ends soon.
    for token in (*long, signed(iat=now - 40 * day, exp=now + day), signed(exp=1e300)):
        with pytest.raises(AccessError, match="more than 30 days"):
            await tokens.identity(token)


async def test_issuer_and_audience_count_if_the_service_has_them() -> None:
    tokens = ProxyTokens(secret=SECRET, issuer="https://id.example", audience="tabhub")
    await tokens.identity(signed(iss="https://id.example", aud="tabhub"))
    assert await refusal(tokens, signed(iss="https://id.example", aud="other"))
    assert await refusal(tokens, signed(iss="https://evil.example", aud="tabhub"))
    assert await refusal(tokens, signed())
    await ProxyTokens(secret=SECRET).identity(signed(aud="whatever"))


@pytest.mark.parametrize("claim", ["exp", "iss", "aud"])
async def test_a_refusal_names_the_claim_that_is_missing(claim: str) -> None:
    tokens = ProxyTokens(secret=SECRET, issuer="me", audience="tabhub")
    claims = {"user_id": "ann", "exp": FAR, "iss": "me", "aud": "tabhub"}
    del claims[claim]
    with pytest.raises(AccessError, match=f"Token has no {claim}$"):
        await tokens.identity(jwt.encode(claims, SECRET))


async def test_a_token_counts_only_at_the_service_that_it_names() -> None:
    tokens = ProxyTokens(secret=SECRET, hosts={"proxy.example", "127.0.0.1:9516"})
    await tokens.identity(signed(connection_url="wss://Proxy.example/mcp"))
    await tokens.identity(signed(connection_url="ws://127.0.0.1:9516/mcp"))
    for url in ("wss://other.example/mcp", "wss://proxy.example:1/mcp", "", 5, "wss://[bad"):
        assert await refusal(tokens, signed(connection_url=url))


async def test_a_key_set_is_fetched_once_in_ten_minutes() -> None:
    issuer = Issuer(public("RS256"))
    tokens = ProxyTokens(key_set=issuer.keys)
    token = signed("RS256", RSA_KEY, "RS256")
    for _ in range(5):
        await tokens.identity(token)
    assert issuer.fetched == 1
    issuer.time = 601.0
    await tokens.identity(token)
    assert issuer.fetched == 2


async def test_a_new_key_is_found_and_unknown_ones_ask_once_a_minute() -> None:
    issuer = Issuer(public("RS256"))
    tokens = ProxyTokens(key_set=issuer.keys)
    await tokens.identity(signed("RS256", RSA_KEY, "RS256"))
    fresh = signed("ES256", KEYS["ES256"], "ES256")
    issuer.entries.append(public("ES256"))
    for _ in range(5):
        assert await refusal(tokens, fresh) == "server_unavailable"
    assert issuer.fetched == 1
    issuer.time = 61.0
    await tokens.identity(fresh)
    for number in range(5):
        assert await refusal(tokens, signed("RS256", RSA_KEY, f"unknown-{number}"))
    assert issuer.fetched == 2
    issuer.time = 122.0
    unknown = signed("RS256", RSA_KEY, "unknown")
    assert await refusal(tokens, unknown) == "not_authenticated"


async def test_a_strangers_unknown_key_does_not_make_a_good_token_a_bad_one() -> None:
    issuer = Issuer(public("RS256"))
    tokens = ProxyTokens(key_set=issuer.keys)
    assert await refusal(tokens, signed("RS256", RSA_KEY, "unknown")) == "not_authenticated"
    issuer.entries.append(public("ES256"))
    fresh = signed("ES256", KEYS["ES256"], "ES256")
    assert await refusal(tokens, fresh) == "server_unavailable"
    issuer.time = 60.0
    assert (await tokens.identity(fresh)).user == "ann"


async def test_while_the_issuer_was_never_reached_no_token_is_a_bad_one() -> None:
    issuer = Issuer(public("RS256"))
    issuer.is_down = True
    tokens, token = ProxyTokens(key_set=issuer.keys), signed("RS256", RSA_KEY, "RS256")
    assert await refusal(tokens, token) == "server_unavailable"
    issuer.is_down = False
    assert await refusal(tokens, token) == "server_unavailable"
    issuer.time = 60.0
    assert (await tokens.identity(token)).user == "ann"


async def test_an_algorithm_that_no_key_has_costs_no_look_at_the_keys() -> None:
    issuer = Issuer(public("RS256"))
    tokens = ProxyTokens(key_set=issuer.keys)
    assert await refusal(tokens, signed(id="RS256")) == "not_authenticated"
    assert issuer.fetched == 0


async def test_an_issuer_that_is_down_or_talks_nonsense_costs_no_known_key() -> None:
    issuer = Issuer(public("RS256"))
    tokens = ProxyTokens(key_set=issuer.keys)
    token = signed("RS256", RSA_KEY, "RS256")
    await tokens.identity(token)
    for nonsense in ([5], [{"kty": "RSA"}, public("RS256")], [{}, public("RS256")]):
        issuer.time += 601.0
        issuer.entries = nonsense  # type: ignore[assignment]
        await tokens.identity(token)


async def test_keys_for_other_purposes_are_not_taken() -> None:
    for odd in ({"use": "enc"}, {"alg": "RS512"}, {"crv": "P-521"}):
        tokens = ProxyTokens(key_set=Issuer(public("RS256", **odd)).keys)
        assert await refusal(tokens, signed("RS256", RSA_KEY, "RS256"))


async def test_a_revoked_token_is_refused() -> None:
    revoked = {"t1"}
    tokens = ProxyTokens(secret=SECRET, is_revoked=lambda one: one.token_id in revoked)
    assert await refusal(tokens, signed(jti="t1")) == "not_authenticated"
    await tokens.identity(signed(jti="t2"))
