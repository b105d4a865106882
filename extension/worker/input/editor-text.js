/**
 * What an editor of a page holds, by its own API. Many draw only the lines that are in view, so the
 * document does not say it. It is the page's word, as all that a document says.
 */

import { showElement } from "../debugger/isolated-worlds.js";
import { sendTo } from "../debugger/debugger.js";
import { askMinting } from "../frames/frames.js";
import { within } from "../shared/timing.js";

const ASK_MS = 1000;
const GROUP = "tabhub-editors";
/** More than results show. */
const MOST_CHARS = 100_000;

/** @typedef {import("../frames/frames.js").Frame} Frame */
/**
 * @typedef {object} Answer
 * @property {string} [value]
 * @property {string} [focused]
 * @property {boolean} [sensitive]
 * @property {string} [receivedBy]
 * @property {number} [prevented]
 */

/**
 * Runs in the page's world, on the editor's element.
 * @this {any}
 * @param {number} most
 */
function heldText(most) {
  const root = this;
  const page = /** @type {any} */ (window);
  const all = root.querySelector(".cm-content");
  const tile = all && (all.cmTile || all.cmView);
  const view =
    tile && ((tile.root && tile.root.view) || (tile.rootView && tile.rootView.view) || tile.view);
  const monaco = page.monaco && page.monaco.editor && page.monaco.editor.getEditors;
  let text;
  if (view && view.state) text = view.state.doc.sliceString(0, most);
  else if (root.CodeMirror) text = root.CodeMirror.getValue();
  else if (root.__quill) text = root.__quill.getText(0, most).replace(/\n$/, "");
  else if (root.pmViewDesc) {
    const { node } = root.pmViewDesc;
    text = node.textBetween(0, node.content.size, "\n", "\n");
  } else if (monaco) {
    const own = monaco.call(page.monaco.editor).find((/** @type {any} */ one) => {
      const at = one.getDomNode();
      return at && (at === root || at.contains(root) || root.contains(at));
    });
    text = own && own.getValue();
  }
  return typeof text === "string" ? text.slice(0, most) : null;
}

/**
 * Asks a frame what a field holds; if that is an editor, the editor itself says it.
 * @param {Frame} frame
 * @param {"filled" | "pressed" | "typed"} question
 * @param {import("./hand.js").Hand} hand
 * @returns {Promise<Answer>}
 */
export async function askWithEditor(frame, question, hand) {
  const { editor, ...answer } = await askMinting(frame, question, {});
  if (editor === undefined) return answer;
  const asking = hand.trusted ? within(ASK_MS, textOf(frame, editor)) : undefined;
  const held = await asking?.catch(() => undefined);
  const { editor: _, ...known } = await askMinting(frame, question, {
    held: held ?? null,
  });
  return known;
}

/**
 * @param {Frame} frame
 * @param {number} ref
 * @returns {Promise<string | undefined>}
 */
async function textOf(frame, ref) {
  const { tabId } = frame;
  const shown = await showElement(frame, { ref });
  if (!shown) return undefined;
  const { session, objectId } = shown;
  const { node } = await sendTo(tabId, session, "DOM.describeNode", {
    objectId,
  });
  // Without a context it is resolved in the page's own world.
  const named = { backendNodeId: node.backendNodeId, objectGroup: GROUP };
  const { object } = await sendTo(tabId, session, "DOM.resolveNode", named);
  try {
    const { result, exceptionDetails } = await sendTo(tabId, session, "Runtime.callFunctionOn", {
      objectId: object.objectId,
      functionDeclaration: String(heldText),
      arguments: [{ value: MOST_CHARS }],
      returnByValue: true,
      silent: true,
    });
    const isText = !exceptionDetails && typeof result.value === "string";
    return isText ? result.value : undefined;
  } finally {
    void sendTo(tabId, session, "Runtime.releaseObjectGroup", {
      objectGroup: GROUP,
    }).catch(() => {});
  }
}
