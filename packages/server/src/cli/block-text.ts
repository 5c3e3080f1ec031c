/**
 * Blocks as terminal text: for `show` and for `run`. A tool call is a line, its result a few lines below it; the text
 * of people and models is shown unchanged. Untrusted text is sanitized first.
 */

import type { BlockSnapshot, Kind, TurnView } from "@blockyard/kernel";
import {
  agentName,
  answerWords,
  askOf,
  authorOf,
  callOutcome,
  cameWords,
  changeTexts,
  citedMarkdown,
  firstSentence,
  isNotice,
  isNoticeOpen,
  callLine as lineOf,
  metadataOf,
  noticeName,
  observedHeading,
  sourcesOf,
  timesText,
  todoLine,
  UNVERIFIED,
  waitsFor,
} from "@blockyard/kernel/presentation";
import { changedLines, collapsedOf, type Shown, shortFormOf } from "../export/closed.ts";
import { turnFacts } from "../export/html.ts";
import { commandSummary, type Item, isFollowed, timeline } from "../export/timeline.ts";
import type { ExportNode } from "../export/tree.ts";
import { BESIDE_CHARS, NOTICE_CHARS, THINKING_CHARS } from "./limits.ts";
import { oneLine, type Style, safeOutput, safeText, wrapped } from "./terminal.ts";

export interface TextOptions {
  readonly style: Style;
  readonly width: number;
  /** Where a sentence is broken, if not at `width`: nowhere in a pipe. */
  readonly lineWidth?: number;
  /** Whole results and thinking instead of their first lines. */
  readonly isFull: boolean;
}

/** Who speaks, blocks, and quiet ones gathered into a line. */
export function itemText(item: Item, options: TextOptions, depth = 0): string {
  const { style, width, isFull } = options;
  if (item.type === "speaker") {
    const name = safeText(item.speaker.name);
    return item.speaker.side === "person" ? promptHead(name, style) : `${style.bold(name)}\n`;
  }
  if (item.type === "node") return nodeText(item.node, options, depth, { todo: item.todo });
  if (!isFull) return indent(`${style.dim(oneLine(`▸ ${item.words}`, width))}\n`, depth);
  return item.items.map(({ node }) => nodeText(node, options, depth)).join("");
}

/** Who wrote the prompt below. */
function promptHead(name: string, style: Style): string {
  return `${style.bold(style.cyan(`❯ ${safeText(name)}`))}\n`;
}

export function nodeText(node: ExportNode, options: TextOptions, depth = 0, around: Around = {}): string {
  const { block, work, results, nested } = node;
  const reports = results.map((result) => result.block.content.trim());
  const some = (nodes: readonly ExportNode[]) =>
    timeline(nodes, undefined)
      .map((item) => itemText(item, options, depth + 1))
      .join("");
  const came = results
    .filter((result) => options.isFull || !isLineOnly(result, block, around.todo))
    .map((result) =>
      nodeText(result, options, depth + 1, {
        call: block,
        isFollowed: isFollowed(result),
        todo: around.todo,
      }),
    )
    .join("");
  const before = came !== "" && isReport(work.at(-1), reports) ? work.slice(0, -1) : work;
  const below = `${some(before)}${came}${some(nested)}`;
  const ways = node.branches
    .map((way) => {
      const title = options.style.dim(
        `↳ another branch, ${way.length} ${way.length === 1 ? "block" : "blocks"}`,
      );
      const items = timeline(way, undefined).map((item) => itemText(item, options, 0));
      return indent(`${title}\n${items.join("")}`, depth + 1);
    })
    .join("");
  const own =
    block.kind === "tool_call"
      ? `${callLine(
          block,
          options,
          results.map((result) => result.block),
        )}\n`
      : KIND_TEXT[block.kind](block, options, around);
  return `${indent(own, depth)}${below}${ways}`;
}

/** A sub-agent's last words, which are its report. */
function isReport(last: ExportNode | undefined, reports: readonly string[]): boolean {
  if (last?.block.kind !== "text" || last.block.role !== "model" || isFollowed(last)) return false;
  return last.branches.length === 0 && reports.includes(last.block.content.trim());
}

/** Results that the call's line already shows. */
function isLineOnly(result: ExportNode, call: BlockSnapshot, todo: BlockSnapshot | undefined): boolean {
  const known = { isFollowed: isFollowed(result), isLivingTodo: todo !== undefined };
  return shortFormOf({ block: result.block, call, ...known }) === "line";
}

interface Around {
  readonly call?: BlockSnapshot | undefined;
  readonly isFollowed?: boolean;
  /** The to-do list of the turn, shown in place of the call's own. */
  readonly todo?: BlockSnapshot | undefined;
}

/** `shown`: the text above it. Why the turn failed is shown once. */
export function turnText(turn: TurnView, options: TextOptions, shown: readonly BlockSnapshot[] = []): string {
  const isTold = shown.some(({ kind, content }) => kind === "error" && content === turn.error);
  const facts = turnFacts(turn, isTold);
  return facts === "" ? "" : `${sentence(`── ${facts}`, options)}\n\n`;
}

