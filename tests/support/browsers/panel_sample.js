/**
 * Runs in the panel's page before its own scripts: instead of the worker, this answers, with the
 * state of a person's ordinary afternoon. `OPTIONS` is replaced by an object.
 */
(() => {
  const options = OPTIONS;
  const now = Date.now();
  const MINUTE = 60_000;
  const BROWSER = "browser-of-the-panel";

  const agent = (session, name, client, color, current, tabs, more = {}) => ({
    session,
    name,
    client,
    color,
    paused: false,
    answering: false,
    connected: true,
    lastSeen: now - 2000,
    current,
    tabs,
    ...more,
  });
  const tab = (tabId, title, url, owner, more = {}) => ({
    tabId,
    nativeId: 1000 + tabId,
    browser: BROWSER,
    title,
    url,
    active: false,
    focusedWindow: true,
    owner,
    shared: false,
    status: "complete",
    tools: 0,
    paused: false,
    ...more,
  });
  const tabs = [
    tab(11, "Your basket – Tea & Kettle", "https://shop.example/basket", "s1", { tools: 3 }),
    tab(12, "Oolong, 100 g – Tea & Kettle", "https://shop.example/tea/oolong", "s1"),
    tab(13, "Pull requests · acme/website", "https://code.example/acme/website/pulls", "s2"),
    tab(14, "Quarterly report – Sheets", "https://sheets.example/d/1f7", null, { shared: true }),
    tab(15, "Inbox (12) – Mail", "https://mail.example/inbox", null, { active: true }),
    tab(16, "Timetable – City trains", "https://trains.example/from/north", null),
  ];
  const agents = [
    agent("s1", "Shopping helper", "laptop", "purple", 11, [11, 12]),
    agent("s2", "Code reviewer", "editor", "orange", 13, [13], { answering: true }),
    agent("s3", "Nightly report", "cron", "cyan", null, [], {
      connected: false,
      lastSeen: now - 9 * 60 * MINUTE,
    }),
  ];

  const TOOLS = [
    ["browser_click_element", "Click", "browser", null, "auto"],
    ["browser_execute_script", "Run a script", "browser", "ask", "ask"],
    ["browser_fill_form", "Fill in a form", "browser", null, "auto"],
    ["browser_get_cookies", "Read cookies", "browser", null, "ask"],
    ["browser_list_tabs", "List tabs", "browser", null, "auto"],
    ["browser_navigate_tab", "Go to an address", "browser", null, "auto"],
    ["browser_open_tab", "Open a tab", "browser", null, "auto"],
    ["browser_read_page", "Read the page", "browser", null, "auto"],
    ["browser_screenshot", "Take a screenshot", "browser", null, "auto"],
    ["notes_add", "Add a note", "notes", "auto", "auto"],
    ["notes_delete", "Delete a note", "notes", "off", "off"],
    ["notes_search", "Search notes", "notes", null, "ask"],
  ].map(([name, title, plugin, permission, effective]) => ({
    name,
    title,
    plugin,
    site: "",
    permission,
    effective,
  }));
  for (const name of ["add_to_basket", "search_products", "check_out"]) {
    TOOLS.push({
      name: `website_tool_${name}`,
      title: name.replaceAll("_", " "),
      plugin: "",
      site: "shop.example",
      permission: null,
      effective: "ask",
    });
  }
  for (let index = TOOLS.length; index < (options.tools ?? 0); index++) {
    TOOLS.push({
      ...TOOLS[index % 12],
      name: `browser_more_${index}`,
      title: `Tool number ${index}`,
    });
  }

  const confirmation = (id, words, tool, title, more) => ({
    id,
    tool,
    title,
    words,
    hasTarget: true,
    plugin: "browser",
    client: "laptop",
    agent: "Shopping helper",
    session: "s1",
    tab: { tabId: 11, title: tabs[0].title, url: tabs[0].url },
    origin: "https://shop.example",
    parameters: { ref: "e41" },
    rule: "default of what changes something in a person's own browser = ask",
    why: "it can change something, in your own browser.",
    scopes: ["once", "session", "site_session", "domain", "site", "always"],
    expiresAt: now + 104_000,
    ...more,
  });
  const CONFIRMATIONS = [
    confirmation(
      "c1",
      "Click the button “Place order” on shop.example",
      "browser_click_element",
      "Click",
      {},
    ),
    confirmation("c2", "Run a script on code.example", "browser_execute_script", "Run a script", {
      hasTarget: false,
      client: "editor",
      agent: "Code reviewer",
      session: "s2",
      tab: { tabId: 13, title: tabs[2].title, url: tabs[2].url },
      origin: "https://code.example",
      parameters: {
        code: "const open = [...document.querySelectorAll('.review:not(.done)')];\nreturn open.map((one) => [one.dataset.id, one.innerText.trim()]);",
      },
      rule: "permissions.tools.browser_execute_script = ask (config.json)",
      why: "you have set this tool to ask.",
      scopes: ["once", "session", "domain"],
      expiresAt: now + 71_000,
    }),
  ];

  const call = (id, seconds, session, tool, title, tabId, more = {}) => ({
    id,
    tool,
    title,
    plugin: "browser",
    session,
    client: session === "s1" ? "laptop" : "editor",
    agent: session === "s1" ? "Shopping helper" : "Code reviewer",
    tabId,
    startedAt: now - seconds * 1000,
    outcome: "done",
    reason: null,
    denied: false,
    durationMs: 38,
    bytes: 1240,
    ...more,
  });
  const CALLS = [
    call("k1", 190, "s2", "browser_open_tab", "Open a tab", 13, { durationMs: 1240, bytes: 2100 }),
    call("k2", 171, "s2", "browser_read_page", "Read the page", 13, {
      durationMs: 61,
      bytes: 9800,
    }),
    call("k3", 95, "s1", "browser_navigate_tab", "Go to an address", 12, {
      durationMs: 820,
      bytes: 3400,
    }),
    call("k4", 80, "s1", "browser_find", "Find on the page", 12, { durationMs: 24, bytes: 610 }),
    call("k5", 62, "s1", "browser_click_element", "Click", 12, { durationMs: 92, bytes: 480 }),
    call("k6", 44, "s2", "browser_get_cookies", "Read cookies", 13, {
      outcome: "refused",
      reason: "permission_denied",
      denied: true,
      durationMs: 5200,
      bytes: 0,
    }),
    call("k7", 31, "s1", "browser_read_page", "Read the page", 11, { durationMs: 55, bytes: 5300 }),
    call("k8", 12, "s2", "browser_wait_for_element", "Wait for element", 13, {
      outcome: "failed",
      reason: "timeout",
      durationMs: 10_000,
      bytes: 0,
    }),
  ];
  const RUNNING = [
    (({ outcome, reason, denied, durationMs, bytes, ...start }) => start)(
      call("k9", 3, "s2", "browser_screenshot", "Take a screenshot", 13),
    ),
  ];

  const PLUGINS = [
    {
      name: "notes",
      title: "Notes",
      description: "Read, search and write the notes of your team.",
      package: "opentabs-plugin-notes",
      version: "1.4.0",
      source: "installed",
      folder: "/home/ada/.tabhub/plugins/notes",
      urlPatterns: ["https://notes.example/*"],
      excludePatterns: [],
      homepage: "",
      tools: 3,
      hasPreScript: false,
      hasSettings: true,
      review: "reviewed",
      trusted: false,
      reviewedVersion: "1.4.0",
      closed: null,
      settings: [
        {
          key: "site",
          type: "url",
          label: "Site",
          description: "Where your notes are.",
          required: true,
          options: [],
          isSet: true,
        },
        {
          key: "token",
          type: "string",
          label: "Token",
          description: "",
          required: false,
          options: [],
          isSet: false,
        },
      ],
      waitingVersion: "1.5.0",
      latestVersion: null,
      tabs: [{ tabId: 16, ready: true, reason: null, message: "" }],
    },
    {
      name: "calendar",
      title: "Calendar",
      description: "Appointments of one week.",
      package: "opentabs-plugin-calendar",
      version: "0.9.2",
      source: "installed",
      folder: "/home/ada/.tabhub/plugins/calendar",
      urlPatterns: ["https://calendar.example/*"],
      excludePatterns: [],
      homepage: "",
      tools: 5,
      hasPreScript: false,
      hasSettings: false,
      review: "never",
      trusted: false,
      reviewedVersion: null,
      closed: "not_reviewed",
      settings: [],
      waitingVersion: null,
      latestVersion: null,
      tabs: [],
    },
  ];

  const STATE = {
    browser: BROWSER,
    kind: "personal",
    skipPermissions: false,
    stopped: false,
    unattended: "deny",
    policyFile: null,
    agents,
    tabs,
    confirmations: options.approvals ? CONFIRMATIONS : [],
    tools: TOOLS,
    toolsLeftOut: 0,
    plugins: PLUGINS,
    failedPlugins: [],
    grants: [
      {
        id: "g1",
        scope: "site_session",
        tool: "*",
        client: "laptop",
        site: "shop.example",
        expires: null,
      },
      {
        id: "g2",
        scope: "domain",
        tool: "browser_execute_script",
        client: "editor",
        site: "code.example",
        expires: now + 86_400_000,
      },
    ],
    knocks: [],
    pages: [{ origin: "https://notes.example", level: "auto" }],
  };

  const auditRow = (id, seconds, who, tool, words, more = {}) => ({
    id,
    time: now - seconds * 1000,
    who,
    client: who === "you" ? "" : who,
    tool,
    title: words,
    words,
    tab: 11,
    site: "shop.example",
    outcome: "done",
    reason: null,
    denied: false,
    durationMs: 41,
    bytes: 1800,
    arguments: { ref: "e41" },
    rule: "allowed: everything on shop.example, this session",
    ...more,
  });
  const AUDIT = [
    auditRow("r9", 12, "laptop", "browser_click_element", "Click"),
    auditRow(
      "r8",
      14,
      "you",
      "confirmation.response",
      "you allowed “Click” for laptop on shop.example",
      { durationMs: null, bytes: null, arguments: {} },
    ),
    auditRow("r7", 44, "editor", "browser_get_cookies", "Read cookies", {
      outcome: "refused",
      reason: "permission_denied",
      denied: true,
      site: "code.example",
    }),
    auditRow(
      "r6",
      45,
      "you",
      "confirmation.response",
      "you denied “Read cookies” for editor on code.example",
      { denied: true, durationMs: null, bytes: null, site: "code.example" },
    ),
    auditRow("r5", 62, "laptop", "browser_read_page", "Read the page", { bytes: 5300 }),
    auditRow("r4", 95, "laptop", "browser_navigate_tab", "Go to an address", { durationMs: 820 }),
    auditRow("r3", 171, "editor", "browser_wait_for_element", "Wait for element", {
      outcome: "failed",
      reason: "timeout",
      durationMs: 10_000,
      site: "code.example",
    }),
    auditRow("r2", 190, "you", "tab.share", "you shared the tab “Quarterly report”", {
      durationMs: null,
      bytes: null,
      site: "sheets.example",
    }),
    auditRow("r1", 230, "editor", "browser_open_tab", "Open a tab", { site: "code.example" }),
  ];
  const rowOf = (index) =>
    index < AUDIT.length
      ? AUDIT[index]
      : auditRow(
          `old-${index}`,
          240 + index,
          "laptop",
          "browser_read_page",
          `Read page number ${index}`,
        );
  const auditPage = ({ limit, before, text, outcome }) => {
    const count = options.auditRows ?? AUDIT.length;
    const all = Array.from({ length: count }, (_, index) => rowOf(index)).filter(
      (row) => (!text || row.words.includes(text)) && (!outcome || row.outcome === outcome),
    );
    const start = Number(before ?? 0);
    const next = start + limit < all.length ? String(start + limit) : null;
    return { rows: all.slice(start, start + limit), next };
  };

  const setting = (key, type, value, about, more = {}) => ({
    key,
    value,
    default: value,
    type,
    choices: [],
    about,
    lockedBy: null,
    waits: false,
    ...more,
  });
  const SETTINGS = [
    setting("limits.callSeconds", "number", 60, "The longest time that a call may take."),
    setting("limits.approvalSeconds", "number", 300, "How long a question waits for you.", {
      default: 120,
    }),
    setting(
      "unattended",
      "choice",
      "deny",
      "The answer to a question where no person's browser is connected.",
      { choices: ["deny", "allow"] },
    ),
    setting(
      "recording.consoleEntries",
      "number",
      1000,
      "Console messages that are kept for each tab.",
    ),
    setting("proxy.enabled", "boolean", false, "Whether other machines may connect.", {
      lockedBy: "TABHUB_PROXY",
    }),
  ];

  const CLIENTS = {
    clients: [
      {
        name: "main",
        kind: "main",
        created: null,
        lastSeen: now - 3 * 60 * MINUTE,
        sessions: 0,
        toolsets: [],
        readOnly: false,
        revocable: false,
      },
      {
        name: "laptop",
        kind: "token",
        created: now - 9 * 86_400_000,
        lastSeen: now - 2000,
        sessions: 1,
        toolsets: [],
        readOnly: false,
        revocable: true,
      },
      {
        name: "editor",
        kind: "token",
        created: now - 2 * 86_400_000,
        lastSeen: now - 3000,
        sessions: 1,
        toolsets: ["core", "network"],
        readOnly: false,
        revocable: true,
      },
      {
        name: "cron",
        kind: "token",
        created: now - 40 * 86_400_000,
        lastSeen: now - 9 * 60 * MINUTE,
        sessions: 0,
        toolsets: ["core"],
        readOnly: true,
        revocable: true,
      },
    ],
    connect: [
      { agent: "Claude Code", command: "tabhub connect claude-code" },
      { agent: "Codex", command: "tabhub connect codex" },
      { agent: "VS Code", command: "tabhub connect vscode" },
      { agent: "Any MCP client", command: "tabhub connect --print" },
    ],
  };

  const DESCRIPTION = {
    name: "browser_click_element",
    title: "Click",
    description:
      "Click an element, by its ref, a selector or words. The result says what has changed on the page.",
    readOnly: false,
    careful: false,
    toolsets: ["core"],
    needsTab: true,
    secretArguments: [],
    inputSchema: {
      type: "object",
      properties: {
        ref: { type: "string", description: "The element's ref in the last reading." },
        find: { type: "string", description: "Words that name it." },
        button: { enum: ["left", "middle", "right"], description: "The mouse button." },
        clickCount: { type: "integer", description: "How often." },
      },
    },
  };

  const REVIEW = {
    plugin: "notes",
    package: "opentabs-plugin-notes",
    version: "1.5.0",
    title: "Notes",
    description: "Read, search and write the notes of your team.",
    source: "installed",
    folder: "/home/ada/.tabhub/plugins/notes",
    homepage: null,
    urlPatterns: ["https://notes.example/*"],
    defaultAddresses: [],
    excludePatterns: [],
    hasPreScript: false,
    settings: ["site", "token"],
    language: "javascript",
    hosts: [],
    readsCookies: false,
    warning:
      "Its code runs in these pages as if it were theirs: it can do there whatever you can do.",
    tools: [{ name: "search", description: "Search notes." }],
    files: [
      {
        name: "dist/adapter.iife.js",
        bytes: 18_204,
        sha256: "9f2c41d07be36a5524c1a0e8d35b7f6091a2c3d4e5f60718293a4b5c6d7e8f90",
        changes: [
          "@@ -40,4 +40,6 @@",
          " async search(words) {",
          "-  return this.get('/search?q=' + words);",
          "+  const query = new URLSearchParams({ q: words });",
          "+  return this.get('/search?' + query);",
          " }",
        ],
      },
    ],
    review: "changed",
    reviewedVersion: "1.4.0",
  };

  function picture(title, color) {
    const canvas = Object.assign(document.createElement("canvas"), { width: 256, height: 160 });
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, 256, 160);
    context.fillStyle = color;
    context.fillRect(0, 0, 256, 22);
    context.fillStyle = "#222";
    context.font = "bold 15px sans-serif";
    context.fillText(title, 12, 48);
    context.fillStyle = "#d8dce2";
    for (let line = 0; line < 6; line++)
      context.fillRect(12, 62 + line * 15, 220 - ((line * 37) % 90), 8);
    return canvas.toDataURL("image/jpeg", 0.7);
  }
  const PICTURES = {
    1011: ["Your basket", "#7a5230"],
    1012: ["Oolong", "#7a5230"],
    1013: ["Pull requests", "#24292f"],
  };

  const REMOTE = options.remote
    ? {
        state: "open",
        hosts: "proxy.example.com",
        isManaged: false,
        clients: [
          { name: "office-desktop", level: "act", connections: 1 },
          { name: "phone", level: "look", connections: 0 },
          { name: "unknown-laptop", level: null, connections: 1 },
        ],
      }
    : { state: "none", hosts: "", isManaged: false, clients: [] };

  const answers = {
    "config.getState": () => {
      if (options.closed) throw new Error("There is no connection to the server.");
      return STATE;
    },
    "calls.recent": () => ({ calls: options.firstRun ? [] : CALLS }),
    "clients.list": () => CLIENTS,
    "settings.list": () => ({ settings: SETTINGS }),
    "audit.list": auditPage,
    "audit.export": ({ format }) => ({
      text: format === "csv" ? "time,who\n" : "{}\n",
      next: null,
    }),
    "tool.describe": ({ tool }) => ({ ...DESCRIPTION, name: tool }),
    "tool.run": () => ({
      isError: false,
      text: "Clicked. The page shows 1 more item in the basket.",
      image: null,
    }),
    "plugin.getReview": () => REVIEW,
    "plugin.logs": () => ({ lines: [{ time: now - 3 * MINUTE, level: "info", text: "ready" }] }),
    "thumbnail.take": ({ nativeId }) => ({
      image: nativeId in PICTURES ? picture(...PICTURES[nativeId]) : null,
    }),
    "diagnosis.get": () => ({
      why: "No server answers on port 9515. Is tabhub running?",
      command: "tabhub start",
      source:
        "Port 9515 comes from a file that tabhub wrote into the extension's folder; the options are not used.",
      isKnown: true,
      isPackaged: true,
    }),
  };

  // Everything that a stranger could have written says the same.
  const TEXTS = new Set(
    "name title client agent words description about message rule why package version folder label hosts reason code text key warning".split(
      " ",
    ),
  );
  const spoil = (value, name) => {
    if (typeof value === "string") return TEXTS.has(name) ? options.hostile + value : value;
    if (Array.isArray(value)) return value.map((one) => spoil(one, name));
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, spoil(one, key)]));
  };
  // The worker cuts these names.
  const remoteOf = (remote) => ({
    ...remote,
    clients: remote.clients.map((client) => ({ ...client, name: client.name.slice(0, 100) })),
  });
  const answer = (method, params) => {
    const result = answers[method]?.(params) ?? {};
    return options.hostile ? spoil(result) : result;
  };

  const listeners = new Set();
  const send = (message) => listeners.forEach((listener) => listener(message));
  globalThis.sample = {
    send: (method, params) => send({ method, params }),
    STATE,
    CONFIRMATIONS,
    asked: [],
  };
  if (options.firstRun) {
    agents.length = 0;
    STATE.confirmations = [];
  }

  chrome.runtime.connect = () => {
    setTimeout(() => {
      send({ method: "remote", params: options.hostile ? remoteOf(spoil(REMOTE)) : REMOTE });
      if (!options.firstRun && !options.closed)
        RUNNING.forEach((params) => send({ method: "tool.invocationStart", params }));
    });
    return {
      onMessage: { addListener: (listener) => listeners.add(listener) },
      onDisconnect: { addListener: () => {} },
      postMessage: ({ id, method, params }) => {
        if (!method) return;
        globalThis.sample.asked.push([method, params]);
        setTimeout(() => {
          try {
            send({ id, result: answer(method, params) });
          } catch (error) {
            send({ id, error: error.message });
          }
        });
      },
    };
  };
  const stored = { firstRunDone: !options.firstRun };
  chrome.storage.local.get = async () => stored;
  chrome.storage.local.set = async (values) => void Object.assign(stored, values);
  chrome.tabs.query = async () => [
    {
      id: 1015,
      title: tabs[4].title,
      url: tabs[4].url,
      active: true,
      windowId: 1,
      lastAccessed: now,
    },
  ];
})();
