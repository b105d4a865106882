/** What the panel itself knows; `Panel`, the messages of the server, is in `wire.d.ts`. */

type RemoteShown = import("../worker/shared/remote-settings.js").RemoteState;
type RemoteLevel = import("../worker/shared/remote-settings.js").Level;
type Diagnosis = import("../worker/link/diagnosis.js").Diagnosis;
type WantedPermission = import("../worker/person/browser-permissions.js").Wanted;
type Described = import("./dom.js").Described;
type Child = Described | readonly Child[] | string | number | null | undefined | false;

/** What the worker answers itself. */
interface OwnRequests {
  "remote.allow": { params: { name: string; level: RemoteLevel | null }; result: {} };
  "remote.setEnded": { params: { isEnded: boolean }; result: {} };
  /** A small picture of a tab that an agent has attached; null if there can be none now. */
  "thumbnail.take": { params: { nativeId: number }; result: { image: string | null } };
  "diagnosis.get": { params: {}; result: Diagnosis };
  "permissions.decline": { params: { name: string }; result: {} };
}
type PanelRequests = Panel.Requests & OwnRequests;

/** Sends the server, or the worker, a request; returns its result, or null if it failed. */
type Ask = <N extends keyof PanelRequests>(
  method: N,
  params: PanelRequests[N]["params"],
) => Promise<PanelRequests[N]["result"] | null>;
/** The same; returns whether it succeeded. */
type Attempt = <N extends keyof PanelRequests>(
  method: N,
  params: PanelRequests[N]["params"],
) => Promise<boolean>;
type Decision = Extract<Panel.ConfirmationResponse["decision"], "allow" | "deny">;
type Scope = Panel.Confirmation["scopes"][number];
type ViewName = "now" | "tabs" | "tools" | "plugins" | "clients" | "remote" | "audit" | "settings";

/** What the worker sends: the server's notifications, and messages of its own. */
interface WorkerMessages extends Omit<Panel.Notifications, "state.changed"> {
  state: Panel.State;
  /** There is no connection to the server. */
  closed: { problem?: string };
  mismatch: { text: string };
  remote: RemoteShown;
  /** What agents need and the browser has not given yet. */
  permissions: { wanted: WantedPermission[] };
  /** The person wants to see this approval: they have pressed its notification. */
  "confirmation.focus": { id: string };
}

/** The tab the person looks at, as the browser knows it. */
interface LookedAt {
  id: number;
  title: string;
  url: string;
}

/** A call as the panel shows it: one without an outcome runs. */
type Call = Panel.InvocationStart & Partial<Panel.InvocationEnd>;

interface Model {
  /** null while there is no connection. */
  server: Panel.State | null;
  /** Why there is none. */
  problem: string;
  /** Which of extension and server is older, and what to do; empty if neither is. */
  mismatch: string;
  lookedAt: LookedAt | null;
  /** Agents on other machines; null until the worker has said it. */
  remote: RemoteShown | null;
  /** What the browser gives only after a press here. */
  permissions: WantedPermission[];
  /** The calls that run now, oldest first. */
  running: Panel.InvocationStart[];
  /** The calls that have ended, oldest first. */
  ended: Call[];
}

/** What a view is given. */
interface App {
  model: Model;
  /** Null while there is no connection. */
  server: Panel.State | null;
  view: ViewName;
  /** Two columns: Now on the left, every other view on the right. */
  isWide: boolean;
  now: number;
  ask: Ask;
  attempt: Attempt;
  /** The same without a message about a failure, for what the person has not asked for. */
  askQuietly: Ask;
  decide: (
    id: string,
    decision: Decision,
    scope?: Scope,
    seconds?: number,
  ) => Promise<Panel.ConfirmationOutcome>;
  open: (view: ViewName) => void;
  /** Show what a view now says, with the next frame. */
  paint: () => void;
  /** The same, before this returns. */
  paintNow: () => void;
}

/** A view is one file: what it shows, and what it asks for when it is opened. */
interface View {
  id: ViewName;
  label: string;
  /** False for what works without a server. */
  needsServer: boolean;
  /** When the person opens it, and when the connection opens. */
  opened?: (app: App) => void;
  /** When the server's state has changed while it is shown. */
  changed?: (app: App) => void;
  render: (app: App) => Child[];
}
