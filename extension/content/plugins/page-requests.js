/**
 * Requests of plugins, with the page's session. They are sent from the extension's own world: the
 * page can replace neither `fetch` nor what is read here, its service worker gets none of them, and
 * its content security policy does not hold for them. What CORS demands of the page does.
 */
tabhub.define("pageRequests", () => {
  const PIECE_BYTES = 256 * 1024;
  const IDLE_MS = 60_000;
  const MOST_STREAMS = 16;
  /** How many characters a function takes as arguments. */
  const CHUNK = 0x8000;

  /** @typedef {ReadableStreamBYOBReader | undefined} Reader none for a response without a body */
  /** @typedef {{reader: Reader, timer: ReturnType<typeof setTimeout>}} Stream */
  /** @type {Map<string, AbortController>} requests and streams that have not ended */
  const running = new Map();
  /** @type {Map<string, Stream>} */
  const streams = new Map();

  /** @typedef {{reason: TabhubReason, message: string}} Why */
  /** @type {Why} */
  const CLOSED = {
    reason: "cancelled",
    message: "The request was cancelled, or its stream closed.",
  };
  /** @type {Why} */
  const LEFT = { reason: "navigated_away", message: "The page went away before it was answered." };

  /**
   * @param {string} id
   * @param {Why} why
   */
  function end(id, why) {
    clearTimeout(streams.get(id)?.timer);
    streams.delete(id);
    running.get(id)?.abort(why);
    running.delete(id);
  }

  /** @type {TabhubPageRequests["close"]} */
  function close({ id }) {
    end(id, CLOSED);
  }

  /** @param {AbortSignal} signal */
  function failIfEnded({ aborted, reason }) {
    if (aborted) tabhub.fail(reason.reason, reason.message);
  }

  /**
   * @param {string[]} allowed
   * @param {string} address
   */
  function isAllowed(allowed, address) {
    return tabhubIsMatch({ urlPatterns: allowed, excludePatterns: [] }, address);
  }

  /**
   * @param {TabhubPageRequest} request
   * @returns {string} the address
   */
  function requireAddress({ url, allowed }) {
    if (!URL.canParse(url, location.href)) {
      tabhub.fail("invalid_arguments", `"${url}" is no address.`);
    }
    const { href } = new URL(url, location.href);
    if (isAllowed(allowed, href)) return href;
    const message = `The plugin may not send requests to ${originOf(href)}. Nothing was sent.`;
    return tabhub.fail("permission_denied", message);
  }

  /** @param {string} address */
  function originOf(address) {
    const { protocol, host } = new URL(address);
    return `${protocol}//${host}`;
  }

  /**
   * @param {TabhubPageRequest} order
   * @param {AbortSignal} signal
   */
  function requestOf(order, signal) {
    const { method, headers, body, bodyBase64 } = order;
    const bytes = bodyBase64 === undefined ? body : bytesOf(bodyBase64);
    const content = bytes === undefined ? {} : { body: bytes };
    const address = requireAddress(order);
    try {
      return new Request(address, { method, headers, credentials: "include", signal, ...content });
    } catch (error) {
      const { message } = /** @type {Error} */ (error);
      return tabhub.fail("invalid_arguments", `The browser sends no such request: ${message}`);
    }
  }

  /** @param {string} base64 */
  function bytesOf(base64) {
    try {
      return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    } catch {
      return tabhub.fail("invalid_arguments", "bodyBase64 is not base64.");
    }
  }

  /** @param {Uint8Array} bytes */
  function base64Of(bytes) {
    let text = "";
    for (let at = 0; at < bytes.length; at += CHUNK) {
      text += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
    }
    return btoa(text);
  }

  /**
   * @template T
   * @param {string} address
   * @param {AbortSignal} signal
   * @param {Promise<T>} exchange
   * @returns {Promise<T>}
   */
  async function completed(address, signal, exchange) {
    try {
      return await exchange;
    } catch (error) {
      failIfEnded(signal);
      const { reason } = /** @type {{reason?: string}} */ (error);
      if (reason !== undefined) throw error;
      return tabhub.fail(
        "request_failed",
        `The request to ${originOf(address)} failed: the server cannot be reached, has broken the ` +
          "connection off, or does not allow requests of this page (CORS). It may have arrived.",
      );
    }
  }

  /** @type {TabhubPageRequests["send"]} */
  async function send(order) {
    const { id, stream, allowed, mostBytes } = order;
    if (stream && streams.size >= MOST_STREAMS) {
      tabhub.fail("too_many_calls", `This tab has ${MOST_STREAMS} open streams. Nothing was sent.`);
    }
    const controller = new AbortController();
    const { signal } = controller;
    const request = requestOf(order, signal);
    running.set(id, controller);
    try {
      const response = await completed(request.url, signal, fetch(request));
      requireArrival(allowed, response);
      const { status, url } = response;
      const head = { status, url, headers: Object.fromEntries(response.headers) };
      if (stream) return { ...head, stream: open(id, response) };
      const body = await completed(request.url, signal, wholeBody(response, mostBytes));
      return { ...head, bodyBase64: base64Of(body) };
    } finally {
      if (!streams.has(id)) close({ id });
    }
  }

  /**
   * @param {string[]} allowed
   * @param {Response} response
   */
  function requireArrival(allowed, { url }) {
    if (isAllowed(allowed, url)) return;
    const message =
      `The request was redirected to ${originOf(url)}, where the plugin may not send any. ` +
      "The response was not read.";
    tabhub.fail("request_failed", message);
  }

  /**
   * @param {Response} response
   * @param {number} mostBytes
   */
  async function wholeBody(response, mostBytes) {
    /** @type {Uint8Array[]} */
    const pieces = [];
    let size = 0;
    const reader = response.body?.getReader();
    for (;;) {
      const { value } = (await reader?.read()) ?? {};
      if (!value) return new Uint8Array(await new Blob(/** @type {any} */ (pieces)).arrayBuffer());
      size += value.length;
      if (size > mostBytes) refuseBody(mostBytes);
      pieces.push(value);
    }
  }

  /** @param {number} mostBytes */
  function refuseBody(mostBytes) {
    const message =
      `The body of the response has more than ${mostBytes} bytes, and the link carries no more ` +
      "at once: read it as a stream. The request has arrived.";
    tabhub.fail("too_large", message);
  }

  /**
   * @param {string} id
   * @param {Response} response
   */
  function open(id, response) {
    const reader = response.body?.getReader({ mode: "byob" });
    streams.set(id, { reader, timer: closeLater(id) });
    return id;
  }

  /** @param {string} id */
  function closeLater(id) {
    return setTimeout(() => close({ id }), IDLE_MS);
  }

  /** @type {TabhubPageRequests["read"]} */
  async function read({ id }) {
    const stream = streams.get(id);
    const signal = running.get(id)?.signal;
    if (!stream || !signal) {
      return tabhub.fail("not_found", "There is no such stream: it has ended, or was closed.");
    }
    clearTimeout(stream.timer);
    const { value, done = true } = await piece(id, signal, stream.reader);
    if (done) close({ id });
    else stream.timer = closeLater(id);
    return { bodyBase64: value ? base64Of(value) : "", done };
  }

  /**
   * @param {string} id
   * @param {AbortSignal} signal
   * @param {Reader} reader
   * @returns {Promise<{value?: Uint8Array | undefined, done?: boolean}>}
   */
  async function piece(id, signal, reader) {
    try {
      return (await reader?.read(new Uint8Array(PIECE_BYTES))) ?? {};
    } catch {
      failIfEnded(signal);
      close({ id });
      return tabhub.fail("request_failed", "The server has broken the response off.");
    }
  }

  // A page that is kept for going back must not keep connections open.
  window.addEventListener("pagehide", ({ isTrusted }) => {
    if (isTrusted) for (const id of [...running.keys()]) end(id, LEFT);
  });

  return { send, read, close };
});
