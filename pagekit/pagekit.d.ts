/** A JSON Schema; `{type: "object", ...}`. */
export type Schema = Record<string, unknown>;

export interface ToolResult {
  content: unknown[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export interface CallContext {
  /** Aborted when the agent cancels the call. */
  signal: AbortSignal;
  /** Each report gives the call more time. */
  progress(progress: number, total?: number, message?: string): void;
}

/** Gets arguments that match the schema; returns a result, or any value that JSON can represent. */
export type Handler<Arguments = any> = (arguments_: Arguments, context: CallContext) => unknown;

export interface Annotations {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  consequentialHint?: boolean;
  untrustedContentHint?: boolean;
  /** The tool stays listed when its last tab closes. Only the worker sends this hint. */
  cache?: boolean;
  [more: string]: unknown;
}

export interface ToolOptions {
  title?: string;
  outputSchema?: Schema;
  annotations?: Annotations;
  /** Removes the tool when it is aborted. */
  signal?: AbortSignal;
}

export interface TabInfo {
  tabId: string;
  isActive: boolean;
  url: string;
  title: string;
}

export type Status =
  | { state: "connecting" }
  | { state: "connected" }
  /** The person has not allowed this page yet: tabhub's panel shows them the same code. */
  | { state: "unpaired"; code: string; message: string }
  /** No server answers, or it refuses the site; the worker retries, less and less often. */
  | { state: "waiting"; message: string }
  /** The browser does not let this page reach the person's computer. */
  | { state: "denied"; message: string }
  | { state: "failed"; message: string };

export interface ClientOptions {
  /** The server's URL. Default `ws://127.0.0.1:9515/page`. */
  url?: string;
  /** The URL of this library's own file, on the page's origin; needed if the page is bundled. */
  workerUrl?: string;
  workerType?: "module" | "classic";
}

interface ClientEvents {
  status: CustomEvent<Status>;
}

/** Connects this page to the worker that all tabs of its site share. */
export class WorkerClient extends EventTarget {
  constructor(options?: ClientOptions);
  /** Resolves when the worker knows this tab; from then on its id is final. */
  readonly ready: Promise<void>;
  readonly status: Status;
  registerTool<Arguments = any>(
    name: string,
    description: string,
    schema: Schema | null | undefined,
    handler: Handler<Arguments>,
    options?: ToolOptions,
  ): Promise<void>;
  /** The short form: the words of the name describe the tool, and it takes any arguments. */
  registerTool<Arguments = any>(
    name: string,
    handler: Handler<Arguments>,
    options?: ToolOptions,
  ): Promise<void>;
  unregisterTool(name: string): Promise<void>;
  getTabId(): string;
  getTabInfo(): TabInfo;
  /** The next document in this tab gets a new id. */
  static clearTabId(): void;
  close(): void;
  addEventListener<K extends keyof ClientEvents>(
    type: K,
    listener: (event: ClientEvents[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** Runs in the worker, for all tabs of an origin. */
export class MCPController {
  constructor(lock?: string);
  addPort(port: MessagePort): void;
  handleRegisterTab(
    data: { tabId: string; url: string; title: string; lock?: string; context?: string },
    port: MessagePort,
  ): Promise<void>;
  handleSetActiveTab(data: { tabId: string | null }): void;
}

/**
 * Offers a tool: through the browser's own WebMCP where there is one, otherwise through the worker.
 * Without a `client` all tools share one, which the first call creates with its options.
 */
export function registerTool<Arguments = any>(
  name: string,
  description: string,
  schema: Schema | null | undefined,
  handler: Handler<Arguments>,
  options?: ToolOptions & ClientOptions & { client?: WorkerClient; via?: "worker" },
): Promise<void>;
export function registerTool<Arguments = any>(
  name: string,
  handler: Handler<Arguments>,
  options?: ToolOptions & ClientOptions & { client?: WorkerClient; via?: "worker" },
): Promise<void>;
