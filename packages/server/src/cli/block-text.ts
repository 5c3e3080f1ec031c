/**
 * Blocks as terminal text: for `show` and for `run`. A tool call is a line, its result a few lines below it; what people
 * and models said stands as they said it. Everything that was written by others is made safe first.
 */

import {
  askOf,
  type BlockSnapshot,
  callOutcome,
  changeTexts,
  citedMarkdown,
  type Kind,
  type Metadata,
  sourcesOf,
  type TurnView,
  timesText,
  todoLine,
  toolTitle,
  UNVERIFIED,
  waitsFor,
} from "@blockyard/kernel";
import { changedLines, excerptLines, foldingOf, type Shown } from "../export/closed.ts";
import { turnFacts } from "../export/html.ts";
import type { ExportNode } from "../export/tree.ts";
import { oneLine, type Style, safeText } from "./terminal.ts";

export interface TextOptions {
  readonly style: Style;
  readonly width: number;
  /** Whole results and thinking instead of their first lines. */
  readonly isFull: boolean;
}

export function nodeText(
  node: ExportNode,
  options: TextOptions,
  depth = 0,
  call: BlockSnapshot | undefined = undefined,
): string {
  const below = [...node.work, ...node.results, ...node.nested]
    .map((each) => nodeText(each, options, depth + 1, node.block))
    .join("");
  const ways = node.branches
    .map((way) => {
      const title = options.style.dim(
        `↳ another way from here, ${way.length} ${way.length === 1 ? "block" : "blocks"}`,
      );
      return indent(`${title}\n${way.map((each) => nodeText(each, options, 0)).join("")}`, depth + 1);
    })
    .join("");
  return `${indent(blockText(node.block, options, call), depth)}${below}${ways}`;
}

export function turnText(turn: TurnView, { style, width }: TextOptions): string {
  const facts = turnFacts(turn);
  return facts === "" ? "" : `${style.dim(oneLine(`── ${facts}`, width))}\n\n`;
}

/** A block that is whole, and the call that it is the result of. Its last line ends; an empty one says nothing. */
export function blockText(block: BlockSnapshot, options: TextOptions, call?: BlockSnapshot): string {
  return KIND_TEXT[block.kind](block, options, call);
}

type BlockAsText = (block: BlockSnapshot, options: TextOptions, call: BlockSnapshot | undefined) => string;

const KIND_TEXT: Readonly<Record<Kind, BlockAsText>> = {
  text: (block, options) => {
    const { style, width } = options;
    const { notice } = metadataOf(block, "text");
    if (notice !== undefined || block.role === "system")
      return `${style.dim(oneLine(`· ${notice ?? ""} ${block.content} ${timesText(block.metadata)}`, width))}\n`;
    const who = block.role === "user" ? `${style.bold(style.cyan(`❯ ${safeText(block.agent)}`))}\n` : "";
    const { citations = [] } = metadataOf(block, "text");
    const said = block.promoted ? block.content : citedMarkdown(block.content, citations);
    const plain = said.replace(/\\\[(\d+)\]/g, "[$1]");
    const sources = sourcesOf(citations).map(
      ({ number, title, url }) => `${style.dim(oneLine(`[${number}] ${title ?? ""} ${url}`, width))}\n`,
    );
    return `${who}${safeText(plain).trimEnd()}\n${sources.join("")}\n`;
  },
  thinking: ({ content }, options) => {
    const { style, width, isFull } = options;
    if (content.trim() === "") return "";
    if (isFull) return `${style.dim(safeText(content).trimEnd())}\n\n`;
    return `${style.dim(oneLine(`∴ ${content}`, width))}\n`;
  },
  tool_call: (block, options) => `${callLine(block, options)}\n`,
  tool_result: (block, options, call) => someLines(block.content, options, { block, call }),
  code: (block, options, call) => {
    const { filename } = metadataOf(block, "code");
    const name = filename === undefined ? "" : `  ${options.style.dim(oneLine(filename, options.width))}\n`;
    return `${name}${someLines(block.content, options, { block, call })}`;
  },
  command: (block, options, call) => {
    const { command, stderr, exitCode } = metadataOf(block, "command");
    const { style, width, isFull } = options;
    const line = isFull ? safeText(command) : oneLine(command, width - 4);
    const failed =
      exitCode === undefined || exitCode === null || exitCode === 0
        ? ""
        : `  ${style.red(`exit ${exitCode}`)}\n`;
    const output = [block.content, stderr ?? ""].filter((part) => part !== "").join("\n");
    return `  ${style.dim("$")} ${line}\n${someLines(output, options, { block, call })}${failed}`;
  },
  file_change: (block, options, call) => {
    const { changes } = metadataOf(block, "file_change");
    const { style, width } = options;
    const texts = changeTexts(changes, block.content);
    return changes
      .map(({ path, kind, unverified }, i) => {
        const { diff = "", note = "" } = texts[i] ?? {};
        const doubt = unverified ? style.dim(`  ${UNVERIFIED}`) : "";
        return `  ${kind} ${style.bold(oneLine(path, width - 12))}${doubt}\n${diffLines(diff, options, { block, call })}${someLines(note, options, { block, call })}`;
      })
      .join("");
  },
  todo: (block, options, call) => {
    const { items } = metadataOf(block, "todo");
    const lines = items.map((item) => oneLine(todoLine(item), options.width - 2));
    return paintedLines(lines, options, { block, call, chars: 0 }, (line) => line);
  },
  image: ({ content }, { style, width }) => `${style.dim(oneLine(`  [picture] ${content}`, width))}\n`,
  file: (block, options) => {
    const { path } = metadataOf(block, "file");
    return `${options.style.bold(safeText(path))}\n${someLines(block.content, options, { block, call: undefined })}`;
  },
  error: ({ content, metadata }, { style }) =>
    `${style.red(`✗ ${safeText(`${content || String(metadata["code"] ?? "failed")} ${timesText(metadata)}`.trimEnd())}`)}\n`,
  unknown: (block, { style, width }) => {
    const { type } = metadataOf(block, "unknown");
    return `${style.dim(oneLine(`? not understood: ${type ?? ""}`, width))}\n`;
  },
};

