"""The person ends debugging in a tab."""

from tests.support.browsers.cdp import Cdp


async def press_cancel(cdp: Cdp, tab: int) -> None:
    """Send the worker the event of the cancel bar, which a headless browser lacks."""
    press = f"""chrome.debugger.detach({{tabId: {tab}}}).catch(() => {{}}).then(() =>
      chrome.debugger.onDetach.dispatch({{tabId: {tab}}}, "canceled_by_user"))"""
    await cdp.in_worker(press)
