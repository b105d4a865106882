/** page.fill, page.select and page.set: the values of fields. */

import { askMinting } from "../frames/frames.js";
import { CommandError } from "../shared/command-errors.js";
import { dialogError } from "../debugger/page-dialogs.js";
import { requireKnownSite } from "../shared/known-tabs.js";
import { actAndRest, atGuess, effectOf, find, inTurnWithHand, marked } from "./act.js";
import { clickNow } from "./click.js";
import { askWithEditor } from "./editor-text.js";
import { silence, trustOf } from "./hand.js";
import { lastKeyEvents } from "./key-strokes.js";
import { NotHere, toCompare } from "./targets.js";

/** @type {Set<import("../shared/command-errors.js").Reason>} why the page may have done its part */
const NO_ANSWER = new Set(["timeout", "navigated_away"]);
/** A page that gets its order later than this has been busy, and gets it again with more time. */
const PROMPT_MS = 100;
/** So long a busy page may have a dialog reported that has come before the order. */
const MOST_PROMPT_MS = 6400;
/** The page's answer comes by another way than that it shows a dialog. */
const ANSWER_MS = 100;

/** @import { Context } from "../shared/command-context.d.ts" */
/** @import { Settling, Watch } from "./act.js" */
/** @import { Frame } from "../frames/frames.js" */
/** @import { Handed } from "./hand.js" */

/** @param {Context<Wire.Fill>} context */
export async function fill(context) {
  const { text } = context.input;
  if (typeof text !== "string") throw new CommandError("invalid_arguments", "text is missing.");
  return inTurnWithHand(context, (handed) => fillNow(handed, text), "text");
}

/**
 * For a caller that has the turn already.
 * @param {Handed<ElementAction & {clear?: boolean}>} context
 * @param {string} text
 */
async function fillNow(context, text) {
  const { clear = true } = context.input;
  return put(context, "fill", { text, clear: Boolean(clear), events: lastKeyEvents(text) });
}

/** @param {Context<Wire.Select>} context */
export async function select(context) {
  const { value, label } = context.input;
  if ((value === undefined) === (label === undefined)) {
    throw new CommandError("invalid_arguments", "Give either value or label.");
  }
  const wanted = [value ?? label].flat().map(String);
  const body = { by: label === undefined ? "value" : "label", wanted };
  return inTurnWithHand(context, (handed) => put(handed, "select", body), "select");
}

/**
 * @typedef {{text?: string, clear?: boolean, events?: object[], by?: string, wanted?: string[]}}
 *   Values
 * @typedef {{typed: boolean, sensitive: boolean, byEvents?: boolean, notDone?: "yet" | "elsewhere" | "late"}} Put
 *   `notDone`: why nothing was done; "late": all is prepared, and the text is still to be put in
 * @typedef {{answered: Promise<Put & Settling>, promptly: number, watch: Watch}} Order
 * @typedef {"fill" | "select" | "fillIn"} Question
 */

/**
 * @param {Handed<ElementAction>} context
 * @param {"fill" | "select"} question
 * @param {Values} body
 */
async function put(context, question, body) {
  return atGuess(
    (seek) => find(context, seek),
    (target) => putInto(context, target, question, body),
  );
}

/**
 * @param {Handed<ElementAction>} context
 * @param {import("./targets.js").Target} target
 * @param {"fill" | "select"} question
 * @param {Values} values
 */
async function putInto(context, target, question, values) {
  const { frame, how: named, isGuess = false } = target;
  const { hand } = context;
  const isAtOnce = frame.frameId === 0;
  /** @type {(Put & Settling) | undefined} undefined: the page has not said */
  let done;
  /** @type {Order | undefined} */
  let last;
  let sensitive = false;
  /** @type {(_: unknown, live: AbortSignal, watch: Watch) => Promise<Settling | void>} */
  const act = async (_, live, watch) => {
    const requireStill = () => {
      live.throwIfAborted();
      requireKnownSite(context.tabId, context.site);
    };
    let [next, isCaught] = [/** @type {Question} */ (question), !isAtOnce];
    for (let ms = PROMPT_MS; !done; ms = Math.min(2 * ms, MOST_PROMPT_MS)) {
      const promptly = Date.now() + ms;
      const prepared = { ...toCompare(context.input), events: values.events };
      const what = next === "fillIn" ? prepared : { ...named, ...values, isGuess };
      const answered = order(frame, watch, next, { ...what, isCaught, promptly });
      last = { answered, promptly, watch };
      const answer = await answered;
      sensitive ||= answer.sensitive;
      if (!answer.notDone) done = answer;
      else {
        if (answer.notDone === "late") next = "fillIn";
        await watch.catching;
        requireStill();
        isCaught = true;
      }
    }
    return done;
  };
  try {
    const askHeld = () => askWithEditor(frame, "filled", hand);
    const how = { ...context, saysValue: true, askHeld, isAtOnce };
    const outcome = await actAndRest(how, frame, async () => {}, act);
    if (outcome.dialog && !done) done = await heard(last, outcome.dialog);
    const value = await valueAfter(outcome, askHeld);
    // A dialog that the text has opened comes before the page's answer.
    const { typed, byEvents, ...known } = done ?? { typed: question === "fill", sensitive: true };
    const trust = trustOf(hand, typed && !byEvents);
    return { effect: { ...effectOf(outcome), value }, ...trust, sensitive: known.sensitive };
  } catch (error) {
    throw marked(error, sensitive);
  }
}

