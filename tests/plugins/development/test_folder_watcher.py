"""Which changes of folders are reported, and when."""

from pathlib import Path

from tabhub.plugins.development.folder_watcher import FolderWatcher


def test_a_change_is_reported_once_it_is_complete() -> None:
    changes: list[int] = []
    one, two = Path("/one"), Path("/two")
    watcher = FolderWatcher(dict, lambda: changes.append(1))
    for stamps in ({}, {one: 1}, {one: 2}):
        watcher.take(stamps)
    assert (changes, watcher.summary()["pendingPlugins"]) == ([], 1)
    watcher.take({one: 2, two: 1})
    assert (len(changes), watcher.summary()["pendingPlugins"]) == (1, 1)
    watcher.take({one: 2, two: 1})
    watcher.take({one: 2, two: 1})
    assert len(changes) == 2
    for _ in range(2):
        watcher.take({one: 2})
    found = watcher.summary()
    assert (len(changes), found["watchedPlugins"], found["pollDetections"]) == (3, 1, 3)


def test_a_folder_that_changes_all_the_time_does_not_delay_the_others() -> None:
    changes: list[int] = []
    watcher = FolderWatcher(dict, lambda: changes.append(1))
    for number in range(4):
        watcher.take({Path("/busy"): number, Path("/calm"): 1})
    assert (len(changes), watcher.summary()["pendingPlugins"]) == (1, 1)
