"""Pages of a known size, built by a script so that their URL stays short."""

from urllib.parse import quote

from tests.support.site import Site

_LIST = """<title>List</title><ul id=l></ul><script>
l.innerHTML = Array.from({length: 500}, (_, i) => `<li>%s</li>`).join("")
</script>"""
_LARGE = """<title>Large</title><button id=go>Go</button><main id=m></main><script>
m.innerHTML = Array.from({length: 1000}, (_, i) =>
  `<div><h3>Row ${i}</h3><span>text ${i}</span><a href="#${i}">link</a><button>Do</button></div>`
).join("")
</script>"""
_SCRIPTED = """<title>Scripted</title><button id=go>Go</button><p id=state></p><main id=m></main>
<script>
const rows = Array.from({length: 200}, (_, number) => {
  const row = document.createElement("div");
  row.innerHTML = `<h3>Row ${number}</h3><input value=${number}><a href=#>link</a>`;
  row.addEventListener("click", () => (state.textContent = number));
  return row;
});
addEventListener("load", () => m.append(...rows));
go.addEventListener("click", () => (state.textContent = "Done"));
</script>"""


def item_page(site: Site) -> str:
    """500 items of plain text."""
    return _address(site, _LIST % "Item ${i}")


def link_page(site: Site) -> str:
    """500 items, each a link."""
    return _address(site, _LIST % '<a href="#${i}">Item ${i}</a>')


def large_page(site: Site) -> str:
    """5,000 elements in 1,000 rows, and a button before them."""
    return _address(site, _LARGE)


def scripted_page(site: Site, number: int) -> str:
    """A page that its script draws when it has loaded; each number is another address."""
    return f"{_address(site, _SCRIPTED)}&number={number}"


def _address(site: Site, body: str) -> str:
    return f"{site.url}/html?body={quote(body)}"
