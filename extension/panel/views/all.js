/** Every view, in the order of the tabs. */

import { audit } from "./audit.js";
import { clients } from "./clients.js";
import { now } from "./now.js";
import { plugins } from "./plugins.js";
import { remote } from "./remote.js";
import { settings } from "./settings.js";
import { tabs } from "./tabs.js";
import { tools } from "./tools.js";

/** @type {View[]} */
export const VIEWS = [now, tabs, tools, plugins, clients, remote, audit, settings];
