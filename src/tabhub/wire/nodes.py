"""What carries the messages of nodes: parts of a stream, beats, and the talk in a room."""

from msgspec import Struct, msgpack

from tabhub.wire.proxy import Members, NodeMessage, NodePresence


class StreamPart(Struct, frozen=True, array_like=True, tag="part"):
    """A message of a connection to another node, or a piece of a large one."""

    sender: str
    generation: int
    """How often the two nodes have given each other up."""
    number: int
    connection: str
    """Empty for a greeting, which asks the other to tell what it has in each room."""
    is_first: bool
    is_last: bool
    """Of its message. A message that was given up may lack its last part."""
    body: bytes


class StreamAck(Struct, frozen=True, array_like=True, tag="ack"):
    """Every part up to this number has arrived."""

    sender: str
    generation: int
    number: int


class NodeBeat(Struct, frozen=True, array_like=True, tag="beat"):
    """A node is alive."""

    node: str
    number: int
    is_back: bool = False
    """Whether it was cut off for a moment, and may have missed something."""
    is_leaving: bool = False


class RoomQuestion(Struct, frozen=True, array_like=True, tag="question"):
    """A node wants to know who is in a room; answered with Members."""

    node: str


class RoomNews(Struct, frozen=True, array_like=True, tag="news"):
    presence: NodePresence


encode = msgpack.Encoder().encode
read_message = msgpack.Decoder(NodeMessage).decode
read_stream = msgpack.Decoder(StreamPart | StreamAck).decode
read_room = msgpack.Decoder(RoomQuestion | RoomNews).decode
read_members = msgpack.Decoder(Members).decode
read_beat = msgpack.Decoder(NodeBeat).decode
"""All raise ValueError."""
