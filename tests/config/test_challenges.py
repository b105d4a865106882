"""What opens the link without the secret: an answer to a word that was just proved, once."""

import pytest

from tabhub.config.secret import KEPT_CHALLENGES, KEPT_SECONDS, Challenges, pass_for, prove

SECRET, PORT = "5ec", 9515


def answer(word: str, secret: str = SECRET, port: int = PORT) -> str:
    return f"once.{word}.{pass_for(secret, word, port)}"


def test_an_answer_to_a_proved_word_counts_once() -> None:
    challenges = Challenges()
    assert not challenges.answers(answer("word"), SECRET, PORT)
    challenges.prove(SECRET, "word", PORT)
    assert challenges.answers(answer("word"), SECRET, PORT)
    assert not challenges.answers(answer("word"), SECRET, PORT)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "once",
        "once..",
        "once.word.",
        "once.word.é",
        f"once.word.{prove(SECRET, 'word', PORT)}",
        f"once.word.{prove(SECRET, 'link:word', PORT)}",
        f"once.word.{prove(SECRET, '-link:word', PORT)}",
        answer("word", secret="another"),
        answer("word", port=1),
        answer("another"),
        answer("word").replace("once", "ever"),
    ],
)
def test_nothing_else_does_and_the_word_is_not_lost_by_it(given: str) -> None:
    challenges = Challenges()
    challenges.prove(SECRET, "word", PORT)
    assert not challenges.answers(given, SECRET, PORT)
    assert challenges.answers(answer("word"), SECRET, PORT)


def test_a_word_waits_for_half_a_minute_and_only_so_many_do() -> None:
    now = 0.0
    challenges = Challenges(lambda: now)
    challenges.prove(SECRET, "old", PORT)
    now = KEPT_SECONDS + 1
    assert not challenges.answers(answer("old"), SECRET, PORT)
    for number in range(KEPT_CHALLENGES + 1):
        challenges.prove(SECRET, str(number), PORT)
    assert not challenges.answers(answer("0"), SECRET, PORT)
    assert challenges.answers(answer("1"), SECRET, PORT)
