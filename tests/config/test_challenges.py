"""Challenges: the answer to a recent challenge opens the link once without the secret."""

import pytest

from tabhub.config.secret import KEPT_CHALLENGES, KEPT_SECONDS, Challenges, pass_for, prove

SECRET, PORT = "5ec", 9515


def answer(word: str, secret: str = SECRET, port: int = PORT) -> str:
    return f"once.{word}.{pass_for(secret, word, port)}"


def test_the_answer_to_a_challenge_counts_once() -> None:
    challenges = Challenges()
    assert not challenges.answers(answer("word"), SECRET, PORT)
    challenges.prove(SECRET, "word", PORT)
    assert challenges.answers(answer("word"), SECRET, PORT)
    assert not challenges.answers(answer("word"), SECRET, PORT)


@pytest.mark.parametrize(
    "wrong",
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
def test_a_wrong_answer_is_refused_and_the_challenge_stays_valid(wrong: str) -> None:
    challenges = Challenges()
    challenges.prove(SECRET, "word", PORT)
    assert not challenges.answers(wrong, SECRET, PORT)
    assert challenges.answers(answer("word"), SECRET, PORT)


def test_challenges_expire_after_half_a_minute_and_their_number_is_limited() -> None:
    now = 0.0
    challenges = Challenges(lambda: now)
    challenges.prove(SECRET, "old", PORT)
    now = KEPT_SECONDS + 1
    assert not challenges.answers(answer("old"), SECRET, PORT)
    for number in range(KEPT_CHALLENGES + 1):
        challenges.prove(SECRET, str(number), PORT)
    assert not challenges.answers(answer("0"), SECRET, PORT)
    assert challenges.answers(answer("1"), SECRET, PORT)
