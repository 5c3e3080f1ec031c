/**
 * Where others are in the text that is being edited: a bar with a name, and what they have selected.
 */
import type { Cursor } from "@blockyard/kernel";
import { type Range, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view";
import { writerColor } from "../inspector/history.ts";

export const setCursors = StateEffect.define<readonly Cursor[]>();

/** Cursors move with the text until the next word from their owner. */
export const remoteCursors = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    let next = shown.map(transaction.changes);
    for (const effect of transaction.effects)
      if (effect.is(setCursors)) next = decorate(effect.value, transaction.newDoc.length);
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function decorate(cursors: readonly Cursor[], length: number): DecorationSet {
  const ranges: Range<Decoration>[] = [];
  for (const { agent, anchor, head } of cursors) {
    const [at, other] = [Math.min(head, length), Math.min(anchor, length)];
    const color = `writer-${writerColor(agent)}`;
    if (at !== other)
      ranges.push(
        Decoration.mark({ class: `remote-selection ${color}` }).range(
          Math.min(at, other),
          Math.max(at, other),
        ),
      );
    ranges.push(Decoration.widget({ widget: new CursorWidget(agent, color), side: 1 }).range(at));
  }
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
