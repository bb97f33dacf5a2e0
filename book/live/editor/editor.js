/* The editor of the pages, of CodeMirror 6: Python, line numbers, undo, brackets that match, a line that is marked.
   tools/bundle_editor.py makes book/_static/editor.js of it; live.js asks for that when a reader presses Edit or Run.
   Its colours and sizes are in live.css, by the classes that CodeMirror and `classHighlighter` give. */
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

// A line is marked until the text changes

const mark = StateEffect.define();   // a line's number, or null

const marked = StateField.define({
  create: () => Decoration.none,
  update(now, transaction) {
    if (transaction.docChanged) now = Decoration.none;
    for (const effect of transaction.effects) {
      if (!effect.is(mark)) continue;
      const { doc } = transaction.state;
      const there = effect.value >= 1 && effect.value <= doc.lines;
      now = there ? Decoration.set(Decoration.line({ class: "pa-error-line" }).range(doc.line(effect.value).from)) : Decoration.none;
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Tab indents by four, a selection as a whole; Escape, then Tab, leaves (CodeMirror's own, which no key may stand before). */
function tab(view) {
  if (!view.state.selection.main.empty) return indentMore(view);
  const { head } = view.state.selection.main, column = head - view.state.doc.lineAt(head).from;
  view.dispatch(view.state.replaceSelection(" ".repeat(4 - (column % 4))), { scrollIntoView: true, userEvent: "input" });
  return true;
}

/** Open an editor in `parent`.

 `keys` are key names with what they do, `changed` is called with the text after every change, `described` is the id
 of the element that tells how Tab is left. */
function open({ parent, source, label, described, keys = {}, changed = () => {} }) {
  const own = Object.entries(keys).map(([key, run]) => ({ key, run: () => { run(); return true; }, preventDefault: true }));
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: source,
      extensions: [
        keymap.of([...own, { key: "Tab", run: tab, shift: indentLess }, ...historyKeymap, ...defaultKeymap]),
        history(), lineNumbers(), highlightSpecialChars(), marked,
        pythonLanguage, indentUnit.of("    "), indentOnInput(), bracketMatching(), syntaxHighlighting(classHighlighter),
        EditorState.tabSize.of(4),
        EditorView.contentAttributes.of({ "aria-label": label, "aria-describedby": described, spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
        EditorView.updateListener.of((update) => { if (update.docChanged) changed(update.state.doc.toString()); }),
      ],
    }),
  });
  return {
    source: () => view.state.doc.toString(),
    set: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    mark: (line) => view.dispatch({ effects: mark.of(line) }),
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}

window.pa.editor = { open };
