/** The demo shop as a page: what it shows, and what it does when somebody clicks. */

import { Cart, find } from "./goods.js";
import { offerTools } from "./offer.js";

const cart = new Cart();

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * @param {string} text
 * @param {string} label
 * @param {() => void} act
 */
function row(text, label, act) {
  const item = document.createElement("li");
  const words = document.createElement("span");
  const button = document.createElement("button");
  words.textContent = text;
  button.textContent = label;
  button.addEventListener("click", act);
  item.append(words, button);
  return item;
}

/** @param {import("./goods.js").Product[]} products */
function showProducts(products) {
  const rows = products.map(({ sku, name, price }) =>
    row(`${name} · ${price.toFixed(2)}`, `Add ${name}`, () => showCart(cart.add(sku, 1))),
  );
  byId("products").replaceChildren(...rows);
}

/** @param {import("./goods.js").CartState} state */
function showCart({ items, total }) {
  const rows = items.map(({ sku, name, quantity }) =>
    row(`${quantity} × ${name}`, `Remove ${name}`, () => showCart(cart.remove(sku))),
  );
  byId("cart").replaceChildren(...rows);
  byId("total").textContent = total.toFixed(2);
}

/** @param {string} text */
function say(text) {
  byId("said").textContent = text;
}

/** @param {string} name */
function order(name) {
  const { total, number } = cart.order();
  showCart(cart.state());
  say(`Order ${number} for ${name}: ${total.toFixed(2)}. Thank you!`);
  return { order: number, total };
}

/**
 * @param {string} id
 * @param {string} field
 * @param {(value: string) => void} act
 */
function onSubmit(id, field, act) {
  byId(id).addEventListener("submit", (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    try {
      act(String(new FormData(form).get(field)));
    } catch (error) {
      say(String(error));
    }
  });
}

onSubmit("search", "query", (query) => showProducts(find(query)));
onSubmit("checkout", "name", order);
showProducts(find(""));
showCart(cart.state());

const actions = { cart, find, order, showProducts, showCart };
void offerTools(actions, (text) => (byId("hub").textContent = text));
