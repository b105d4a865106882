"""The suites' tools that ask back: as server requests in one era, as `input_required` in the other.

Each tool is written once; the layer below turns its questions into the style of the era.
"""

from typing import Any

from tabhub.agents.mcp.backend import Exchange
from tabhub.agents.mcp.elicitation import ClientQuestion, elicit
from tabhub.wire.mcp.messages import CallResult, Json
from tests.conformance.tools import Call, said, tool

STRING: Json = {"type": "string"}
ROOTS = ClientQuestion("roots/list")
UNNAMED = "unnamed"


def form(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def sample(prompt: str, max_tokens: int = 100) -> ClientQuestion:
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    return ClientQuestion(
        "sampling/createMessage", {"messages": [message], "maxTokens": max_tokens}
    )


CONTEXT = elicit("What is this about?", form(context=STRING))
NAME = elicit("What is your name?", form(name=STRING))


async def one(exchange: Exchange, key: str, ask: ClientQuestion, state: Any = None) -> Any:
    return (await exchange.ask({key: ask}, state))[key]


# -- asked in the handshake era ----------------------------------------------------------------


@tool("test_sampling", "Asks the client's model.", form(prompt=STRING))
async def sampling(call: Call) -> CallResult:
    answer = await one(call.exchange, "answer", sample(call.arguments["prompt"]))
    return said(f"LLM response: {answer.get('content')}")


@tool("test_elicitation", "Asks the person.", form(message=STRING))
async def elicitation(call: Call) -> CallResult:
    wanted = form(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    answer = await one(call.exchange, "user", elicit(call.arguments["message"], wanted))
    return said(f"User response: {answer}")


@tool("test_elicitation_sep1034_defaults", "Asks with a default for every type.")
async def elicitation_defaults(call: Call) -> CallResult:
    status = {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}
    wanted = form(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status=status,
        verified={"type": "boolean", "default": True},
    )
    return _completed(await one(call.exchange, "user", elicit("Check the defaults.", wanted)))


@tool("test_elicitation_sep1330_enums", "Asks with every way of writing a choice.")
async def elicitation_enums(call: Call) -> CallResult:
    options = ["option1", "option2", "option3"]
    wanted = form(
        untitledSingle={"type": "string", "enum": options},
        titledSingle={"type": "string", "oneOf": _titled("Option")},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": options}},
        titledMulti={"type": "array", "items": {"anyOf": _titled("Choice")}},
    )
    return _completed(await one(call.exchange, "user", elicit("Choose.", wanted)))


def _titled(what: str) -> list[Json]:
    ordinals = ("First", "Second", "Third")
    return [{"const": f"value{i}", "title": f"{o} {what}"} for i, o in enumerate(ordinals, 1)]


def _completed(answer: Json) -> CallResult:
    action, content = answer.get("action"), answer.get("content")
    return said(f"Elicitation completed: action={action}, content={content}")


# -- asked in the sessionless era --------------------------------------------------------------


@tool("test_input_required_result_elicitation", "Asks for a name.")
async def needs_name(call: Call) -> CallResult:
    answer = await one(call.exchange, "user_name", NAME)
    return said(f"Hello, {answer.get('content', {}).get('name')}!")


@tool("test_input_required_result_sampling", "Asks the model for a capital.")
async def needs_sampling(call: Call) -> CallResult:
    ask = sample("What is the capital of France?")
    answer = await one(call.exchange, "capital_question", ask)
    return said(f"The model says: {answer.get('content')}")


@tool("test_input_required_result_list_roots", "Asks for the client's roots.")
async def needs_roots(call: Call) -> CallResult:
    answer = await one(call.exchange, "client_roots", ROOTS)
    return said(f"Roots: {answer.get('roots')}")


@tool("test_input_required_result_request_state", "Finds its state again.")
async def needs_state(call: Call) -> CallResult:
    ask = elicit("Go on?", form(ok={"type": "boolean"}))
    await one(call.exchange, "confirm", ask, state="kept")
    return said("state-ok" if call.exchange.state == "kept" else "state lost")


@tool("test_input_required_result_multiple_inputs", "Asks three things at once.")
async def needs_three(call: Call) -> CallResult:
    asks = {"user_name": NAME, "greeting": sample("Greet me.", 50), "client_roots": ROOTS}
    answers = await call.exchange.ask(asks, state="three")
    return said(f"Got {', '.join(answers)}.")


@tool("test_input_required_result_multi_round", "Asks twice, one after the other.")
async def needs_two_rounds(call: Call) -> CallResult:
    name = call.exchange.state
    if name is None or name == UNNAMED:
        name = await one(call.exchange, "step1", NAME, state=UNNAMED)
    ask = elicit("Which color do you like?", form(color=STRING))
    color = await one(call.exchange, "step2", ask, state=name)
    return said(f"{name} likes {color}.")


@tool("test_input_required_result_tampered_state", "Notices a state that was altered.")
async def needs_integrity(call: Call) -> CallResult:
    ask = elicit("Go on?", form(ok={"type": "boolean"}))
    await one(call.exchange, "confirm", ask, state="sealed")
    return said("The state is intact.")


@tool("test_input_required_result_capabilities", "Asks only what the client can answer.")
async def needs_what_there_is(call: Call) -> CallResult:
    can = call.exchange.capabilities
    asks = {
        kind: ask
        for kind, ask in (("sampling", sample("Hello?")), ("elicitation", NAME))
        if kind in can
    }
    return said(f"Got {', '.join(await call.exchange.ask(asks))}.")
