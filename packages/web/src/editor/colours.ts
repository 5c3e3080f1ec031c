/**
 * Colours of source text in the editor, from the same worker that colours blocks. They arrive after the typed text:
 * until then, a line keeps its old colours, moved along with the text. Only lines on the screen are decorated.
 */

import { type Extension, RangeSetBuilder, StateEffect } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";
import { type Colours, followColours } from "../highlight/highlight.ts";
import { COLORS } from "../highlight/message.ts";
import { COLOURS_MS } from "./limits.ts";

const came = StateEffect.define<null>();
const MARKS = COLORS.map((color) => (color === "" ? undefined : Decoration.mark({ class: `t-${color}` })));

/** `name`: the same for the same text. */
export function coloured(name: string, grammar: string): Extension {
  return ViewPlugin.define((view) => new Colouring(view, name, grammar), {
    decorations: ({ decorations }) => decorations,
  });
}

class Colouring {
  decorations: DecorationSet = Decoration.none;
  readonly #view: EditorView;
  readonly #colours: Colours;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(view: EditorView, name: string, grammar: string) {
    this.#view = view;
    this.#colours = followColours(name, grammar, () => view.dispatch({ effects: came.of(null) }));
    this.#ask();
  }

  update(update: ViewUpdate): void {
    const isNew = update.transactions.some(({ effects }) => effects.some((effect) => effect.is(came)));
    if (update.docChanged) {
      this.decorations = this.decorations.map(update.changes);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#ask(), COLOURS_MS);
    }
    if (isNew || (update.viewportChanged && !update.docChanged)) this.decorations = this.#decorate();
  }

  destroy(): void {
    clearTimeout(this.#timer);
    this.#colours.stop();
  }

  #ask(): void {
    this.#colours.ask(this.#view.state.doc.toString());
  }

  #decorate(): DecorationSet {
    const builder = new RangeSetBuilder<Decoration>();
    const { doc } = this.#view.state;
    for (const { from, to } of this.#view.visibleRanges) {
      const last = doc.lineAt(to).number;
      for (let number = doc.lineAt(from).number; number <= last; number++) {
        const line = doc.line(number);
        const tokens = this.#colours.lines()[number - 1] ?? [];
        let at = line.from;
        for (let i = 0; i < tokens.length && at < line.to; i += 2) {
          const end = Math.min(line.to, at + (tokens[i] as number));
          const mark = MARKS[tokens[i + 1] as number];
          if (mark && end > at) builder.add(at, end, mark);
          at = end;
        }
      }
    }
    return builder.finish();
  }
}
