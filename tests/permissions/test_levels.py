"""Levels and their words."""

import pytest

from tabhub.permissions.verdict import Level


def test_the_stricter_level_is_the_smaller_one() -> None:
    assert min(Level.AUTO, Level.OFF, Level.ASK) is Level.OFF
    assert min(Level.AUTO, Level.ASK) is Level.ASK


@pytest.mark.parametrize("word", ["off", "ask", "auto"])
def test_every_level_is_found_by_its_word(word: str) -> None:
    assert Level.of(word).word == word


@pytest.mark.parametrize("word", ["", "OFF", "on", "deny"])
def test_another_word_is_refused_by_naming_the_right_ones(word: str) -> None:
    with pytest.raises(ValueError, match="off, ask and auto"):
        Level.of(word)
