"""The suites' tools that ask the client, by server requests or, in the other era, `input_required`.

Each tool is written once; the layer below turns its questions into the style of the era.
"""

from typing import Any

from tabhub.agents.mcp.backend import Exchange
from tabhub.agents.mcp.elicitation import ClientQuestion, elicit
from tabhub.wire.mcp.messages import CallResult, Json
from tests.conformance.tools import Call, result_of, tool

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


async def ask_one(exchange: Exchange, key: str, ask: ClientQuestion, state: Any = None) -> Any:
    return (await exchange.ask({key: ask}, state))[key]


# -- asked in the handshake era ----------------------------------------------------------------


@tool("test_sampling", "Asks the client's model.", form(prompt=STRING))
async def sampling(call: Call) -> CallResult:
    answer = await ask_one(call.exchange, "answer", sample(call.arguments["prompt"]))
    return result_of(f"LLM response: {answer.get('content')}")


@tool("test_elicitation", "Asks the person.", form(message=STRING))
async def elicitation(call: Call) -> CallResult:
    schema = form(
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    answer = await ask_one(call.exchange, "user", elicit(call.arguments["message"], schema))
    return result_of(f"User response: {answer}")


@tool("test_elicitation_sep1034_defaults", "Asks with a default for every type.")
async def elicitation_defaults(call: Call) -> CallResult:
    status = {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}
    schema = form(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status=status,
        verified={"type": "boolean", "default": True},
    )
    return _completed(await ask_one(call.exchange, "user", elicit("Check the defaults.", schema)))


@tool("test_elicitation_sep1330_enums", "Asks with every way of writing a choice.")
async def elicitation_enums(call: Call) -> CallResult:
    options = ["option1", "option2", "option3"]
    schema = form(
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
    return _completed(await ask_one(call.exchange, "user", elicit("Choose.", schema)))


def _titled(what: str) -> list[Json]:
    ordinals = ("First", "Second", "Third")
    return [{"const": f"value{i}", "title": f"{o} {what}"} for i, o in enumerate(ordinals, 1)]


def _completed(answer: Json) -> CallResult:
    action, content = answer.get("action"), answer.get("content")
    return result_of(f"Elicitation completed: action={action}, content={content}")


# -- asked in the sessionless era --------------------------------------------------------------


@tool("test_input_required_result_elicitation", "Asks for a name.")
async def needs_name(call: Call) -> CallResult:
    answer = await ask_one(call.exchange, "user_name", NAME)
    return result_of(f"Hello, {answer.get('content', {}).get('name')}!")


@tool("test_input_required_result_sampling", "Asks the model for a capital.")
async def needs_sampling(call: Call) -> CallResult:
    ask = sample("What is the capital of France?")
    answer = await ask_one(call.exchange, "capital_question", ask)
    return result_of(f"The model says: {answer.get('content')}")


@tool("test_input_required_result_list_roots", "Asks for the client's roots.")
async def needs_roots(call: Call) -> CallResult:
    answer = await ask_one(call.exchange, "client_roots", ROOTS)
    return result_of(f"Roots: {answer.get('roots')}")


@tool("test_input_required_result_request_state", "Finds its state again.")
async def needs_state(call: Call) -> CallResult:
    ask = elicit("Go on?", form(ok={"type": "boolean"}))
    await ask_one(call.exchange, "confirm", ask, state="kept")
    return result_of("state-ok" if call.exchange.state == "kept" else "state lost")


@tool("test_input_required_result_multiple_inputs", "Asks three things at once.")
async def needs_three(call: Call) -> CallResult:
    asks = {"user_name": NAME, "greeting": sample("Greet me.", 50), "client_roots": ROOTS}
    answers = await call.exchange.ask(asks, state="three")
    return result_of(f"Got {', '.join(answers)}.")


@tool("test_input_required_result_multi_round", "Asks twice, one after the other.")
async def needs_two_rounds(call: Call) -> CallResult:
    name = call.exchange.state
    if name is None or name == UNNAMED:
        name = await ask_one(call.exchange, "step1", NAME, state=UNNAMED)
    ask = elicit("Which color do you like?", form(color=STRING))
    color = await ask_one(call.exchange, "step2", ask, state=name)
    return result_of(f"{name} likes {color}.")


@tool("test_input_required_result_tampered_state", "Notices a state that was altered.")
async def needs_integrity(call: Call) -> CallResult:
    ask = elicit("Go on?", form(ok={"type": "boolean"}))
    await ask_one(call.exchange, "confirm", ask, state="sealed")
    return result_of("The state is intact.")


@tool("test_input_required_result_capabilities", "Asks only what the client can answer.")
async def needs_what_there_is(call: Call) -> CallResult:
    can = call.exchange.capabilities
    asks = {
        kind: ask
        for kind, ask in (("sampling", sample("Hello?")), ("elicitation", NAME))
        if kind in can
    }
    return result_of(f"Got {', '.join(await call.exchange.ask(asks))}.")
