"""Emulation in a tab: device, geolocation, site permissions, media features, vision, network.

It lasts across navigations until it is cleared, the tab closes or the session ends.
"""

from typing import Any

from tabhub.calls.results import done
from tabhub.errors import InvalidArguments, Refused
from tabhub.tools.tool import BROWSER, Context, Json, browser_tool
from tabhub.wire.mcp.messages import CallResult

ACCURACY_METERS = 10
MAX_PIXELS = 50_000_000
"""Of a device: a larger screenshot can crash the browser."""
PRESETS: dict[str, Json] = {
    "offline": {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    "slow-3g": {"latency": 2000, "downloadThroughput": 50_000, "uploadThroughput": 50_000},
    "3g": {"latency": 560, "downloadThroughput": 180_000, "uploadThroughput": 84_000},
    "4g": {"latency": 165, "downloadThroughput": 1_000_000, "uploadThroughput": 170_000},
    "wifi": {"latency": 2, "downloadThroughput": 3_750_000, "uploadThroughput": 1_875_000},
}
_UNTHROTTLED: Json = {
    "offline": False,
    "latency": 0,
    "downloadThroughput": -1,
    "uploadThroughput": -1,
}
_SPEEDS = ("latency", "downloadThroughput", "uploadThroughput")
_KINDS = ("device", "geolocation", "media", "vision")
_STATES = {"granted": "granted", "denied": "denied"}
_LOCATION_NOTES = {
    "granted": "The page may read its location.",
    "denied": "But the page is not allowed to read its location.",
    "needs_person": "But the browser will ask the person before the page may read it.",
}


async def _set(context: Context, sentence: str, **changes: Any) -> CallResult:
    output = await context.in_tab("page.emulate", {"set": changes})
    return done(sentence, {"tabId": context.tab.id, "emulated": output["emulated"]})


async def _emulate_device(context: Context) -> CallResult:
    device: Json = {"deviceScaleFactor": 1, "mobile": False, **context.arguments}
    if device["width"] * device["height"] * device["deviceScaleFactor"] ** 2 > MAX_PIXELS:
        raise InvalidArguments(
            "browser_emulate_device: width x height x deviceScaleFactor² is more than "
            f"{MAX_PIXELS // 1_000_000} million pixels. Nothing was changed."
        )
    sentence = f"Tab {context.tab.id} is {device['width']}x{device['height']} now."
    return await _set(context, sentence, device=device)


async def _set_geolocation(context: Context) -> CallResult:
    place: Json = {"accuracy": ACCURACY_METERS, **context.arguments}
    output = await context.in_tab("page.emulate", {"set": {"geolocation": place}})
    state = await _decide_permission(context, "geolocation", "allow")
    sentence = f"Tab {context.tab.id} is at {place['latitude']}, {place['longitude']} now."
    data = {"tabId": context.tab.id, "emulated": output["emulated"], "permission": state}
    return done(f"{sentence} {_LOCATION_NOTES[state]}", data)


async def _set_permission(context: Context) -> CallResult:
    name, setting = context.arguments["permission"], context.arguments["setting"]
    if not context.browsers.is_managed(context.tab.browser):
        raise Refused(
            f"Whether this site may use {name} is the person's decision in their own browser: "
            "ask them to set it in the browser's site settings.",
            "needs_person",
        )
    state = await _decide_permission(context, name, setting)
    data = {"tabId": context.tab.id, "permission": name, "state": state}
    return done(f"{name} on {context.call.site}: {state}.", data)


async def _decide_permission(context: Context, name: str, setting: str) -> str:
    """Set a site permission where that is possible; returns its state then."""
    output = await context.in_tab("page.permission", {"name": name, "setting": setting})
    return _STATES.get(output["state"], "needs_person")


async def _set_media_features(context: Context) -> CallResult:
    features = context.arguments["features"]
    pairs = [f"{feature['name']}: {feature['value']}" for feature in features]
    sentence = f"The page sees {', '.join(pairs) or 'no emulated media features'}."
    return await _set(context, sentence, media=features or None)


async def _emulate_vision(context: Context) -> CallResult:
    kind = context.arguments["type"]
    return await _set(context, f"Vision: {kind}.", vision=None if kind == "none" else kind)


async def _clear_emulation(context: Context) -> CallResult:
    sentence = f"Cleared the emulation in tab {context.tab.id}; network throttling stays."
    return await _set(context, sentence, **dict.fromkeys(_KINDS))


async def _throttle_network(context: Context) -> CallResult:
    arguments = context.arguments
    chosen = {name: arguments[name] for name in _SPEEDS if name in arguments}
    if not chosen and "preset" not in arguments:
        raise InvalidArguments("browser_throttle_network: give preset, latency or throughputs.")
    network = {**_UNTHROTTLED, **PRESETS.get(arguments.get("preset", ""), {}), **chosen}
    speeds = ", ".join(f"{name} {network[name]}" for name in _SPEEDS)
    state = "offline" if network["offline"] else speeds
    return await _set(context, f"Network of tab {context.tab.id}: {state}.", network=network)


async def _clear_throttle(context: Context) -> CallResult:
    sentence = f"The network of tab {context.tab.id} is no longer throttled."
    return await _set(context, sentence, network=None)


_SIZE: Json = {"type": "integer", "minimum": 1, "maximum": 10_000}
_SPEED: Json = {"type": "number", "exclusiveMinimum": 0, "description": "Bytes a second."}

EMULATE_DEVICE = browser_tool(
    name="browser_emulate_device",
    title="Emulate device",
    description="Give the page the viewport, pixel ratio, touch and user agent of a device.",
    handler=_emulate_device,
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
        "Set the page's location. Returns whether it may read it: granted, denied, or "
        "needs_person if the browser would ask."
    ),
    handler=_set_geolocation,
    properties={
        "latitude": {"type": "number", "minimum": -90, "maximum": 90},
        "longitude": {"type": "number", "minimum": -180, "maximum": 180},
        "accuracy": {
            "type": "number",
            "minimum": 0,
            "description": f"Meters. Default {ACCURACY_METERS}.",
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
        "Decide in advance what the browser would ask the person: whether the page's site may "
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
    handler=_set_media_features,
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
    handler=_emulate_vision,
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
    handler=_clear_emulation,
    idempotent=True,
    toolsets=BROWSER,
)

THROTTLE_NETWORK = browser_tool(
    name="browser_throttle_network",
    title="Throttle network",
    description="Slow the tab's network down, by a preset or by numbers, or take it offline.",
    handler=_throttle_network,
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
    description="End the throttling of the tab's network.",
    handler=_clear_throttle,
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
