/** Runs the commands that the server sends on a connection, and answers on the same connection. */

import { CommandError, toWire } from "../shared/command-errors.js";
import { note, noteFault } from "../shared/journal.js";
import { handlersOf } from "../shared/method-handlers.js";
import { unlessAborted } from "../shared/timing.js";

// Which frames of a page a command may enter. The server has allowed the command for the page's
// site; for frames of other sites it is asked.

/** @typedef {import("../frames/frames.js").Frame} Frame */

/** @implements {Reach} */
export class FrameReach {
  /** @type {Set<string> | null} null: everywhere */
  #sites = null;
  #ask;

  /** @param {((sites: string[]) => Promise<{sites: string[]}>) | null} ask null: everywhere */
  constructor(ask) {
    this.#ask = ask;
  }

  /**
   * @param {Frame[]} frames
   * @param {string | undefined} site the page's own
   */
  async explore(frames, site) {
    await this.learn(new Set(frames.map((frame) => frame.site)), site);
  }

  /**
   * @param {Set<string>} sites
   * @param {string | undefined} site the page's own
   */
  async learn(sites, site) {
    this.#sites = await this.among([...sites], site);
  }

  /**
   * @param {string[]} places
   * @param {string | undefined} site the page's own
   * @returns {Promise<Set<string> | null>} the sites that are allowed; null: all of them
   */
  async among(places, site) {
    if (!this.#ask) return null;
    const others = new Set(places.filter((other) => other !== site));
    const allowed = others.size ? (await this.#ask([...others])).sites : [];
    return new Set([...allowed, ...(site === undefined ? [] : [site])]);
  }

  /** Whether no rule depends on the site. */
  get isEverywhere() {
    return !this.#ask;
  }

  /** @param {string} site */
  allowsSite(site) {
    return !this.#ask || Boolean(this.#sites?.has(site));
  }

  /** @param {Frame} frame */
  allows(frame) {
    return frame.frameId === 0 || this.allowsSite(frame.site);
  }

  /** @param {Frame} frame */
  require(frame) {
    if (!this.allows(frame)) this.requireSite(frame.site);
  }

  /** @param {string} site of a frame */
  requireSite(site) {
    if (this.allowsSite(site)) return;
    const message = `This is in a frame of ${site}, where this tool is not allowed.`;
    throw new CommandError("permission_off", message, { frameSite: site });
  }
}

/** @typedef {import("./line.js").Line} Line */
/** @import { Context, Reach } from "../shared/command-context.d.ts" */
/** @typedef {import("./line.js").Request} Request */

/**
 * @typedef {object} Commands
 * @property {Promise<unknown>} ready settles when commands may run
 * @property {(name: string, context: Context) => Promise<unknown>} run
 * @property {(params: any, how: Pick<Context, "signal" | "progress">) => Promise<object>} [execute]
 *   calls a tool that a page publishes
 * @property {ReturnType<import("../plugins/plugin-host.js").PluginHost["of"]>} [plugins]
 * @property {() => Promise<void>} reportTabChanges
 * @property {(greeting: any) => void} [learn] takes the server's greeting
 * @property {(params: any) => void} [setOrigins] takes which pages may publish tools
 * @property {typeof import("./input-schema.js").checker} [checker] checks inputs as the server has
 *   declared them; not for one on another machine, whose declarations could keep this worker busy
 * @property {() => void} [reload] starts the extension again
 */

export class Dispatcher {
  /** @type {Map<string, AbortController>} */
  #running = new Map();
  #line;
  #commands;
  #handlers = handlersOf("dispatcher", {
    "sync.full": (params) => this.#greeted(params),
    "tool.dispatch": (params) => this.#dispatch(params),
    "browser/executeTool": (params) => this.#execute(params),
    "tool.cancel": ({ dispatchId }) => this.#cancel(String(dispatchId)),
    "extension.reload": () => this.#commands.reload?.(),
    "pages.origins": (params) => this.#commands.setOrigins?.(params),
    "plugin.update": ({ plugin }) => void this.#plugins((host) => host.update(plugin)),
    "plugin.uninstall": ({ name }) => this.#plugins((host) => host.remove(String(name))),
    pong: () => {},
  });
  /** @type {((command: string, input: unknown) => void) | undefined} set in development mode */
  #check;

  /**
   * @param {Line} line
   * @param {Commands} commands
   */
  constructor(line, commands) {
    this.#line = line;
    this.#commands = commands;
    line.onClosed = () => this.#cancelAll();
  }

  /** @param {Request | import("./line.js").Notification} message */
  receive(message) {
    if (message.kind === "request") void this.#answer(message);
    else this.#handlers.notification.get(message.method)?.(message.params);
  }

