/** What the shop sells, and a cart. Nothing here knows of pages or tools. */

/** @typedef {{sku: string, name: string, price: number}} Product */
/** @typedef {{items: (Product & {quantity: number})[], total: number}} CartState */

/** @type {Product[]} */
const PRODUCTS = [
  { sku: "espresso", name: "Espresso beans, 250 g", price: 7.5 },
  { sku: "filter", name: "Filter coffee, 500 g", price: 9.9 },
  { sku: "decaf", name: "Decaf coffee, 250 g", price: 8.2 },
  { sku: "green-tea", name: "Green tea, 100 g", price: 5.4 },
  { sku: "mug", name: "Mug, blue", price: 6 },
  { sku: "grinder", name: "Hand grinder", price: 34 },
];

/**
 * @param {string} query
 * @param {number} [maxPrice]
 */
export function find(query, maxPrice = Infinity) {
  const word = query.trim().toLowerCase();
  return PRODUCTS.filter(({ name, price }) => {
    return name.toLowerCase().includes(word) && price <= maxPrice;
  });
}

export class Cart {
  /** @type {Map<string, number>} */
  #quantities = new Map();
  #orders = 0;

  /**
   * @param {string} sku
   * @param {number} quantity
   */
  add(sku, quantity) {
    if (!PRODUCTS.some((product) => product.sku === sku)) {
      throw new Error(`There is no product ${sku}. There are: ${skus().join(", ")}.`);
    }
    this.#quantities.set(sku, (this.#quantities.get(sku) ?? 0) + quantity);
    return this.state();
  }

  /** @param {string} sku */
  remove(sku) {
    if (!this.#quantities.delete(sku)) throw new Error(`There is no ${sku} in the cart.`);
    return this.state();
  }

  /** @returns {CartState} */
  state() {
    const items = PRODUCTS.filter(({ sku }) => this.#quantities.has(sku)).map((product) => ({
      ...product,
      quantity: this.#quantities.get(product.sku) ?? 0,
    }));
    const cents = items.reduce((sum, { price, quantity }) => sum + price * 100 * quantity, 0);
    return { items, total: Math.round(cents) / 100 };
  }

  order() {
    const { items, total } = this.state();
    if (!items.length) throw new Error("The cart is empty.");
    this.#quantities.clear();
    return { number: ++this.#orders, total };
  }
}

function skus() {
  return PRODUCTS.map(({ sku }) => sku);
}