/** Text that the reader has to see whole, such as a warning: wrapped between words, not cut. */
function sentence(text: string, { style, width, lineWidth = width }: TextOptions): string {
  return wrapped(oneLine(text, NOTICE_CHARS), lineWidth, 2)
    .split("\n")
    .map((line) => style.dim(line))
    .join("\n");
}

/** A block that is whole, and the call that it is the result of. Its last line ends; an empty one says nothing. */
export function blockText(block: BlockSnapshot, options: TextOptions, call?: BlockSnapshot): string {
  const isPrompt = block.kind === "text" && block.role === "user" && !block.side;
  const head = isPrompt ? promptHead(agentName(authorOf(block)), options.style) : "";
  return `${head}${KIND_TEXT[block.kind](block, options, { call })}`;
}

/** Whether the line of its call says the whole command already. */
function isInCall(block: BlockSnapshot, call: BlockSnapshot | undefined, width: number): boolean {
  const { command } = metadataOf(block, "command");
  if (call?.kind !== "tool_call" || command.includes("\n") || command.length > width - BESIDE_CHARS)
    return false;
  return lineOf(call, [block]).subject === command;
}

type BlockAsText = (block: BlockSnapshot, options: TextOptions, around: Around) => string;

const KIND_TEXT: Readonly<Record<Kind, BlockAsText>> = {
  text: (block, options) => {
    const { style, width } = options;
    const { notice } = metadataOf(block, "text");
    if (notice !== undefined || block.role === "system") return noticeLine(block, options);
    const { citations = [] } = metadataOf(block, "text");
    const said = block.promoted ? block.content : citedMarkdown(block.content, citations);
    const plain = said.replace(/\\\[(\d+)\]/g, "[$1]");
    const sources = sourcesOf(citations).map(
      ({ number, title, url }) => `${style.dim(oneLine(`[${number}] ${title ?? ""} ${url}`, width))}\n`,
    );
    // A sub-agent's prompt is shown with its work if nothing else says who asked.
    const head = block.role === "user" && block.side ? promptHead(agentName(authorOf(block)), style) : "";
    return `${head}${safeText(plain).trimEnd()}\n${sources.join("")}\n`;
  },
  thinking: ({ content }, options) => {
    const { style, width, isFull } = options;
    if (content.trim() === "") return "";
    if (isFull) return `${style.dim(safeText(content).trimEnd())}\n\n`;
    return `${style.dim(oneLine(`∴ ${firstSentence(content.slice(0, THINKING_CHARS))}`, width))}\n`;
  },
  tool_call: (block, options) => `${callLine(block, options)}\n`,
  tool_result: (block, options, around) => someLines(block.content, options, { block, ...known(around) }),
  code: (block, options, around) => {
    const { filename } = metadataOf(block, "code");
    const name = filename === undefined ? "" : `  ${options.style.dim(oneLine(filename, options.width))}\n`;
    return `${name}${someLines(block.content, options, { block, ...known(around) })}`;
  },
  command: (block, options, around) => {
    const { command, stderr, exitCode } = metadataOf(block, "command");
    const { style, width, isFull } = options;
    const line = isFull ? safeText(command) : oneLine(command, width - 4);
    const failed =
      exitCode === undefined || exitCode === null || exitCode === 0
        ? ""
        : `  ${style.red(`exit ${exitCode}`)}\n`;
    const output = [block.content, stderr ?? ""].filter((part) => part !== "").join("\n");
    const head = isInCall(block, around.call, width) ? "" : `  ${style.dim("$")} ${line}\n`;
    return `${head}${someLines(output, options, { block, ...known(around) })}${failed}`;
  },
  file_change: (block, options, around) => {
    const metadata = metadataOf(block, "file_change");
    const { changes } = metadata;
    const { style, width } = options;
    const texts = changeTexts(changes, block.content);
    const heading = observedHeading(metadata);
    const drawn = changes
      .map(({ path, kind, movedTo, unverified }, i) => {
        const { diff = "", note = "" } = texts[i] ?? {};
        const doubt = unverified ? style.dim(`  ${UNVERIFIED}`) : "";
        const moved = movedTo === undefined ? "" : `\n  moved to ${style.bold(oneLine(movedTo, width - 12))}`;
        return `  ${kind} ${style.bold(oneLine(path, width - 12))}${moved}${doubt}\n${diffLines(diff, options, { block, ...known(around) })}${someLines(note, options, { block, ...known(around) })}`;
      })
      .join("");
    return heading === undefined ? drawn : `${style.dim(`  ${heading}`)}\n${drawn}`;
  },
  todo: (block, options, around) => {
    const { items } = metadataOf(around.todo ?? block, "todo");
    const lines = items.map((item) => oneLine(todoLine(item), options.width - 2));
    return paintedLines(lines, options, { block, ...known(around), chars: 0 }, (line) => line);
  },
  image: ({ content }, { style, width }) => `${style.dim(oneLine(`  [picture] ${content}`, width))}\n`,
  file: (block, options) => {
    const { path } = metadataOf(block, "file");
    return `${options.style.bold(safeText(path))}\n${someLines(block.content, options, { block, call: undefined })}`;
  },
  error: (block, options) => {
    const { content, metadata } = block;
    const said = `${content || String(metadata.code ?? "failed")} ${timesText(metadata)}`.trimEnd();
    return isNotice(block)
      ? `${sentence(`· ${noticeName(metadata.notice, said) ?? ""} ${said}`, options)}\n`
      : `${options.style.red(`✗ ${safeText(said)}`)}\n`;
  },
  unknown: (block, { style, width }) => {
    const { type } = metadataOf(block, "unknown");
    return `${style.dim(oneLine(`? unrecognized event: ${type ?? ""}`, width))}\n`;
  },
};

