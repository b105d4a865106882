"""A page with a frame of its own site that offers a tool."""

from tests.support.browsers.plain import PlainBrowser

INNER = """import("/pagekit/pagekit.js").then(({ WorkerClient }) => {
  window.client = new WorkerClient({ url: %r });
  return client.registerTool(%r, "Says where it is.", null, () => location.pathname);
})"""
FRAMED = """
if (window === top) addEventListener(%r, () => {
  const frame = document.createElement("iframe");
  frame.src = "/shop.css";
  document.body.prepend(frame);
}); else """


def framed(here: PlainBrowser, moment: str) -> str:
    """A script that adds a frame with a tool before the page's own scripts run."""
    return FRAMED % moment + INNER % (here.hub, "inner")
