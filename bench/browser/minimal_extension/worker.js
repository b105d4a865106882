/** A minimal extension: for each message it runs one browser command and sends the result back. */

/** @type {Set<number>} */
const attached = new Set();
/** @type {Map<number, chrome.runtime.Port>} */
const ports = new Map();
chrome.runtime.onConnect.addListener((port) => ports.set(port.sender?.tab?.id ?? -1, port));

/**
 * @param {number} tabId
 * @param {object} message
 */
function overPort(tabId, message) {
  const port = /** @type {chrome.runtime.Port} */ (ports.get(tabId));
  return new Promise((resolve) => {
    port.onMessage.addListener(function onAnswer(answer) {
      port.onMessage.removeListener(onAnswer);
      resolve(answer);
    });
    port.postMessage(message);
  });
}

/**
 * @param {number} tabId
 * @param {string} method
 * @param {object} [params]
 * @returns {Promise<any>}
 */
async function debug(tabId, method, params) {
  if (!attached.has(tabId)) {
    await chrome.debugger.attach({ tabId }, "1.3");
    attached.add(tabId);
    await chrome.debugger.sendCommand({ tabId }, "Emulation.setFocusEmulationEnabled", {
      enabled: true,
    });
    await chrome.debugger.sendCommand({ tabId }, "Page.enable");
  }
  return chrome.debugger.sendCommand({ tabId }, method, params);
}

/**
 * @param {number} tabId
 * @param {string} expression
 */
async function value(tabId, expression) {
  const params = { expression, returnByValue: true };
  return (await debug(tabId, "Runtime.evaluate", params)).result.value;
}

/** @param {() => Promise<{id?: number}>} start */
async function untilLoaded(start) {
  /** @type {PromiseWithResolvers<number>} */
  const { promise, resolve } = Promise.withResolvers();
  /** @type {Set<number>} */
  const loaded = new Set();
  let target = -1;
  /** @type {(details: {tabId: number, frameId: number}) => void} */
  const done = ({ tabId, frameId }) => {
    if (frameId === 0) loaded.add(tabId);
    if (loaded.has(target)) resolve(target);
  };
  chrome.webNavigation.onCompleted.addListener(done);
  target = (await start()).id ?? -1;
  if (loaded.has(target)) resolve(target);
  const tabId = await promise;
  chrome.webNavigation.onCompleted.removeListener(done);
  return tabId;
}

/** The least that a list of a page's elements takes: what each is, where it is and what it says. */
function listElements() {
  const lines = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = /** @type {HTMLElement} */ (node);
    const { visibility, cursor } = getComputedStyle(element);
    const { x, y, width, height } = element.getBoundingClientRect();
    if (visibility !== "visible" || !width || !height) continue;
    const role = element.getAttribute("role") ?? element.localName;
    const own = [...element.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
    const text = element.ariaLabel ?? own.map(({ textContent }) => textContent?.trim()).join(" ");
    lines.push(`${role} ${text} ${cursor} ${x},${y}`);
  }
  return lines.join("\n");
}

/** @param {number} tabId @param {() => unknown} func */
async function inPage(tabId, func) {
  const target = { tabId };
  const [{ result }] = await chrome.scripting.executeScript({
    target,
    injectImmediately: true,
    func,
  });
  return result;
}

/** @type {Record<string, (args: any) => Promise<unknown>>} */
const commands = {
  async script({ tab }) {
    const [{ result }] = await chrome.scripting.executeScript({
      target: { tabId: tab },
      world: "MAIN",
      injectImmediately: true,
      func: () => 1 + 1,
    });
    return result;
  },
  read: ({ tab }) => inPage(tab, listElements),
  text: ({ tab }) => inPage(tab, () => document.body.innerText),
  port: ({ tab, tool, input }) => overPort(tab, { tool, input }),
  evaluate: ({ tab, code }) => value(tab, code),
  locate: ({ tab, selector }) =>
    value(
      tab,
      `{ const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
      [box.x + box.width / 2, box.y + box.height / 2] }`,
    ),
  async click({ tab, point }) {
    const mouse = { x: point[0], y: point[1], button: "left", clickCount: 1 };
    const pressed = debug(tab, "Input.dispatchMouseEvent", { type: "mousePressed", ...mouse });
    const released = debug(tab, "Input.dispatchMouseEvent", { type: "mouseReleased", ...mouse });
    await Promise.all([pressed, released]);
  },
  async fill({ tab, selector, text }) {
    await value(tab, `document.querySelector(${JSON.stringify(selector)}).select()`);
    await debug(tab, "Input.insertText", { text });
  },
  screenshot: async ({ tab }) =>
    (await debug(tab, "Page.captureScreenshot", { format: "jpeg", quality: 80 })).data,
  list: () => chrome.tabs.query({}),
  navigate: ({ tab, url }) =>
    untilLoaded(async () => (await chrome.tabs.update(tab, { url })) ?? {}),
  open: ({ url }) => untilLoaded(() => chrome.tabs.create({ url, active: false })),
  close: async ({ tab }) => {
    attached.delete(tab);
    await chrome.tabs.remove(tab);
  },
};

/** @param {{port: number}} found */
function connect({ port }) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  socket.onmessage = async ({ data }) => {
    const { command, ...args } = JSON.parse(data);
    const answer = await commands[command](args).then(
      (result) => ({ result: result ?? null }),
      (error) => ({ error: String(error) }),
    );
    socket.send(JSON.stringify(answer));
  };
}

fetch("port.json")
  .then((response) => response.json())
  .then(connect);
