/**
 * Loaded before the worker's own script: records, in order, the events and messages that the worker
 * gets from the browser, the pages and the server, and its requests with their answers. See record.py.
 */

const CALLS = {
  contentSettings: [],
  debugger: ["attach", "detach", "getTargets", "sendCommand"],
  downloads: ["search"],
  notifications: ["getAll"],
  scripting: ["executeScript"],
  sessions: ["getRecentlyClosed"],
  tabGroups: ["get", "query", "update"],
  tabs: ["create", "get", "group", "query", "reload", "remove", "ungroup", "update"],
  webNavigation: ["getAllFrames", "getFrame"],
  windows: ["get", "getAll", "getLastFocused", "update"],
};
const EVENTS = {
  debugger: ["onEvent", "onDetach"],
  tabs: ["onCreated", "onUpdated", "onActivated", "onRemoved", "onReplaced"],
  webNavigation: [
    "onBeforeNavigate",
    "onCommitted",
    "onDOMContentLoaded",
    "onCompleted",
    "onErrorOccurred",
    "onHistoryStateUpdated",
    "onReferenceFragmentUpdated",
    "onCreatedNavigationTarget",
  ],
  windows: ["onRemoved", "onFocusChanged"],
};

const recorded = [];
const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
const note = (entry) => {
  const written = plain(entry);
  recorded.push(written);
  return written;
};

for (const [space, names] of Object.entries(CALLS)) {
  for (const name of names) {
    const original = chrome[space][name].bind(chrome[space]);
    chrome[space][name] = (...args) => {
      // Functions that run in a page are not recorded.
      const entry = note({ call: `${space}.${name}`, args: space === "scripting" ? [] : args });
      const answer = original(...args);
      answer.then(
        (value) => (entry.answer = [plain(value)]),
        (error) => (entry.error = String(error?.message ?? error)),
      );
      return answer;
    };
  }
}
for (const [space, names] of Object.entries(EVENTS)) {
  for (const name of names) {
    chrome[space][name].addListener((...args) => void note({ event: `${space}.${name}`, args }));
  }
}

let ports = 0;
chrome.runtime.onConnect.addListener((port) => {
  const number = ++ports;
  const { tab, frameId, origin, url, documentId, documentLifecycle } = port.sender ?? {};
  const sender = { tab: { id: tab?.id }, frameId, origin, url, documentId, documentLifecycle };
  note({ event: "port", port: number, name: port.name, sender });
  const post = port.postMessage.bind(port);
  const asked = new Map();
  port.postMessage = (message) => {
    for (const { id, type } of [message].flat()) asked.set(id, note({ post: number, type }));
    post(message);
  };
  port.onMessage.addListener((message) => {
    const question = message?.type === undefined && asked.get(message?.id);
    if (question) question.answer = [plain({ ...message, id: undefined })];
    else note({ event: "port.message", port: number, message });
  });
  port.onDisconnect.addListener(() => void note({ event: "port.gone", port: number }));
});

class TappedSocket extends WebSocket {
  #asked = new Map();

  constructor(...args) {
    super(...args);
    this.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      const question = message.method === undefined && this.#asked.get(message.id);
      if (question) question.answer = [message];
      else note({ event: "socket", message });
    });
  }

  send(data) {
    const { id, method } = JSON.parse(data);
    const entry = note({ send: method ?? "answer" });
    if (method !== undefined && id !== undefined) this.#asked.set(id, entry);
    super.send(data);
  }
}
self.WebSocket = TappedSocket;
self.recorded = recorded;
self.noteStep = async (step) => void note({ step, state: await self.describeTabState() });