  /** @param {any} params */
  #greeted(params) {
    const { maxBytes, commands, plugins } = params;
    this.#commands.learn?.(params);
    void this.#plugins((host) => host.sync(Array.isArray(plugins) ? plugins : []));
    this.#check = commands && this.#commands.checker?.(commands);
    if (Number.isInteger(maxBytes) && maxBytes > 0) this.#line.maxBytes = maxBytes;
  }

  /** @param {string} dispatchId */
  #cancel(dispatchId) {
    const reason = new CommandError("cancelled", "The call was cancelled.");
    this.#running.get(dispatchId)?.abort(reason);
  }

  #cancelAll() {
    for (const dispatchId of this.#running.keys()) this.#cancel(dispatchId);
  }

  /** @param {Request} request */
  async #answer(request) {
    try {
      const result = await this.#run(request);
      if (!this.#line.answer(request.id, result)) throw tooLarge();
    } catch (error) {
      noteFailure(request.params.tool ?? request.method, error);
      this.#line.refuse(request.id, toWire(error));
    }
  }

  /** @param {Request} request */
  async #run({ method, params }) {
    const handler = this.#handlers.request.get(method);
    if (!handler) throw unknown(method);
    return handler(params);
  }

  /** @param {any} params */
  async #execute(params) {
    const { execute } = this.#commands;
    if (!execute) throw unknown("browser/executeTool");
    const progress = this.#progressTeller(params.callId);
    return this.#tracked(params.callId, (signal) => execute(params, { signal, progress }));
  }

  /** @param {any} params */
  async #dispatch(params) {
    if (params.plugin !== "browser") return this.#callPlugin(params);
    this.#check?.(params.tool, params.input ?? {});
    const work = (/** @type {AbortSignal} */ signal) =>
      this.#commands.run(params.tool, this.#contextOf(params, signal));
    return { output: await this.#tracked(params.dispatchId, work) };
  }

  /** @param {Wire.Dispatch} params */
  async #callPlugin(params) {
    const { plugins } = this.#commands;
    if (!plugins) throw unknown("tool.dispatch");
    const progress = this.#progressTeller(params.dispatchId);
    const work = (/** @type {AbortSignal} */ signal) => plugins.call(params, { signal, progress });
    return { output: await this.#tracked(params.dispatchId, work) };
  }

  /**
   * @template T
   * @param {(host: NonNullable<Commands["plugins"]>) => Promise<T>} change
   * @returns {Promise<T | undefined>}
   */
  async #plugins(change) {
    const { plugins, ready } = this.#commands;
    await ready;
    return plugins && change(plugins);
  }

  /**
   * @template T
   * @param {unknown} id by which it may be cancelled
   * @param {(signal: AbortSignal) => Promise<T>} work
   */
  async #tracked(id, work) {
    const controller = new AbortController();
    const key = String(id);
    this.#running.set(key, controller);
    try {
      await this.#commands.ready;
      return await unlessAborted(controller.signal, work);
    } finally {
      this.#running.delete(key);
    }
  }

  /**
   * @param {Wire.Dispatch} params
   * @param {AbortSignal} signal
   * @returns {Context}
   */
  #contextOf({ tabId, input, dispatchId, site, frames, untrusted }, signal) {
    const { reportTabChanges } = this.#commands;
    const progress = this.#progressTeller(dispatchId);
    const where = typeof site === "string" ? { site } : {};
    const ask = (/** @type {string[]} */ sites) =>
      this.#line.request("frames.allowed", { dispatchId, sites });
    const reach = new FrameReach(frames === true ? ask : null);
    const readable = async (/** @type {string[]} */ sites) =>
      (await this.#line.request("frames.allowed", { dispatchId, sites, reading: true })).sites;
    const readFile = (/** @type {number} */ index, /** @type {number} */ offset) =>
      this.#line.request("files.read", { dispatchId, index, offset });
    const how = {
      reach,
      readable,
      signal,
      progress,
      readFile,
      reportTabChanges,
      ask: (/** @type {string} */ method, /** @type {object} */ params) =>
        this.#line.request(method, params),
      maxBytes: this.#line.maxBytes,
      untrusted: untrusted === true,
    };
    // A command that needs a tab checks the number first.
    const tab = /** @type {number} */ (tabId);
    return { tabId: tab, input: input ?? {}, ...where, ...how };
  }

  /**
   * @param {unknown} dispatchId
   * @returns {Context["progress"]}
   */
  #progressTeller(dispatchId) {
    return (progress, total, message) =>
      this.#line.notify("tool.progress", { dispatchId, progress, total, message });
  }
}

/**
 * @param {unknown} tool
 * @param {unknown} error
 */
export function noteFailure(tool, error) {
  if (error instanceof CommandError) note("info", `${tool}: ${error.reason}`);
  else noteFault(error);
}

/** @param {string} method */
function unknown(method) {
  return new CommandError("unknown_command", `${method} is not a method of this extension.`);
}

function tooLarge() {
  return new CommandError("too_large", "The result is larger than the link carries.");
}
