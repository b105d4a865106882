/**
 * The shop's tools, written once: the browser's WebMCP takes them where it can, else the page
 * worker. `?via=worker` uses the worker in any case, `?hub=ws://…` says where the server is.
 */

import { registerTool, WorkerClient } from "./pagekit/pagekit.js";

const asked = new URLSearchParams(location.search);
const SKU = { type: "string", description: "As search_products names it." };
const NOTHING = { type: "object", properties: {} };

/**
 * @typedef {object} ShopActions
 * @property {import("./goods.js").Cart} cart
 * @property {typeof import("./goods.js").find} find
 * @property {(name: string) => {order: number, total: number}} order
 * @property {(products: import("./goods.js").Product[]) => void} showProducts
 * @property {(state: import("./goods.js").CartState) => void} showCart
 */

/**
 * @param {ShopActions} actions
 * @param {(text: string) => void} say
 */
export async function offerTools({ cart, find, order, showProducts, showCart }, say) {
  const options = how(say);
  const shown = (/** @type {import("./goods.js").CartState} */ state) => (showCart(state), state);
  await registerTool(
    "search_products",
    "Find products by words in their names, cheaper than a price if given.",
    object({ query: { type: "string" }, maxPrice: { type: "number", minimum: 0 } }, ["query"]),
    ({ query, maxPrice }) => {
      const products = find(query, maxPrice);
      showProducts(products);
      return { products };
    },
    { ...options, annotations: { readOnlyHint: true } },
  );
  await registerTool(
    "add_to_cart",
    "Put a product into the cart.",
    object({ sku: SKU, quantity: { type: "integer", minimum: 1, maximum: 99 } }, ["sku"]),
    ({ sku, quantity = 1 }) => shown(cart.add(sku, quantity)),
    options,
  );
  await registerTool(
    "remove_from_cart",
    "Take a product out of the cart.",
    object({ sku: SKU }, ["sku"]),
    ({ sku }) => shown(cart.remove(sku)),
    options,
  );
  await registerTool("view_cart", "What is in the cart.", NOTHING, () => cart.state(), {
    ...options,
    annotations: { readOnlyHint: true },
  });
  await registerTool(
    "checkout",
    "Order what is in the cart.",
    object({ name: { type: "string", minLength: 1, description: "Who orders." } }, ["name"]),
    ({ name }) => order(name),
    { ...options, annotations: { consequentialHint: true } },
  );
}

/**
 * @param {Record<string, object>} properties
 * @param {string[]} required
 */
function object(properties, required) {
  return { type: "object", properties, required, additionalProperties: false };
}

/** @param {(text: string) => void} say */
function how(say) {
  if (!asked.has("via")) return {};
  const client = new WorkerClient({ url: asked.get("hub") ?? undefined });
  const tell = () => say(JSON.stringify(client.status));
  client.addEventListener("status", tell);
  tell();
  return { client, via: /** @type {const} */ ("worker") };
}
