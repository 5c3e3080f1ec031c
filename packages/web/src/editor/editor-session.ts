/**
 * A session in which a block is edited: a merge document joined to the kernel's by updates, and a text editor joined to the
 * document. It has a life: from the first state that arrives until it is closed.
 *
 * The document writes under a random id with the high bit set: lower ones are the kernel's own.
 */

import { ownEnv } from "@blockyard/client";
import { type BlockId, type CallerRole, type Cursor, isProblem, may, type Problem } from "@blockyard/kernel";
import { EditorState, type Transaction } from "@codemirror/state";
import { EditorView, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { yCollab, ySyncAnnotation } from "y-codemirror.next";
import * as Y from "yjs";
import { undo } from "../actions/actions.ts";
import { noteEdit } from "../actions/my-edits.ts";
import { takeEarly } from "../state/invitation.ts";
import { notify, unsavedEdits } from "../state/page-state.ts";
import type { Session } from "../state/session.tsx";
import { coloured } from "./colours.ts";
import { CHANGE_BYTES, CURSOR_AGAIN_MS, CURSOR_MS, LARGE_BYTES, SEND_MS } from "./limits.ts";
import { remoteCursors, setCursors } from "./remote-cursors.ts";

const REMOTE = "remote";

interface EditorEvents {
  readonly opened: () => void;
  readonly refused: (message: string) => void;
  readonly close: () => void;
}

/** How the text looks and is called. */
interface EditorLook {
  readonly label: string;
  /** With line numbers, without wrapping, and with a Tab that indents. */
  readonly isFile: boolean;
  /** What it is coloured by. */
  readonly grammar?: string | undefined;
}

const BLOCK_LOOK: EditorLook = { label: "Block text", isFile: false };
const INDENT = "  ";

export class EditorSession {
  readonly #session: Session;
  readonly #block: BlockId;
  readonly #events: EditorEvents;
  readonly #look: EditorLook;
  readonly #doc = new Y.Doc();
  readonly #text: Y.Text;
  readonly #root: ShadowRoot;
  #editor: EditorView | undefined;
  #unsent: Uint8Array[] = [];
  #sendTimer: ReturnType<typeof setTimeout> | undefined;
  #cursorTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #again: ReturnType<typeof setInterval>;
  /** The kernel missed something: with its next state, all that it lacks is sent. */
  #isBehind = false;

  constructor(
    session: Session,
    block: BlockId,
    host: HTMLElement,
    events: EditorEvents,
    look: EditorLook = BLOCK_LOOK,
  ) {
    this.#session = session;
    this.#block = block;
    this.#events = events;
    this.#look = look;
    this.#doc.clientID = (ownEnv.random() | 0x80000000) >>> 0;
    this.#text = this.#doc.getText("t");
    this.#root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    this.#doc.on("update", (update: Uint8Array, origin: unknown) => {
      if (origin === REMOTE) return;
      noteEdit(this.#block);
      this.#queue(update);
    });
    this.#again = setInterval(() => this.#tellCursor(), CURSOR_AGAIN_MS);
    this.#sync();
  }

  /** Other people's and agents' places. */
  showCursors(cursors: readonly Cursor[]): void {
    this.#editor?.dispatch({ effects: setCursors.of(cursors) });
  }

  close(): void {
    this.#send();
    clearInterval(this.#again);
    clearTimeout(this.#cursorTimer);
    this.#session.replica.unsync(this.#block);
    void this.#session.ask("cursor.set", {});
    this.#editor?.destroy();
    this.#doc.destroy();
  }

  #sync(): void {
    this.#session.replica.sync(this.#block, {
      update: (update) => this.#receive(update),
      refused: (problem) => this.#events.refused(problem.message),
    });
  }

  #receive(update: Uint8Array): void {
    Y.applyUpdate(this.#doc, update, REMOTE);
    if (this.#isBehind) {
      this.#isBehind = false;
      this.#queue(Y.encodeStateAsUpdate(this.#doc, Y.encodeStateVectorFromUpdate(update)));
    }
    if (this.#editor) return;
    this.#open();
    this.#events.opened();
  }

  #open(): void {
    const { replica } = this.#session;
    const undoMine = (direction: "undo" | "redo") => () => {
      this.#send();
      void undo(this.#session, this.#block, direction);
      return true;
    };
    const done = () => {
      this.#events.close();
      return true;
    };
    this.#editor = new EditorView({
      root: this.#root,
      parent: this.#root,
      state: EditorState.create({
        doc: this.#text.toString(),
        extensions: [
          yCollab(this.#text, null, { undoManager: false }),
          remoteCursors,
          EditorState.changeFilter.of((change) => this.#fits(change)),
          this.#look.isFile ? [lineNumbers(), highlightActiveLineGutter()] : EditorView.lineWrapping,
          this.#look.grammar === undefined ? [] : coloured(`${this.#block}:editor`, this.#look.grammar),
          EditorView.contentAttributes.of({
            "aria-label": this.#look.label,
            spellcheck: "false",
            tabindex: "0",
          }),
          EditorView.updateListener.of((update) => {
            if (update.selectionSet || update.docChanged) this.#tellCursorSoon();
          }),
          keymap.of([
            { key: "Mod-z", run: undoMine("undo") },
            { key: "Mod-y", run: undoMine("redo") },
            { key: "Mod-Shift-z", run: undoMine("redo") },
            { key: "Escape", run: done },
            { key: "Mod-Enter", run: done },
            ...(this.#look.isFile
              ? [
                  { key: "Tab", run: indent },
                  { key: "Enter", run: breakLine },
                ]
              : []),
          ]),
          theme,
        ],
      }),
    });
    const early = takeEarly();
    if (replica.self && !may(replica.self.role as CallerRole, "edit")) return;
    this.#editor.focus();
    if (early !== "")
      this.#editor.dispatch(this.#editor.state.replaceSelection(early), { userEvent: "input" });
  }

  /** What would not fit into a frame is refused where it is pasted: nothing is shown that cannot be kept. */
  #fits(change: Transaction): boolean {
    let bytes = 0;
    change.changes.iterChanges((_fromA, _toA, _fromB, _toB, inserted) => {
      bytes += inserted.length * 3 > CHANGE_BYTES ? bytesOf(inserted.toString()) : inserted.length;
    });
    if (bytes <= CHANGE_BYTES || change.annotation(ySyncAnnotation) !== undefined) return true;
    notify(`Couldn't paste: at most ${CHANGE_BYTES / 1000} KB fit at once. Paste it in parts.`, true);
    return false;
  }

  #queue(update: Uint8Array): void {
    // Large ones go out alone: together they might not fit.
    const isLarge = update.length > LARGE_BYTES;
    if (isLarge) this.#send();
    this.#unsent.push(update);
    if (isLarge) return this.#send();
    this.#sendTimer ??= setTimeout(() => this.#send(), SEND_MS);
  }

  #send(): void {
    clearTimeout(this.#sendTimer);
    this.#sendTimer = undefined;
    if (this.#unsent.length === 0) return;
    const update = Y.mergeUpdates(this.#unsent);
    this.#unsent = [];
    unsavedEdits.change((count) => count + 1);
    void this.#session.replica.update(this.#block, update).then((answer) => {
      unsavedEdits.change((count) => count - 1);
      if (isProblem(answer)) this.#failed(answer);
    });
  }

  #failed(problem: Problem): void {
    this.#isBehind = true;
    // What was written stays in the editor: with the next change all of it is sent again.
    if (problem.problem !== "stale")
      return notify(`Couldn't save: ${problem.message}. Your text is still here.`, true);
    this.#sync();
  }

  #tellCursorSoon(): void {
    this.#cursorTimer ??= setTimeout(() => this.#tellCursor(), CURSOR_MS);
  }

  #tellCursor(): void {
    clearTimeout(this.#cursorTimer);
    this.#cursorTimer = undefined;
    const selection = this.#editor?.state.selection.main;
    if (!selection) return;
    this.#send();
    void this.#session.ask("cursor.set", {
      block_id: this.#block,
      head: { offset: selection.head },
      anchor: { offset: selection.anchor },
    });
  }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function indent(view: EditorView): boolean {
  view.dispatch(view.state.replaceSelection(INDENT), { scrollIntoView: true, userEvent: "input" });
  return true;
}

