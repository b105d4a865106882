"""What the applications hold at the start, except Django's library (`seeds/`)."""

from dataclasses import dataclass
from typing import Any

EXPERIMENT = "credit-risk"
TRAINING = {"key": "mlflow.experimentKind", "value": "custom_model_development"}
"""The kind of experiment whose page begins with its runs."""
STARTED = 1_760_000_000_000
"""When the first run began, in ms."""
RUNS = 40
BEST = 23
"""The number of the run with the highest `auc`."""
NODE_RED_SETTINGS: dict[str, Any] = {
    "flowFile": "flows.json",
    "credentialSecret": "only for the tasks",
    "telemetry": {"enabled": False, "updateNotification": False},
    "editorTheme": {"tours": False},
    "logging": {"console": {"level": "warn"}},
}
SALES = [112, 98, 143, 87, 160]


@dataclass(frozen=True)
class Run:
    """A training run, as MLflow shows it."""

    number: int
    name: str
    status: str
    metrics: dict[str, float]
    parameters: dict[str, str]


def runs() -> list[Run]:
    return [_run(number) for number in range(RUNS)]


def _run(number: int) -> Run:
    auc = 0.947 if number == BEST else 0.70 + (number * 37 % 101) / 500
    return Run(
        number,
        f"trial-{number:02}",
        "FAILED" if number % 9 == 4 else "FINISHED",
        {"auc": round(auc, 4), "loss": round(1.2 - auc, 4)},
        {"depth": str(2 + number % 7), "rate": f"{0.01 * (1 + number % 5):.2f}"},
    )


def notebooks() -> dict[str, dict[str, Any]]:
    return {
        "sales.ipynb": _notebook(f"sales = {SALES}", "print('days:', len(sales))"),
        "draft.ipynb": _notebook("title = 'Quarterly report'"),
        **{f"notes-{number}.ipynb": _notebook(f"note = {number}") for number in range(1, 7)},
    }


def _notebook(*cells: str) -> dict[str, Any]:
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
        "cells": [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "source": source,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for number, source in enumerate(cells)
        ],
    }


def flows() -> list[dict[str, Any]]:
    """A flow that measures a temperature, and one that answers requests."""
    store = "global.set('reading', msg.payload); return msg;"
    measure = "msg.payload = Math.round(Math.random() * 1e6) / 1e4; " + store
    return [
        {"id": "greenhouse", "type": "tab", "label": "Greenhouse"},
        _node("press", "inject", "greenhouse", 120, 80, "Measure now", ["sensor"], **_ONCE),
        _node("sensor", "function", "greenhouse", 320, 80, "Sensor", ["log"], func=measure),
        _node("log", "debug", "greenhouse", 520, 80, "Reading", [], **_SHOWN),
        {"id": "service", "type": "tab", "label": "Service"},
        _node("hello", "http in", "service", 120, 80, "Greeting", ["fill"], **_GET),
        _node("fill", "template", "service", 320, 80, "Text", ["out"], **_TEXT),
        _node("out", "http response", "service", 520, 80, "Answer", [], statusCode=""),
    ]


_ONCE = {"props": [{"p": "payload"}], "repeat": "", "once": False, "payloadType": "date"}
_SHOWN = {"active": True, "tosidebar": True, "complete": "payload", "targetType": "msg"}
_GET = {"url": "/greeting", "method": "get"}
_TEXT = {"field": "payload", "fieldType": "msg", "template": "Hello", "output": "str"}


def _node(
    id: str, type: str, flow: str, x: int, y: int, name: str, wires: list[str], **more: Any
) -> dict[str, Any]:
    place = {"id": id, "type": type, "z": flow, "x": x, "y": y, "name": name}
    return {**place, "wires": [wires] if wires else [], **more}
