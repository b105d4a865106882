"""The person ends debugging in a tab."""

from tests.support.browsers.cdp import Cdp


async def press_cancel(cdp: Cdp, tab: int) -> None:
    """There is no bar in a headless browser: the worker hears what it would hear of it."""
    press = f"""chrome.debugger.detach({{tabId: {tab}}}).catch(() => {{}}).then(() =>
      chrome.debugger.onDetach.dispatch({{tabId: {tab}}}, "canceled_by_user"))"""
    await cdp.in_worker(press)