/** A system note, followed by who answered it, if it asked. */
function noticeLine(block: BlockSnapshot, { style, width }: TextOptions): string {
  const { content, metadata } = block;
  const ask = askOf(metadata);
  const words = ask?.state === "asked" ? "needs an answer" : answerWords(block, []);
  const line = `· ${noticeName(metadata.notice, content) ?? ""} ${content} ${timesText(metadata)}`;
  const below = words === "" ? "" : `  ${style.dim(oneLine(words, width - 2))}\n`;
  // What somebody asked for is read whole.
  if (isNoticeOpen(metadata.notice, content))
    return `${safeText(content)
      .trimEnd()
      .split("\n")
      .map((each) => style.dim(`${each === "" ? "" : "  "}${each}`))
      .join("\n")}\n${below}`;
  return `${style.dim(oneLine(line, width))}\n${below}`;
}

/** `● Read src/a.ts · 12 lines`, `● $ npm test · 12 passed`; `isAbove`: its results are shown below, whole or in part. */
export function callLine(
  block: BlockSnapshot,
  { style, width, isFull }: TextOptions,
  results: readonly BlockSnapshot[] = [],
  isAbove = false,
): string {
  const { toolName } = metadataOf(block, "tool_call");
  const { deed, name: title, subject, isCommand } = lineOf(block, results);
  const { state, word } = callOutcome(block);
  const isEnded = state === "done" || state === "failed" || state === "denied" || state === "stopped";
  const mark = !isEnded ? style.yellow("●") : state === "done" ? style.green("●") : style.red("●");
  const isSaid = state !== "done" && state !== "running";
  const ask = askOf(block.metadata);
  const ran = isCommand && state === "done" ? results.find(({ kind }) => kind === "command") : undefined;
  const answer = deed === "ask" && state === "done" ? answerWords(block, results) : "";
  const short = cameWords(block, results) ?? answer;
  const came = ran ? commandSummary(ran) : isEnded ? short : undefined;
  // A failed call shows how, if known; a denied one has no outcome of its own.
  const how = state === "failed" && word === "failed" && came ? came : word;
  const isShown = isSaid || (isCommand && isAbove);
  const end =
    ask?.state === "asked"
      ? `needs ${waitsFor(ask) === "answer" ? "an answer" : "approval"}`
      : isSaid
        ? oneLine(how, width / 2)
        : "";
  const name = isCommand ? "$" : oneLine(title, 40);
  // The tool's own name, for searching.
  const own = isFull && toolName !== title ? ` ${style.dim(oneLine(toolName, 60))}` : "";
  const room = width - name.length - 16;
  const line = oneLine(subject, room);
  const facts = [
    isShown || !came ? "" : style.dim(oneLine(came, Math.max(BESIDE_CHARS / 2, room - line.length))),
    style.red(end),
  ].filter((fact) => fact !== "");
  return [`${mark} ${style.bold(name)}${own}${line === "" ? "" : ` ${line}`}`, ...facts].join(" · ");
}

/** What is known of a result besides its lines. */
type Known = Omit<Shown, "source">;

function known({ call, isFollowed, todo }: Around) {
  return { call, isFollowed, isLivingTodo: todo !== undefined };
}

function someLines(text: string, options: TextOptions, known: Known): string {
  if (text.trim() === "") return "";
  const lines = safeOutput(text).replace(/\n$/, "").split("\n");
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
  const { form, isClosed, excerpt } = collapsedOf({ ...known, source });
  const shown = isFull || !isClosed || form === "line" ? source : excerpt;
  const most = width - 2;
  const cut = (line: string) =>
    isFull || line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
  return shown.map((line) => `  ${paint(cut(line))}\n`).join("");
}

function indent(text: string, depth: number): string {
  if (depth === 0) return text;
  return text.replace(/^(?=.)/gm, "  ".repeat(Math.min(depth, 8)));
}
