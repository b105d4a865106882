/** How a waiting request can be answered, as the debugger is to be told. */

/** @typedef {{method: string, params: object, past: string}} Answer `past`: what was done then */

/** @type {Record<string, (given: any) => Answer>} */
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
 * @param {any} input
 * @returns {Answer}
 */
export function answerOf(input) {
  const answer = ANSWERS[input.how];
  if (!answer) throw new TypeError(`${input.how} is no answer`);
  return answer(input);
}
