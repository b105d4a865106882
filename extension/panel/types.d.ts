/** The state that the server sends to a panel; `docs/link.md` describes it. */

type Level = "off" | "ask" | "auto";
type Scope = "once" | "session" | "domain" | "always";

interface ApprovalRequest {
  id: string;
  tool: string;
  title: string;
  plugin: string;
  client: string;
  agent: string;
  session: string;
  tab: { tabId: number; title: string; url: string } | null;
  origin: string | null;
  parameters: Record<string, unknown>;
  rule: string;
  scopes: Scope[];
  /** Milliseconds since 1970. */
  expiresAt: number;
}

interface AgentState {
  session: string;
  name: string;
  client: string;
  color: string;
  paused: boolean;
  /** It writes its answer to the person. */
  answering: boolean;
  current: number | null;
  tabs: number[];
}

interface TabState {
  tabId: number;
  nativeId: number;
  browser: string;
  title: string;
  url: string;
  active: boolean;
  focusedWindow: boolean;
  owner: string | null;
  shared: boolean;
}

interface ToolState {
  name: string;
  title: string;
  plugin: string;
  /** Whose page publishes it; empty for all others. */
  site: string;
  /** null: not set, a more general rule decides. */
  permission: Level | null;
  effective: Level;
}

interface GrantState {
  id: string;
  scope: Scope;
  tool: string;
  client: string;
  site: string | null;
  expires: number | null;
}

/** A page that wants to offer its tools without the extension. */
interface PairingRequest {
  origin: string;
  /** The page shows it too. */
  code: string;
}

interface ServerState {
  browser: string;
  kind: "managed" | "personal";
  skipPermissions: boolean;
  stopped: boolean;
  agents: AgentState[];
  tabs: TabState[];
  confirmations: ApprovalRequest[];
  tools: ToolState[];
  toolsLeftOut: number;
  grants: GrantState[];
  knocks: PairingRequest[];
  unattended: string;
  policyFile: string | null;
}

/** Sends the server a request; returns whether it succeeded. */
type Attempt = (method: string, params: object) => Promise<boolean>;
type Decision = "allow" | "deny";
type Outcome = { accepted: boolean; outcome: string };

/** The tab the person looks at, as the browser knows it. */
interface LookedAt {
  id: number;
  title: string;
  url: string;
}

interface Model {
  /** null while there is no connection. */
  server: ServerState | null;
  /** Why there is none. */
  problem: string;
  /** Which of extension and server is older, and what to do; empty if neither is. */
  mismatch: string;
  lookedAt: LookedAt | null;
}
