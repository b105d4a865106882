/** A JSON Schema; `{type: "object", ...}`. */
export type Schema = Record<string, unknown>;

export interface ToolResult {
  content: unknown[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export interface CallContext {
  /** Aborted when the agent takes the call back. */
  signal: AbortSignal;
  /** Each report gives the call more time. */
  progress(progress: number, total?: number, message?: string): void;
}

/** Gets the arguments as the schema has them; returns a result, or anything JSON can hold. */
export type Handler<Arguments = any> = (arguments_: Arguments, context: CallContext) => unknown;

export interface Annotations {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  consequentialHint?: boolean;
  untrustedContentHint?: boolean;
  /** The tool stays listed when its last tab closes; only the worker tells it. */
  cache?: boolean;
  [more: string]: unknown;
}

export interface ToolOptions {
  title?: string;
  outputSchema?: Schema;
  annotations?: Annotations;
  /** Takes the tool away when it is aborted. */
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
  /** The person has yet to allow this site: they see the same code in tabhub's panel. */
  | { state: "unpaired"; code: string; message: string }
  /** Nobody answers; tried again, less and less often. */
  | { state: "waiting"; message: string }
  /** The browser does not let this page reach the person's computer. */
  | { state: "denied"; message: string }
  | { state: "failed"; message: string };

export interface ClientOptions {
  /** The server. Default `ws://127.0.0.1:9515/page`. */
  url?: string;
  /** Where this library's own file is, of the same origin as the page; needed after bundling. */
  workerUrl?: string;
  workerType?: "module" | "classic";
}

interface ClientEvents {
  status: CustomEvent<Status>;
}

/** This page among the tabs of its site. */
export class WorkerClient extends EventTarget {
  constructor(options?: ClientOptions);
  /** Fulfilled when the worker knows this tab; its id is certain from then on. */
  readonly ready: Promise<void>;
  readonly status: Status;
  registerTool<Arguments = any>(
    name: string,
    description: string,
    schema: Schema | null | undefined,
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

/** What runs in the worker, for all tabs of an origin. */
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
 * Offer a tool: by the browser's own WebMCP where there is one, else by the worker. Without a
 * `client` all tools share one, which the first call makes by its options.
 */
export function registerTool<Arguments = any>(
  name: string,
  description: string,
  schema: Schema | null | undefined,
  handler: Handler<Arguments>,
  options?: ToolOptions & ClientOptions & { client?: WorkerClient; via?: "worker" },
): Promise<void>;
