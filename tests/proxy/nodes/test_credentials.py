"""Nodes and a nats-server that asks who they are."""

import asyncio
import base64
import json
import os
import time
from pathlib import Path
from typing import Any

import nkeys
import pytest

from tabhub.errors import Unavailable
from tabhub.proxy.proxy_server import ProxyServer, ProxySettings
from tests.proxy.nodes.conversations import connected
from tests.proxy.nodes.nats_servers import nats_server
from tests.proxy.served import SECRET, client, extension, listener, served
from tests.support.eventually import PATIENCE

pytestmark = [
    pytest.mark.requirement("PX-09"),
    pytest.mark.nats,
    # nats-py forgets to close the connection to a server that refuses it.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:loop is closed:ResourceWarning"),
    pytest.mark.usefixtures("swept"),
]


def new_key(kind: int) -> Any:
    return nkeys.from_seed(nkeys.encode_seed(os.urandom(32), kind))


def public(key: Any) -> str:
    found: str = key.public_key.decode()
    return found


def signed(signer: Any, subject: Any, kind: str, seconds: int = 600, **claims: Any) -> str:
    """A token as NATS has them: who may do what, signed by who has the say."""
    about = {"type": kind, "version": 2, **claims}
    now = int(time.time())
    times = {"iat": now, "exp": now + seconds}
    body = {"jti": "1", "iss": public(signer), "sub": public(subject), **times}
    parts = [{"typ": "JWT", "alg": "ed25519-nkey"}, {**body, "name": kind, "nats": about}]
    text = b".".join(_encoded(json.dumps(part).encode()) for part in parts)
    return (text + b"." + _encoded(signer.sign(text))).decode()


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def account_files(folder: Path, seconds: int = 600) -> tuple[Path, Path]:
    """The configuration of a server with one account, and credentials of a user of it."""
    operator = new_key(nkeys.PREFIX_BYTE_OPERATOR)
    account = new_key(nkeys.PREFIX_BYTE_ACCOUNT)
    user = new_key(nkeys.PREFIX_BYTE_USER)
    unlimited = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1)
    account_token = signed(operator, account, "account", limits=unlimited)
    limits = dict.fromkeys(("subs", "data", "payload"), -1)
    user_token = signed(account, user, "user", seconds, **limits)
    config, credentials = folder / "nats.conf", folder / "node.creds"
    config.write_text(
        f"operator: {signed(operator, operator, 'operator')}\n"
        f"resolver: MEMORY\nresolver_preload: {{ {public(account)}: {account_token} }}\n"
    )
    credentials.write_text(
        f"-----BEGIN NATS USER JWT-----\n{user_token}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------\n"
    )
    return config, credentials


async def test_credentials_of_a_file_let_nodes_in(tmp_path: Path) -> None:
    config, credentials = account_files(tmp_path)
    async with nats_server(tmp_path, "-c", str(config)) as nats:
        known: dict[str, Any] = {"nats": (nats.url,), "nats_credentials": credentials}
        async with (
            served(**known) as one,
            served(**known) as two,
            extension(one) as (_, id),
            client(two) as agent,
        ):
            await connected(agent, id)
        with listener() as here, listener() as admin:
            unknown = ProxySettings(secret=SECRET, nats=(nats.url,), drain_seconds=0.0)
            stranger = ProxyServer(unknown, here, admin)
            with pytest.raises(Unavailable, match="NATS refuses this node"):
                await stranger.serve()


async def test_a_node_whose_credentials_expire_ends(tmp_path: Path) -> None:
    config, credentials = account_files(tmp_path, seconds=3)
    async with nats_server(tmp_path, "-c", str(config)) as nats:
        known = ProxySettings(
            secret=SECRET, nats=(nats.url,), nats_credentials=credentials, drain_seconds=0.0
        )
        with listener() as here, listener() as admin:
            with pytest.raises(Unavailable):
                await asyncio.wait_for(ProxyServer(known, here, admin).serve(), PATIENCE)