/** `● Bash  ls -la  3 lines ✓` */
export function callLine(block: BlockSnapshot, { style, width }: TextOptions): string {
  const { toolName, displayName, compactParams, shortResult } = metadataOf(block, "tool_call");
  const { state, word } = callOutcome(block);
  const isEnded = state === "done" || state === "failed" || state === "denied" || state === "stopped";
  const mark = !isEnded ? style.yellow("●") : state === "done" ? style.green("●") : style.red("●");
  const isSaid = state !== "done" && state !== "running";
  const ask = askOf(block.metadata);
  const end =
    ask?.state === "asked"
      ? ` needs ${waitsFor(ask) === "answer" ? "an answer" : "approval"}`
      : isSaid
        ? ` ${word}`
        : "";
  const said = [compactParams, isEnded ? shortResult : undefined].filter(Boolean).join("  ");
  const name = oneLine(toolTitle(toolName, displayName), 40);
  return `${mark} ${style.bold(name)} ${oneLine(said, width - name.length - 16)}${style.red(end)}`;
}

/** What is known of a result besides its lines. */
type Known = Omit<Shown, "source">;

function someLines(text: string, options: TextOptions, known: Known): string {
  if (text.trim() === "") return "";
  const lines = safeText(text).replace(/\n$/, "").split("\n");
  return paintedLines(lines, options, { chars: text.length, ...known }, options.style.dim);
}

function diffLines(diff: string, options: TextOptions, known: Known): string {
  const { style } = options;
  const lines = safeText(diff)
    .split("\n")
    .filter((line) => line !== "" && !/^(---|\+\+\+|diff |index |@@ -0(,\d+)? \+[01](,\d+)? @@)/.test(line));
  const extent = { ...known, chars: diff.length, changed: changedLines(lines) };
  return paintedLines(lines, options, extent, (line) =>
    line.startsWith("+") ? style.green(line) : line.startsWith("-") ? style.red(line) : style.dim(line),
  );
}

/** A result's lines as the page shows them at first: all, or the first and the last. */
function paintedLines(
  source: readonly string[],
  { isFull, width }: TextOptions,
  known: Known,
  paint: (line: string) => string,
): string {
  const { isClosed, excerpt } = foldingOf({ ...known, source });
  const shown = isFull || !isClosed ? source : excerptLines(excerpt);
  const most = width - 2;
  const cut = (line: string) =>
    isFull || line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
  return shown.map((line) => `  ${paint(cut(line))}\n`).join("");
}

function indent(text: string, depth: number): string {
  if (depth === 0) return text;
  return text.replace(/^(?=.)/gm, "  ".repeat(Math.min(depth, 8)));
}

function metadataOf<K extends Kind>(block: BlockSnapshot, _kind: K): Metadata<K> {
  return block.metadata as unknown as Metadata<K>;
}
