document.cookie = "session_id=SECRET-cookie";
document.cookie = "theme=dark";
localStorage.setItem("authToken", "SECRET-local");
sessionStorage.setItem("draft", "SECRET-session");
window.jQuery = { fn: { jquery: "3.7.1" } };
window.shopState = { user: "SECRET-global" };
document.getElementById("app").__reactContainer$abc = {};
const offline = new Promise((done) => (indexedDB.open("offline-orders").onsuccess = done));

const json = (path, body) =>
  fetch(path, {
    method: "POST",
    headers: { Authorization: "Bearer SECRET-bearer", "X-CSRF-Token": "SECRET-header" },
    body: JSON.stringify(body),
  });
Promise.all([
  offline,
  fetch("/raw?hex=7b7d&type=application/json"),
  json("/api/v1/orders", { title: "SECRET-title", amount: 3 }),
  json("/api/v1/orders/12345/items?page=SECRET-page", { note: "SECRET-note" }),
  json("/graphql", { query: "query OrderList { orders }", variables: { of: "SECRET-of" } }),
]).then(() => (document.title = "Orders are there"));
