"""`tabhub proxy` with its flags: the service between agents and browsers on different machines."""

from pathlib import Path
from typing import Annotated

import typer

from tabhub.cli.help import CommandGroup

proxy_app = CommandGroup("A service that connects your agents to your browsers, wherever they are.")

SecretFile = Annotated[
    Path | None,
    typer.Option(
        "--jwt-secret-file",
        metavar="F",
        help="File with the signing secret. Default: that of the proxy that runs with this home, "
        "else proxy-secret in tabhub's home.",
    ),
]
AdminPort = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=65535,
        help="The port for operators of a node on this machine. Default: of the one that runs "
        "with this home, else 9517.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@proxy_app.command("serve")
def proxy_serve(
    host: Annotated[str, typer.Option(help="Address for agents and browsers.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port for agents and browsers.")
    ] = 9516,
    admin_host: Annotated[str, typer.Option(help="Address for operators.")] = "127.0.0.1",
    admin_port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port for health, metrics and administration.")
    ] = 9517,
    jwt_secret_file: Annotated[
        Path | None,
        typer.Option(
            metavar="F",
            help="File with the secret that signs tokens. Without it and without --jwks: "
            "proxy-secret in tabhub's home, written at the first start.",
        ),
    ] = None,
    jwks: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Key set of an issuer whose tokens also count."),
    ] = None,
    issuer: Annotated[str | None, typer.Option(help="Only tokens of this issuer count.")] = None,
    audience: Annotated[
        str | None, typer.Option(help="Only tokens for this audience count.")
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="H",
            help="Name of this service, with the port if its address has one; repeatable.",
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="F", help="Certificate chain, read again on change.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="F", help="Key of it.")] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure", help="Allow plain connections beyond this machine, as behind TLS."
        ),
    ] = False,
    drain_seconds: Annotated[
        float, typer.Option(min=0, help="How long a stop may take; calls end in that time.")
    ] = 30,
    nats: Annotated[
        str | None,
        typer.Option(
            metavar="URL[,URL]", help="Servers of NATS, over which several nodes are one service."
        ),
    ] = None,
    nats_creds: Annotated[
        Path | None, typer.Option(metavar="F", help="Credentials for NATS.")
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            min=1,
            max=64,
            help="Processes, each a node; takes --nats. The second one has the next port for "
            "operators, and so on.",
        ),
    ] = 1,
) -> None:
    """Serve until Ctrl-C or SIGTERM. Then calls end and sockets close; a second signal cuts off."""
    from tabhub.cli.proxy.node import serve
    from tabhub.cli.proxy.serve_request import ServeRequest

    serve(
        ServeRequest(
            host=host,
            port=port,
            admin_host=admin_host,
            admin_port=admin_port,
            secret_file=jwt_secret_file,
            key_set_url=jwks,
            issuer=issuer,
            audience=audience,
            allowed_hosts=allowed_host or [],
            certificate=tls_cert,
            certificate_key=tls_key,
            insecure=insecure,
            drain_seconds=drain_seconds,
            nats=nats,
            nats_credentials=nats_creds,
            workers=workers,
        )
    )


@proxy_app.command("token")
def proxy_token(
    user_id: Annotated[str, typer.Option(help="Whose browsers and agents meet.")],
    jwt_secret_file: SecretFile = None,
    client: Annotated[
        str, typer.Option(metavar="NAME", help="What the person sees of an agent.")
    ] = "",
    ttl: Annotated[
        int, typer.Option(min=1, metavar="S", help="Seconds that it lives; at most 30 days.")
    ] = 24 * 3600,
    connection_url: Annotated[
        str | None, typer.Option(metavar="URL", help="Where it counts, and nowhere else.")
    ] = None,
    issuer: Annotated[
        str | None,
        typer.Option(help="What the proxy demands. Default: that of the one that runs here."),
    ] = None,
    audience: Annotated[
        str | None,
        typer.Option(help="What the proxy demands. Default: that of the one that runs here."),
    ] = None,
    json: Json = False,
) -> None:
    """Print a token for an agent or a browser; it is not stored anywhere."""
    from tabhub.cli.proxy.signing import TokenRequest, print_token

    request = TokenRequest(user_id, client, ttl, connection_url, issuer, audience)
    print_token(request, jwt_secret_file, json)


@proxy_app.command("revoke")
def proxy_revoke(
    jti: Annotated[
        str | None,
        typer.Argument(help="The id of a token; a whole token counts for the id in it."),
    ] = None,
    user: Annotated[
        str | None, typer.Option(metavar="U", help="All tokens of this user so far.")
    ] = None,
    jwt_secret_file: SecretFile = None,
    admin_port: AdminPort = None,
) -> None:
    """End tokens before their time; sockets that have them are closed at once."""
    from tabhub.cli.proxy.operating import revoke

    if (jti is None) == (user is None):
        raise typer.BadParameter("give the id of a token, or --user")
    revoke(jti or "", user or "", jwt_secret_file, admin_port)


@proxy_app.command("pair")
def proxy_pair(
    user_id: Annotated[
        str | None, typer.Option(help="Whose token it becomes. Default: your name here.")
    ] = None,
    client: Annotated[
        str, typer.Option(metavar="NAME", help="What the person sees of an agent.")
    ] = "",
    jwt_secret_file: SecretFile = None,
    admin_port: AdminPort = None,
    json: Json = False,
) -> None:
    """Print a code to type into a browser, which exchanges it for a token: once, in 10 minutes."""
    from tabhub.cli.proxy.operating import pair

    pair(user_id, client, jwt_secret_file, admin_port, json)
