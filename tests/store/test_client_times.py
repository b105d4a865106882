"""When clients were seen last."""

from pathlib import Path

from tabhub.store.client_times import ClientTimes
from tabhub.store.store import Store


def test_a_time_is_written_once_a_minute_and_outlives_the_server(tmp_path: Path) -> None:
    now = 1000.0
    store = Store(tmp_path / "db")
    times = ClientTimes(store, lambda: now)
    assert times.last("ann") is None
    times.seen("ann")
    now = 1030.0
    times.seen("ann")
    assert times.last("ann") == 1030
    assert ClientTimes(store).last("ann") == 1000, "not written again yet"
    now = 1061.0
    times.seen("ann")
    assert ClientTimes(store).last("ann") == 1061
    times.forget("ann")
    assert times.last("ann") is None and ClientTimes(store).last("ann") is None
    store.close()


def test_a_client_is_new_once_for_each_server(tmp_path: Path) -> None:
    store, heard = Store(None), []
    for server in (1, 2):
        times = ClientTimes(store, lambda: 5000.0)
        times.on_new(lambda server=server: heard.append(server))  # type: ignore[misc]
        times.seen("ann")
        times.seen("ann")
    assert heard == [1, 2]


def test_an_unreadable_time_is_dropped() -> None:
    store = Store(None)
    store.collection("clients_seen").put("ann", b"soon")
    assert ClientTimes(store).last("ann") is None
