"""What operators copy: the unit for systemd and the example for Kubernetes fit what we serve."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import typer.main
import yaml

from tabhub.cli.commands import app
from tests.proxy.served import served

EXAMPLES = Path(__file__).parents[2] / "examples" / "proxy"
UNIT = EXAMPLES / "tabhub-proxy.service"
CLUSTER = EXAMPLES / "kubernetes.yaml"


def serve_flags() -> set[str]:
    groups: Any = typer.main.get_command(app)
    command = groups.commands["proxy"].commands["serve"]
    return {flag for parameter in command.params for flag in parameter.opts}


def flags_in(text: str) -> set[str]:
    return set(re.findall(r"(?<=\s)--[a-z-]+", text))


def objects() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(CLUSTER.read_text()))


def container() -> dict[str, Any]:
    found: dict[str, Any] = objects()[0]["spec"]["template"]["spec"]["containers"][0]
    return found


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    # The program of the example is not installed here, which systemd would complain about.
    text = UNIT.read_text().replace("/opt/tabhub/bin/tabhub", shutil.which("true") or "/bin/true")
    unit = tmp_path / UNIT.name
    unit.write_text(text)
    verify = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
    checked = subprocess.run(verify, capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_unit_uses_flags_that_there_are_and_waits_longer_than_the_drain() -> None:
    text = UNIT.read_text()
    command = text.split("ExecStart=")[1].split("\nEnvironment")[0]
    assert flags_in(command) <= serve_flags()
    (drain,) = re.findall(r"--drain-seconds (\d+)", command)
    (limit,) = re.findall(r"^TimeoutStopSec=(\d+)", text, re.MULTILINE)
    assert int(limit) > int(drain)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_kubernetes_takes_the_objects_of_the_example(number: int) -> None:
    version = kubernetes_validate.latest_version()
    assert kubernetes_validate.validate(objects()[number], version, strict=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_check_of_the_example_sees_a_slip() -> None:
    wrong = objects()[0]
    wrong["spec"]["replica"] = wrong["spec"].pop("replicas")
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


async def test_the_example_uses_flags_ports_and_paths_that_there_are() -> None:
    given = dict(argument.split("=") for argument in container()["args"])
    assert given.keys() <= serve_flags()
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    assert ports == {"public": int(given["--port"]), "admin": int(given["--admin-port"])}
    async with served() as proxy, proxy.http() as http:
        for kind in ("readiness", "liveness"):
            path = container()[f"{kind}Probe"]["httpGet"]["path"]
            assert (await http.get(f"{proxy.admin}{path}")).status_code == 200
    mounted = tuple(mount["mountPath"] for mount in container()["volumeMounts"])
    files = [value for value in given.values() if value.startswith("/")]
    assert all(file.startswith(mounted) for file in files)


def test_a_pod_may_take_longer_than_its_drain_and_its_pause() -> None:
    pod = objects()[0]["spec"]["template"]["spec"]
    given = dict(argument.split("=") for argument in container()["args"])
    pause = int(container()["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > pause + int(given["--drain-seconds"])


def test_selectors_of_the_example_mean_the_pods_of_the_example() -> None:
    deployment, service, budget, policy = (one["spec"] for one in objects())
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == labels
    assert service["selector"] == labels
    assert budget["selector"]["matchLabels"] == labels
    assert policy["podSelector"]["matchLabels"] == labels
