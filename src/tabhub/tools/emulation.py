"""A tab as if it were another device, elsewhere, seen by other eyes, or on a slower line.

It lasts through navigations until it is cleared, the tab closes or the agent goes.
"""

from typing import Any

from tabhub.calls.results import done
from tabhub.errors import InvalidArguments, Refused
from tabhub.tools.tool import BROWSER, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

ACCURACY = 10
MOST_PIXELS = 50_000_000
"""Of a device: a picture of more can end the browser."""
_KINDS = ("device", "geolocation", "media", "vision")
_STATES = {"granted": "granted", "denied": "denied"}
_FREE: Json = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
PRESETS: dict[str, Json] = {
    "offline": {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    "slow-3g": {"latency": 2000, "downloadThroughput": 50_000, "uploadThroughput": 50_000},
    "3g": {"latency": 560, "downloadThroughput": 180_000, "uploadThroughput": 84_000},
    "4g": {"latency": 165, "downloadThroughput": 1_000_000, "uploadThroughput": 170_000},
    "wifi": {"latency": 2, "downloadThroughput": 3_750_000, "uploadThroughput": 1_875_000},
}
_SPEEDS = ("latency", "downloadThroughput", "uploadThroughput")


async def _set(context: Context, told: str, **changes: Any) -> CallResult:
    output = await context.in_tab("page.emulate", {"set": changes})
    return done(told, {"tabId": context.tab.id, "emulated": output["emulated"]})


async def _device(context: Context) -> CallResult:
    usual: Json = {"deviceScaleFactor": 1, "mobile": False}
    device = {**usual, **context.arguments}
    if device["width"] * device["height"] * device["deviceScaleFactor"] ** 2 > MOST_PIXELS:
        raise InvalidArguments(
            "browser_emulate_device: width x height x deviceScaleFactor² is more than "
            f"{MOST_PIXELS // 1_000_000} million pixels. Nothing was changed."
        )
    told = f"Tab {context.tab.id} is {device['width']}x{device['height']} now."
    return await _set(context, told, device=device)


async def _geolocation(context: Context) -> CallResult:
    place: Json = {"accuracy": ACCURACY, **context.arguments}
    result = await _set(context, "", geolocation=place)
    assert isinstance(result.structured_content, dict)
    state = await _permission(context, "geolocation", "allow")
    told = f"Tab {context.tab.id} is at {place['latitude']}, {place['longitude']} now. "
    return done(told + _MEANING[state], {**result.structured_content, "permission": state})


_MEANING = {
    "granted": "The page may ask where it is.",
    "denied": "But the page is not allowed to know where it is.",
    "needs_person": "But the browser will ask the person before it tells the page.",
}


async def _permission(context: Context, name: str, setting: str) -> str:
    """Decide it beforehand, where that is possible; how it stands then."""
    output = await context.in_tab("page.permission", {"name": name, "setting": setting})
    return _STATES.get(output["state"], "needs_person")


async def _set_permission(context: Context) -> CallResult:
    given = context.arguments
    name, setting = given["permission"], given["setting"]
    if not context.browsers.is_managed(context.tab.browser):
        raise Refused(
            f"Whether this site may use {name} is the person's decision in their own browser: "
            "ask them to set it in the browser's site settings.",
            "needs_person",
        )
    state = await _permission(context, name, setting)
    told = {"tabId": context.tab.id, "permission": name, "state": state}
    return done(f"{name} on {context.call.site}: {state}.", told)


async def _media(context: Context) -> CallResult:
    features = context.arguments["features"]
    words = ", ".join(f"{one['name']}: {one['value']}" for one in features) or "nothing"
    return await _set(context, f"The page sees {words}.", media=features or None)


async def _vision(context: Context) -> CallResult:
    kind = context.arguments["type"]
    return await _set(context, f"Vision: {kind}.", vision=None if kind == "none" else kind)


async def _clear(context: Context) -> CallResult:
    told = f"Tab {context.tab.id} is as it was; a throttled line stays throttled."
    return await _set(context, told, **dict.fromkeys(_KINDS))


async def _throttle(context: Context) -> CallResult:
    given = context.arguments
    chosen = {name: given[name] for name in _SPEEDS if name in given}
    if not chosen and "preset" not in given:
        raise InvalidArguments("browser_throttle_network: give preset, latency or throughputs.")
    line = {**_FREE, **PRESETS.get(given.get("preset", ""), {}), **chosen}
    words = "offline" if line["offline"] else ", ".join(f"{name} {line[name]}" for name in _SPEEDS)
    return await _set(context, f"The line of tab {context.tab.id}: {words}.", network=line)


async def _free(context: Context) -> CallResult:
    return await _set(context, f"The line of tab {context.tab.id} is free again.", network=None)


_SIZE: Json = {"type": "integer", "minimum": 1, "maximum": 10_000}
_SPEED: Json = {"type": "number", "exclusiveMinimum": 0, "description": "Bytes a second."}

EMULATE_DEVICE = browser_tool(
    name="browser_emulate_device",
    title="Emulate device",
    description="Give the page the viewport, pixel ratio, touch and user agent of a device.",
    handler=_device,
    properties={
        "width": _SIZE,
        "height": _SIZE,
        "deviceScaleFactor": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 5,
            "description": "Default 1.",
        },
        "mobile": {"type": "boolean", "description": "With touch. Default false."},
        "userAgent": {"type": "string", "minLength": 1, "maxLength": 2000},
    },
    required=("width", "height"),
    idempotent=True,
    toolsets=BROWSER,
)

