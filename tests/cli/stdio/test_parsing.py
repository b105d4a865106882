"""Lines, events and headers are parsed correctly from pieces of any size."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tabhub.agents.mcp.streams import EventStream, message_frame
from tabhub.cli.stdio.http_client import ServerSentEvent, events
from tabhub.cli.stdio.pipes import KEPT, Splitter, TooLong
from tabhub.wire.mcp.headers import decode_value, encode_value

LONGEST = 20
pieces = st.lists(st.integers(0, 60), max_size=12)
words = st.text(
    st.characters(codec="utf-8", exclude_characters="\n\r\x85\u2028\u2029"), max_size=30
)


def _cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


@given(st.lists(words, max_size=6), pieces, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_lines_do_not_depend_on_how_they_arrive(
    lines: list[str], cuts: list[int], line: str, is_ended: bool
) -> None:
    data = line.join([*lines, *([""] if is_ended else [])]).encode()
    splitter = Splitter(LONGEST)
    split = [item for piece in _cut(data, cuts) for item in splitter.feed(piece)]
    split += splitter.finish()
    whole = [item for item in data.split(b"\n") if item.strip(b" \t\r") or len(item) > LONGEST]
    assert [isinstance(item, TooLong) for item in split] == [len(item) > LONGEST for item in whole]
    for read, expected in zip(split, whole, strict=True):
        assert isinstance(read, TooLong) or read == expected.strip(b" \t\r")
        assert len(read) <= KEPT * LONGEST


async def _collected(chunks: list[bytes]) -> list[ServerSentEvent]:
    async def coming() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    return [event async for event in events(coming())]


@given(st.lists(words.map(str.encode), max_size=5), pieces)
def test_events_do_not_depend_on_how_they_arrive(data: list[bytes], cuts: list[int]) -> None:
    stream = EventStream(3)
    frames = b"".join([stream.append(b"", 500), b": ping\n\n", *map(stream.append, data)])
    text = frames + message_frame(b"last") + b"data: cut o"
    parsed = asyncio.run(_collected(_cut(text, cuts)))
    expected = [ServerSentEvent(body, f"3_{number}") for number, body in enumerate(data, 2)]
    assert parsed == [ServerSentEvent(b"", "3_1", 500), *expected, ServerSentEvent(b"last")]


@given(st.text(st.characters(codec="utf-8")) | st.just("=?base64?eA==?="))
def test_a_header_decodes_to_its_value(value: str) -> None:
    written = encode_value(value)
    assert written.isascii() and b"\n" not in written and b"\r" not in written
    assert decode_value(written.decode()) == value
