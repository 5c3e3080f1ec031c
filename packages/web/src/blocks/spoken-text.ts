/** Markdown as it is read out: its words, without the marks. A text that is cut in the middle of one is read as if it ended there. */
import type { Token } from "marked";
import remend from "remend";
import { lexBounded } from "../markdown/bounded-lexer.ts";

export function spokenText(markdown: string): string {
  const { tokens } = lexBounded(remend(markdown), {});
  return wordsOf(tokens, " ").replace(/\s+/g, " ").trim();
}

interface Parts {
  readonly type: string;
  readonly text?: string;
  readonly raw?: string;
  readonly tokens?: readonly Token[];
  readonly items?: readonly Token[];
  readonly header?: readonly Parts[];
  readonly rows?: readonly (readonly Parts[])[];
}

function wordsOf(tokens: readonly Token[], between: string): string {
  return tokens.map((token) => wordOf(token as Parts)).join(between);
}

function wordOf({ type, text, raw, tokens, items, header, rows }: Parts): string {
  if (type === "hr" || type === "def" || type === "space") return "";
  if (type === "br") return " ";
  if (items) return wordsOf(items, " ");
  if (header && rows)
    return [header, ...rows]
      .map((row) => row.map(({ text: cell = "" }) => spokenText(cell)).join(", "))
      .join("; ");
  if (tokens && tokens.length > 0)
    return wordsOf(tokens, type === "list_item" || type === "blockquote" ? " " : "");
  return text ?? raw ?? "";
}