/**
 * What the page says of its order although a dialog has opened; undefined if it has begun and shows
 * the dialog. Raises if it has not: once the dialog is answered, it could still do so until the time
 * of the order is over.
 * @param {Order | undefined} last
 * @param {import("./act.js").Dialog} dialog
 */
async function heard(last, dialog) {
  /** @param {number} ms */
  const within = (ms) => Promise.race([last?.answered, sleep(ms)]);
  let answer = last && (await within(ANSWER_MS));
  if (last && !answer && !last.watch.hasArrived) {
    answer = await within(last.promptly - Date.now() + ANSWER_MS);
  }
  const isDone = answer ? !answer.notDone : last?.watch.hasArrived;
  if (!isDone) throw dialogError(dialog);
  return answer;
}

/** @param {number} ms @returns {Promise<undefined>} */
function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined));
}

/**
 * Has the page put the value in, and settle.
 * @param {Frame} frame
 * @param {Watch} watch
 * @param {Question} question
 * @param {object} body
 * @returns {Promise<Put & Settling>}
 */
async function order(frame, watch, question, body) {
  const [putting, asked] = frame.together(() => [frame.ask(question, body), watch.settle()]);
  asked.catch(() => {});
  const done = await putting.catch(async (error) => {
    if (!(error instanceof CommandError) || !NO_ANSWER.has(error.reason)) throw error;
    if (!(await watch.hasBegun())) throw error;
    if (error.reason === "timeout") throw silence({ sensitive: true });
    // The text may have made the page go away: the watch knows where to.
    return /** @type {Put} */ ({ typed: question !== "select", sensitive: true });
  });
  if (done.notDone === "elsewhere") throw new NotHere();
  return { ...done, asked };
}

/**
 * @param {import("./act.js").Outcome} outcome
 * @param {() => Promise<import("./editor-text.js").Answer>} askHeld
 */
async function valueAfter({ dialog, navigated, closed, held }, askHeld) {
  if (dialog || closed || navigated !== undefined) return undefined;
  return (await (held ?? askHeld())).value;
}

// page.set: gives a field of any kind a value.

/** @typedef {Wire.Named & Pick<Wire.SetField, "settle" | "observe" | "confirmed">} ElementAction */

/**
 * @typedef {object} Field
 * @property {string} kind switch, radio or value
 * @property {string} before what it holds, or whether it is on
 * @property {boolean} sensitive
 * @property {number} ref the element to press or fill
 */

/** @param {Context<Wire.SetField>} context */
export async function set(context) {
  return inTurnWithHand(context, async (handed) => {
    const field = await look(handed);
    try {
      const { settle, observe, confirmed } = handed.input;
      const named = { ref: `ref_${field.ref}`, settle, observe, confirmed };
      const act = field.kind === "value" ? fillIn : turn;
      const output = await act({ ...handed, input: named }, field, context.input.value);
      return { ...output, before: field.before, sensitive: field.sensitive };
    } catch (error) {
      throw marked(error, field.sensitive);
    }
  });
}

/**
 * @param {Context<Wire.Named>} context
 * @returns {Promise<Field>}
 */
async function look(context) {
  const { frame, how } = await find(context);
  return askMinting(frame, "field", how);
}

/**
 * @param {Handed<ElementAction>} context
 * @param {Field} _
 * @param {Wire.SetField["value"]} value
 */
async function fillIn(context, _, value) {
  if (typeof value === "string" || typeof value === "number")
    return fillNow(context, String(value));
  throw refusal("This field takes text or a number, not true or false.");
}

/**
 * @param {Handed<ElementAction>} context
 * @param {Field} field
 * @param {Wire.SetField["value"]} value
 */
async function turn(context, { kind, before }, value) {
  const wanted = wantedState(value);
  if (kind === "radio" && wanted === "false") {
    throw refusal("A radio button is switched off by choosing another one of its group.");
  }
  if (wanted === before) return { effect: { mutated: false, value: before }, trusted: true };
  const { effect, point, ...rest } = await clickNow(context);
  const isThere = !effect.dialog && effect.navigated === undefined;
  const after = isThere ? await look(context).catch(() => undefined) : undefined;
  return { effect: { ...effect, value: after?.before }, ...rest };
}

/** @param {unknown} value */
function wantedState(value) {
  const word = String(value).toLowerCase();
  if (word === "true" || word === "false") return word;
  throw refusal("This is a box to be switched on or off: give true or false.");
}

/** @param {string} message */
function refusal(message) {
  return new CommandError("invalid_arguments", message);
}
