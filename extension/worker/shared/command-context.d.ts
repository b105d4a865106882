/** What a command gets when it runs. */

import type { Frame } from "../frames/frames.js";

export interface Context<I = unknown> {
  tabId: number;
  /** What the command was given. */
  input: I;
  /** The site for which the server allowed the command; it must not run on another one. */
  site?: string;
  /** Refuses an address at which this caller may not see a page. */
  requireAddress?: (url: string) => void;
  reach: Reach;
  /** Those of the sites of whose frames the result may say what has changed. */
  readable: (sites: string[]) => Promise<string[]>;
  signal: AbortSignal;
  progress: (progress: number, total: number, message: string) => void;
  /** A piece of a file that the command is to upload, in base64. */
  readFile: (index: number, offset: number) => Promise<{ data: string }>;
  /** Asks the server something. */
  ask: (method: string, params: object) => Promise<unknown>;
  /** The largest message that the server takes. */
  maxBytes: number;
  /** Whether a script may act where the debugger may not be used. */
  untrusted?: boolean;
  /** Reports to the server what has happened to tabs and is not reported yet. */
  reportTabChanges: () => Promise<void>;
}

/** Which frames of a page the command may enter. */
export interface Reach {
  /** Whether no rule depends on the site. */
  readonly isEverywhere: boolean;
  /** Asks the server about the sites of these frames. */
  explore(frames: Frame[], site: string | undefined): Promise<void>;
  learn(sites: Set<string>, site: string | undefined): Promise<void>;
  /** Those of the sites that are allowed; null: all of them. */
  among(places: string[], site: string | undefined): Promise<Set<string> | null>;
  allowsSite(site: string): boolean;
  allows(frame: Frame): boolean;
  require(frame: Frame): void;
  requireSite(site: string): void;
}
