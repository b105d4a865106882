/** What the panel itself knows; `Panel`, the messages of the server, is in `wire.d.ts`. */

type RemoteShown = import("../worker/shared/remote-settings.js").RemoteState;
type RemoteLevel = import("../worker/shared/remote-settings.js").Level;

/** What the worker answers itself. */
interface OwnRequests {
  "remote.allow": { params: { name: string; level: RemoteLevel | null }; result: {} };
  "remote.setEnded": { params: { isEnded: boolean }; result: {} };
}
type PanelRequests = Panel.Requests & OwnRequests;

/** Sends the server, or the worker, a request; returns whether it succeeded. */
type Attempt = <N extends keyof PanelRequests>(
  method: N,
  params: PanelRequests[N]["params"],
) => Promise<boolean>;
type Decision = Extract<Panel.ConfirmationResponse["decision"], "allow" | "deny">;
type Scope = Panel.Confirmation["scopes"][number];

/** What the worker sends: the server's notifications, and messages of its own. */
interface WorkerMessages extends Omit<Panel.Notifications, "state.changed"> {
  state: Panel.State;
  /** There is no connection to the server. */
  closed: { problem?: string };
  mismatch: { text: string };
  remote: RemoteShown;
}

/** The tab the person looks at, as the browser knows it. */
interface LookedAt {
  id: number;
  title: string;
  url: string;
}

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
  /** The calls that run now, oldest first. */
  running: Panel.InvocationStart[];
}
