"""Permission levels and their names."""

import pytest

from tabhub.permissions.verdict import Level


def test_the_stricter_level_is_the_smaller_one() -> None:
    assert min(Level.AUTO, Level.OFF, Level.ASK) is Level.OFF
    assert min(Level.AUTO, Level.ASK) is Level.ASK


@pytest.mark.parametrize("word", ["off", "ask", "auto"])
def test_every_level_is_found_by_its_name(word: str) -> None:
    assert Level.of(word).word == word


@pytest.mark.parametrize("word", ["", "OFF", "on", "deny"])
def test_an_unknown_level_is_refused_with_the_valid_names(word: str) -> None:
    with pytest.raises(ValueError, match="off, ask and auto"):
        Level.of(word)
