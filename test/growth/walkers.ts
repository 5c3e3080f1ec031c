/**
 * Everything that walks others' text on the server's or the page's main thread, each as a function from text to
 * nothing. New product code that reads foreign text is added here; searching has a thread of its own, with a deadline.
 */
import {
  changedIn,
  cleanText,
  decodeReferences,
  firstSentence,
  onOneLine,
  outputSummary,
  PartialJson,
  readTerminal,
  Text,
} from "@blockyard/kernel";
import { hunksOf, patchChanges } from "@blockyard/providers";
import { planPatch } from "../../packages/kernel/src/text/patch.ts";
import { oneLine, safeText } from "../../packages/server/src/cli/terminal.ts";
import { highlight } from "../../packages/server/src/export/highlight.ts";
import { markdownHtml } from "../../packages/server/src/export/markdown-html.ts";
import { terminalHtml } from "../../packages/server/src/export/terminal-html.ts";
import { mergeTexts } from "../../packages/server/src/files/three-way.ts";
import { visible } from "../../packages/server/src/processes/visible.ts";
import { redactText } from "../../packages/server/src/system/redact.ts";
import { parseStrict } from "../../packages/server/src/transports/strict-json.ts";
import { diffRows, editRows } from "../../packages/web/src/diff/diff-rows.ts";
import { mathTree } from "../../packages/web/src/markdown/math-tree.ts";
import { type Parsed, parseGrowing, parseWhole } from "../../packages/web/src/markdown/parse.ts";
import { AGENT_WALKERS } from "./agent-walkers.ts";
import type { Walker } from "./walker.ts";

/** A stream is drawn many times while it grows; here so many times, however long it is. */
const STEPS = 20;
/** A longer formula is none. */
const FORMULA_CHARS = 4_000;

export const WALKERS: readonly Walker[] = [
  { name: "Markdown, export", walk: markdownHtml },
  { name: "Markdown, page", walk: parseWhole },
  { name: "Markdown, page, while it grows", walk: growing },
  { name: "terminal, export", walk: terminalHtml },
  { name: "terminal, page", walk: readTerminal },
  { name: "terminal, command", walk: (text) => oneLine(safeText(text), 80) },
  { name: "command to confirm", walk: visible },
  { name: "diff, page", walk: diffRows },
  { name: "edit as a diff, page", walk: (text) => editRows(text, text.slice(0, text.length / 2)) },
  {
    name: "diff of two texts",
    walk: (text) => hunksOf({ before: text, after: text.slice(text.length / 2) }),
  },
  { name: "patch of Codex", walk: (text) => patchChanges(`*** Begin Patch\n${text}`) },
  { name: "patch", walk: (text) => planPatch(Text.of(text), text) },
  { name: "three-way merge", walk: (text) => mergeTexts(text, `${text}a`, `a${text}`) },
  { name: "code, export", walk: (text) => highlight(text, "ts") },
  { name: "redaction", walk: (text) => redactText(text, () => undefined) },
  { name: "character references", walk: decodeReferences },
  { name: "JSON of a request", walk: parseStrict },
  { name: "JSON of a call's input, in pieces", walk: inPieces },
  { name: "sanitized text", walk: cleanText },
  { name: "formula, page", walk: (text) => mathTree(`$${text.slice(0, FORMULA_CHARS)}$`) },
  { name: "line of a thought, of a command", walk: (text) => [firstSentence(text), onOneLine(text)] },
  { name: "summary of an output", walk: (text) => outputSummary(text.split("\n")) },
  { name: "counts of a diff", walk: changedIn },
  ...AGENT_WALKERS,
];

function growing(text: string): void {
  let parsed: Parsed | undefined;
  for (let i = 1; i <= STEPS; i++) parsed = parseGrowing(parsed, text.slice(0, (text.length * i) / STEPS));
}

function inPieces(text: string): void {
  const json = new PartialJson();
  for (let at = 0; at < text.length; at += 20) json.push(text.slice(at, at + 20));
}
