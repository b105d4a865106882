/** Written by `make docs` from `wire/methods.py` and `wire/link_versions.py`. */

/** The version of the protocol, and the oldest version that this extension accepts. */
export const PROTOCOL = 1;
export const OLDEST_PROTOCOL = 1;

/** The sender of each method that the server accepts: this extension, or its panel. */
export const SENDERS = new Map([
  ["tab.syncAll", "extension"],
  ["tab.stateChanged", "extension"],
  ["sync.requestFull", "extension"],
  ["plugin.code", "extension"],
  ["plugin.readiness", "extension"],
  ["plugin.log", "extension"],
  ["panel.changed", "extension"],
  ["browser/registerTools", "extension"],
  ["browser/updateTools", "extension"],
  ["browser/unregisterTools", "extension"],
  ["tool.progress", "extension"],
  ["frames.allowed", "extension"],
  ["files.read", "extension"],
  ["ping", "extension"],
  ["config.getState", "panel"],
  ["confirmation.response", "panel"],
  ["config.setToolPermission", "panel"],
  ["config.setPluginPermission", "panel"],
  ["config.setSkipPermissions", "panel"],
  ["config.setPluginSettings", "panel"],
  ["agent.pause", "panel"],
  ["agents.stop", "panel"],
  ["tab.share", "panel"],
  ["tab.takeBack", "panel"],
  ["grant.revoke", "panel"],
  ["page.pair", "panel"],
  ["config.setPageLevel", "panel"],
  ["plugin.search", "panel"],
  ["plugin.install", "panel"],
  ["plugin.updateFromRegistry", "panel"],
  ["plugin.remove", "panel"],
  ["plugin.removeBySpecifier", "panel"],
  ["plugin.checkUpdates", "panel"],
  ["folder.open", "panel"],
  ["plugin.getReview", "panel"],
  ["plugin.getSource", "panel"],
  ["plugin.approve", "panel"],
]);

/** The receiver of each method that the server sends, and its kind. */
export const RECEIVERS = new Map([
  ["sync.full", "dispatcher notification"],
  ["tool.dispatch", "dispatcher request"],
  ["browser/executeTool", "dispatcher request"],
  ["tool.cancel", "dispatcher notification"],
  ["extension.reload", "dispatcher notification"],
  ["pages.origins", "dispatcher notification"],
  ["plugin.update", "dispatcher notification"],
  ["plugin.uninstall", "dispatcher request"],
  ["pong", "dispatcher notification"],
  ["plugins.changed", "relay notification"],
  ["tool.invocationStart", "relay notification"],
  ["tool.invocationEnd", "relay notification"],
  ["confirmation.request", "relay notification"],
  ["confirmation.closed", "relay notification"],
  ["confirmation.missed", "relay notification"],
  ["state.changed", "relay notification"],
]);