SET_GEOLOCATION = browser_tool(
    name="browser_set_geolocation",
    title="Set geolocation",
    description=(
        "Where the page believes to be. Tells whether it may know: granted, denied, or "
        "needs_person if the browser would ask."
    ),
    handler=_geolocation,
    properties={
        "latitude": {"type": "number", "minimum": -90, "maximum": 90},
        "longitude": {"type": "number", "minimum": -180, "maximum": 180},
        "accuracy": {
            "type": "number",
            "minimum": 0,
            "description": f"Meters. Default {ACCURACY}.",
        },
    },
    required=("latitude", "longitude"),
    idempotent=True,
    toolsets=BROWSER,
)

SET_PERMISSION = browser_tool(
    name="browser_set_permission",
    title="Set site permission",
    description=(
        "Decide beforehand what the browser would ask the person: whether the page's site may "
        "use something. Lasts while the tab lives; only in the agents' own browser."
    ),
    handler=_set_permission,
    properties={
        "permission": {"enum": ["geolocation", "notifications", "camera", "microphone"]},
        "setting": {"enum": ["allow", "block", "ask"]},
    },
    required=("permission", "setting"),
    idempotent=True,
    toolsets=BROWSER,
)

SET_MEDIA_FEATURES = browser_tool(
    name="browser_set_media_features",
    title="Set media features",
    description="CSS media features of the page, such as prefers-color-scheme: dark; [] for none.",
    handler=_media,
    properties={
        "features": {
            "type": "array",
            "maxItems": 50,
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "value": {"type": "string"}},
                "required": ["name", "value"],
                "additionalProperties": False,
            },
        }
    },
    required=("features",),
    idempotent=True,
    toolsets=BROWSER,
)

EMULATE_VISION_DEFICIENCY = browser_tool(
    name="browser_emulate_vision_deficiency",
    title="Emulate vision deficiency",
    description="Draw the page as someone with this deficiency sees it.",
    handler=_vision,
    properties={
        "type": {
            "enum": [
                "none",
                "blurredVision",
                "deuteranopia",
                "protanopia",
                "tritanopia",
                "achromatopsia",
            ]
        }
    },
    required=("type",),
    idempotent=True,
    toolsets=BROWSER,
)

CLEAR_EMULATION = browser_tool(
    name="browser_clear_emulation",
    title="Clear emulation",
    description="End the emulation of device, geolocation, media features and vision.",
    handler=_clear,
    idempotent=True,
    toolsets=BROWSER,
)

THROTTLE_NETWORK = browser_tool(
    name="browser_throttle_network",
    title="Throttle network",
    description="Slow the tab's network down, by a preset or by numbers, or take it offline.",
    handler=_throttle,
    properties={
        "preset": {"enum": list(PRESETS)},
        "latency": {"type": "number", "minimum": 0, "description": "Milliseconds."},
        "downloadThroughput": _SPEED,
        "uploadThroughput": _SPEED,
    },
    idempotent=True,
    toolsets=BROWSER,
)

CLEAR_NETWORK_THROTTLE = browser_tool(
    name="browser_clear_network_throttle",
    title="Clear throttling",
    description="Give the tab its network back.",
    handler=_free,
    idempotent=True,
    toolsets=BROWSER,
)

TOOLS = (
    EMULATE_DEVICE,
    SET_GEOLOCATION,
    SET_PERMISSION,
    SET_MEDIA_FEATURES,
    EMULATE_VISION_DEFICIENCY,
    CLEAR_EMULATION,
    THROTTLE_NETWORK,
    CLEAR_NETWORK_THROTTLE,
)
