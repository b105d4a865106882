/** page.set: a field gets a value of its own kind, whatever kind that is. */

import { find, inTurnWithHand, marked } from "./input/act.js";
import { clickNow } from "./input/click.js";
import { CommandError } from "./shared/command-errors.js";
import { fillNow } from "./input/form-fields.js";
import { askMinting } from "./frames/frames.js";

/** @import { Context } from "./tabs/navigation.js" */
/** @import { Handed } from "./input/hand.js" */

/** @typedef {Wire.Named & {settle?: number}} ElementAction */

/**
 * @typedef {object} Field
 * @property {string} kind switch, radio or value
 * @property {string} before what it holds, or whether it is on
 * @property {boolean} sensitive
 * @property {number} ref of what is to be pressed or filled
 */

/** @param {Context<Wire.SetField>} context */
export async function set(context) {
  return inTurnWithHand(context, async (handed) => {
    const field = await look(context);
    try {
      const named = { ref: `ref_${field.ref}`, settle: context.input.settle };
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
  const { effect, point, ...told } = await clickNow(context);
  const isThere = !effect.dialog && effect.navigated === undefined;
  const after = isThere ? await look(context).catch(() => undefined) : undefined;
  return { effect: { ...effect, value: after?.before }, ...told };
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
