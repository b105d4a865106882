/** How a waiting request can be answered, as the debugger is to be told. */

/** @typedef {{method: string, params: object, past: string}} Answer `past`: what was done then */

/** @typedef {Wire.Input<"intercept.answer">} Given */
/** @typedef {{[G in Given as G["how"]]: (given: G) => Answer}} Answers */

/** @type {Answers} */
const ANSWERS = {
  fulfill: ({ status, headers = {}, body = "" }) => ({
    method: "Fetch.fulfillRequest",
    params: { responseCode: status, responseHeaders: entries(headers), body },
    past: "was fulfilled",
  }),
  fail: ({ errorReason }) => ({
    method: "Fetch.failRequest",
    params: { errorReason },
    past: "was made to fail",
  }),
  continue: ({ url, method, headers, body }) => ({
    method: "Fetch.continueRequest",
    params: {
      ...(url !== undefined && { url }),
      ...(method !== undefined && { method }),
      ...(headers !== undefined && { headers: entries(headers) }),
      ...(body !== undefined && { postData: body }),
    },
    past: "was continued",
  }),
};

/** @param {Record<string, string>} headers */
function entries(headers) {
  return Object.entries(headers).map(([name, value]) => ({ name, value }));
}

/**
 * @param {Given} input
 * @param {Record<string, string>} [own] the headers of the request
 * @returns {Answer}
 */
export function answerOf(input, own = {}) {
  const answer = /** @type {(given: Given) => Answer} */ (ANSWERS[input.how]);
  if (!answer) throw new TypeError(`${input.how} is no answer`);
  return answer(withKept(input, own));
}

/**
 * The agent does not know the headers that it keeps.
 * @param {Given} input
 * @param {Record<string, string>} own
 * @returns {Given}
 */
function withKept(input, own) {
  if (input.how !== "continue" || !input.keepHeaders?.length) return input;
  const known = new Map(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value]));
  const headers = { ...input.headers };
  for (const name of input.keepHeaders) {
    const value = known.get(name.toLowerCase());
    if (value !== undefined) headers[name] = value;
  }
  return { ...input, headers };
}