/** A new line begins as far in as the one before. */
function breakLine(view: EditorView): boolean {
  const { from } = view.state.selection.main;
  const line = view.state.doc.lineAt(from);
  const deep = /^[ \t]*/.exec(line.text.slice(0, from - line.from))?.[0] ?? "";
  view.dispatch(view.state.replaceSelection(`\n${deep}`), { scrollIntoView: true, userEvent: "input" });
  return true;
}

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "transparent", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  // A name that has no room behind its line is cut off, and makes nothing wider.
  ".cm-content": {
    fontFamily: "var(--mono)",
    caretColor: "var(--accent)",
    padding: "8px 0",
    overflowX: "clip",
  },
  ".cm-line": { padding: "0 10px" },
  ".cm-gutters": {
    color: "var(--faint)",
    backgroundColor: "transparent",
    border: "0",
    fontFamily: "var(--mono)",
  },
  ".cm-activeLineGutter": { color: "var(--text)", backgroundColor: "transparent" },
  ".t-keyword": { color: "var(--t-keyword)" },
  ".t-string, .t-string-expression": { color: "var(--t-string)" },
  ".t-constant": { color: "var(--t-constant)" },
  ".t-comment": { color: "var(--t-comment)" },
  ".t-function": { color: "var(--t-function)" },
  ".t-parameter": { color: "var(--t-parameter)" },
  ".t-link": { color: "var(--t-link)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)" },
  ".remote-cursor": {
    position: "relative",
    borderLeft: "2px solid",
    marginLeft: "-1px",
    marginRight: "-1px",
  },
  // Wide enough to be pointed at.
  ".remote-cursor::before": { content: '""', position: "absolute", inset: "0 -6px" },
  ".remote-cursor:hover::after": { position: "absolute", left: "-2px", top: "-1.35em", zIndex: "1" },
  ".remote-cursor:hover::after, .remote-name::after": {
    content: "attr(data-agent)",
    padding: "0 4px",
    borderRadius: "3px",
    font: "11px var(--sans)",
    lineHeight: "1.4",
    whiteSpace: "nowrap",
    color: "#fff",
    backgroundColor: "var(--writer)",
  },
  ".remote-names": {
    display: "inline-block",
    width: "0",
    whiteSpace: "nowrap",
    pointerEvents: "none",
  },
  ".remote-name": { marginLeft: "8px" },
  ".remote-selection": { backgroundColor: "color-mix(in srgb, var(--writer) 25%, transparent)" },
  ".writer-0": { "--writer": "#0f766e", borderColor: "#0f766e" },
  ".writer-1": { "--writer": "#b45309", borderColor: "#b45309" },
  ".writer-2": { "--writer": "#6d28d9", borderColor: "#6d28d9" },
  ".writer-3": { "--writer": "#be185d", borderColor: "#be185d" },
  ".writer-4": { "--writer": "#1d4ed8", borderColor: "#1d4ed8" },
  ".writer-5": { "--writer": "#4d7c0f", borderColor: "#4d7c0f" },
});
