// Editors as sites use them; `held` says what each holds, by its own API.
import { EditorView, basicSetup } from "codemirror";
import { javascript } from "@codemirror/lang-javascript";
import { baseKeymap } from "prosemirror-commands";
import { history } from "prosemirror-history";
import { keymap } from "prosemirror-keymap";
import { schema } from "prosemirror-schema-basic";
import { EditorState } from "prosemirror-state";
import { EditorView as ProseView } from "prosemirror-view";

const at = (id) => document.getElementById(id);

const code = new EditorView({
  parent: at("cm6"),
  extensions: [basicSetup, javascript()],
});
const plugins = [history(), keymap(baseKeymap)];
const prose = new ProseView(at("prosemirror"), {
  state: EditorState.create({ schema, plugins }),
});
const old = CodeMirror(at("cm5"), { lineNumbers: true, mode: "javascript" });
const quill = new Quill(at("quill"));

window.editors = { code, prose, old, quill };
window.held = {
  cm6: () => code.state.doc.toString(),
  cm5: () => old.getValue(),
  prosemirror: () => prose.state.doc.textBetween(0, prose.state.doc.content.size, "\n", "\n"),
  quill: () => quill.getText().replace(/\n$/, ""),
  plain: () => {
    const selection = getSelection();
    selection.selectAllChildren(at("plain"));
    return selection.toString();
  },
};

require.config({ paths: { vs: "node_modules/monaco-editor/min/vs" } });
require(["vs/editor/editor.main"], (found) => {
  const { editor } = found?.editor ? found : window.monaco;
  const options = { language: "javascript", minimap: { enabled: false } };
  const monaco = editor.create(at("monaco"), { ...options, editContext: true });
  const area = editor.create(at("monaco-area"), {
    ...options,
    editContext: false,
  });
  Object.assign(window.editors, { monaco, area });
  window.held.monaco = () => monaco.getValue();
  window.held["monaco-area"] = () => area.getValue();
  document.title = "ready";
});
