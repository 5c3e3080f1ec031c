/**
 * The cursors of others in the edited text: a bar, their selection, and their name after the end of the line. No name
 * covers text; one without room there is shown when one points at the bar.
 *
 * A cursor arrives when its owner moves it, relative to the committed text. Between updates it moves with the text
 * here; an update that changes nothing does not move it back.
 */
import type { Cursor } from "@blockyard/kernel";
import { type ChangeDesc, type Range, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import { writerColor } from "../state/history.ts";

export const setCursors = StateEffect.define<readonly Cursor[]>();

interface Placed {
  /** As it was told. */
  readonly told: Cursor;
  /** Where that is by now. */
  readonly anchor: number;
  readonly head: number;
}

export const remoteCursors = StateField.define<readonly Placed[]>({
  create: () => [],
  update(before, transaction) {
    let next = transaction.docChanged ? before.map((cursor) => moved(cursor, transaction.changes)) : before;
    for (const effect of transaction.effects)
      if (effect.is(setCursors)) next = retold(next, effect.value, transaction.newDoc.length);
    return next;
  },
  provide: (field) =>
    EditorView.decorations.compute([field], (state) => decorate(state.field(field), state.doc)),
});

function moved(cursor: Placed, changes: ChangeDesc): Placed {
  return { ...cursor, anchor: changes.mapPos(cursor.anchor, -1), head: changes.mapPos(cursor.head, -1) };
}

function retold(before: readonly Placed[], told: readonly Cursor[], length: number): readonly Placed[] {
  return told.map((cursor) => {
    const known = before.find((other) => other.told.agent === cursor.agent);
    if (known && known.told.head === cursor.head && known.told.anchor === cursor.anchor) return known;
    return { told: cursor, anchor: Math.min(cursor.anchor, length), head: Math.min(cursor.head, length) };
  });
}

function decorate(cursors: readonly Placed[], text: Text): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  const named = new Map<number, string[]>();
  for (const { told, anchor, head } of cursors) {
    const color = `writer-${writerColor(told.agent)}`;
    if (head !== anchor)
      ranges.push(
        Decoration.mark({ class: `remote-selection ${color}` }).range(
          Math.min(anchor, head),
          Math.max(anchor, head),
        ),
      );
    ranges.push(Decoration.widget({ widget: new CursorWidget(told.agent, color), side: 1 }).range(head));
    const end = text.lineAt(Math.min(head, text.length)).to;
    named.set(end, [...(named.get(end) ?? []), told.agent]);
  }
  for (const [end, agents] of named)
    ranges.push(Decoration.widget({ widget: new NamesWidget(agents), side: 2 }).range(end));
  return Decoration.set(ranges, true);
}

class CursorWidget extends WidgetType {
  readonly #agent: string;
  readonly #color: string;

  constructor(agent: string, color: string) {
    super();
    this.#agent = agent;
    this.#color = color;
  }

  override eq(other: CursorWidget): boolean {
    return other.#agent === this.#agent;
  }

  override toDOM(): HTMLElement {
    const bar = document.createElement("span");
    bar.className = `remote-cursor ${this.#color}`;
    bar.dataset["agent"] = this.#agent;
    bar.setAttribute("aria-hidden", "true");
    return bar;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}

/** Who is in a line, behind its end. It takes no room, so that the line breaks as it would without it. */
class NamesWidget extends WidgetType {
  readonly #agents: readonly string[];

  constructor(agents: readonly string[]) {
    super();
    this.#agents = agents;
  }

  override eq(other: NamesWidget): boolean {
    return other.#agents.join("\n") === this.#agents.join("\n");
  }

  override toDOM(): HTMLElement {
    const names = document.createElement("span");
    names.className = "remote-names";
    names.setAttribute("aria-hidden", "true");
    for (const agent of this.#agents) {
      const name = document.createElement("span");
      name.className = `remote-name writer-${writerColor(agent)}`;
      name.dataset["agent"] = agent;
      names.append(name);
    }
    return names;
  }

  override ignoreEvent(): boolean {
    return true;
  }
}
