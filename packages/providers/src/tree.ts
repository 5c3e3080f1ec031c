/**
 * Folded blocks as readable text: a tree, one header line per block with its kind, role, status, stages and metadata,
 * the text below it, turns and usage at the end. The format of the goldens, and of `blocks --pretty`.
 *
 *     ● tool_call model done  run/0/1  start→streaming→running→end
 *       toolName=Read input={"file_path":"a"}
 *       │ {"file_path":"a"}
 *         ● code tool done  run/0/2
 */

import type { Json, JsonObject, Usage } from "@blockyard/kernel";
import type { Folded, FoldedBlock, FoldedTurn } from "./fold.ts";

export interface TreeOptions {
  /** Text longer than this is shortened in the middle. */
  readonly textChars: number;
  /** Metadata values longer than this are shortened. */
  readonly valueChars: number;
  /** A digest of the shortened text, so that a change inside it shows. */
  readonly digest: (text: string) => string;
  /** Omitted metadata. */
  readonly hidden?: readonly string[];
}

export function treeText(folded: Folded, options: TreeOptions): string {
  const children = new Map<string | null, FoldedBlock[]>();
  const ids = new Set(folded.blocks.map((block) => block.id));
  for (const block of folded.blocks) {
    const parent = block.parent !== null && ids.has(block.parent) ? block.parent : null;
    children.set(parent, [...(children.get(parent) ?? []), block]);
  }
  const lines: string[] = folded.sessions.map((session) => `session ${oneLine(session, options)}`);
  const draw = (parent: string | null, depth: number): void => {
    for (const block of children.get(parent) ?? []) {
      lines.push(...blockLines(block, folded, options).map((line) => indent(line, depth)));
      draw(block.id, depth + 1);
    }
  };
  draw(null, 0);
  lines.push(...folded.turns.map((turn) => turnLine(turn, options)));
  for (const message of folded.messages) {
    const of = message.parent === undefined ? "" : ` of ${message.parent}`;
    lines.push(`message ${message.messageId}${of}: ${usageText(message.usage)}`);
  }
  for (const [type, times] of Object.entries(folded.unknown)) lines.push(`unknown ${type}: ${times}`);
  for (const fault of folded.faults) lines.push(`FAULT ${fault}`);
  return `${lines.join("\n")}\n`;
}

function blockLines(block: FoldedBlock, folded: Folded, options: TreeOptions): readonly string[] {
  const stages = folded.stages.get(block.id);
  const { reason, ...metadata } = block.metadata;
  const status = typeof reason === "string" ? `${block.status} (${reason})` : block.status;
  const head = `● ${block.kind} ${block.role} ${status}  ${block.id}${stages ? `  ${stages.join("→")}` : ""}`;
  const shown = oneLine(metadata, options, ["stage"]);
  const text = block.text === "" ? [] : shorten(block.text, options).split("\n");
  return [head, ...(shown === "" ? [] : [`  ${shown}`]), ...text.map((line) => `  │ ${visible(line)}`)];
}

function turnLine(turn: FoldedTurn, options: TreeOptions): string {
  const { turn: name, provider, status, reason, usage, native: _, ...rest } = turn;
  const parts = [
    `turn ${name} ${provider} ${status}${reason === undefined ? "" : ` (${reason})`}`,
    ...(usage === undefined ? [] : [usageText(usage)]),
    oneLine(rest, options),
  ];
  return parts.filter((part) => part !== "").join(" ");
}

function usageText(usage: Usage): string {
  return `in ${usage.input} (cache read ${usage.cacheRead}, write ${usage.cacheWrite}) out ${usage.output} (reasoning ${usage.reasoning})`;
}

function oneLine(metadata: object, options: TreeOptions, hidden: readonly string[] = []): string {
  const out = new Set([...hidden, ...(options.hidden ?? [])]);
  return Object.entries(metadata as JsonObject)
    .filter(([key, value]) => !out.has(key) && value !== undefined)
    .map(([key, value]) => `${key}=${shownValue(value, options)}`)
    .join(" ");
}

function shownValue(value: Json, options: TreeOptions): string {
  const text = typeof value === "string" && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
  if (text.length <= options.valueChars) return visible(text);
  const half = Math.floor(options.valueChars / 2);
  return visible(
    `${text.slice(0, half)}…[${text.length} chars, ${options.digest(text)}]…${text.slice(-half)}`,
  );
}

function shorten(text: string, options: TreeOptions): string {
  if (text.length <= options.textChars) return text;
  const half = Math.floor(options.textChars / 2);
  return `${text.slice(0, half)}\n[… ${text.length} characters in all, ${options.digest(text)} …]\n${text.slice(-half)}`;
}

/** Control characters, and halves of pairs that shortening may have left, as escapes: a golden is a text file. */
function visible(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: making them visible is the point
  const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/g;
  return line.toWellFormed().replace(controls, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function indent(line: string, depth: number): string {
  return depth === 0 ? line : `${"    ".repeat(depth)}${line}`;
}
