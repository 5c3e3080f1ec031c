/**
 * How loud a part of a conversation is, and what of it is shown before somebody expands it: one table of rules for the
 * page, both exports and `blockyard show`, so that all of them show the same.
 *
 * Loud: what needs the reader. Normal: what was said and changed. Quiet: how it was done; one line each, and
 * consecutive ones are grouped into one.
 */

import { askOf } from "../model/ask.ts";
import { isEnded, type Kind, type Role, type Status } from "../model/kind.ts";
import type { AnyMetadata } from "../model/metadata.ts";
import { givenAnswers, isAnswered } from "./ask-words.ts";
import { callOutcome } from "./call-outcome.ts";
import { type Deed, deedOf } from "./deed.ts";
import {
  DIFF_CHANGED_LINES,
  DIFF_CHARS,
  FAILED_LINES,
  REPORT_CHARS,
  REPORT_LINES,
  RUNNING_LINES,
} from "./limits.ts";
import { type Extent, isAskedFor, isFailedResult, isLong } from "./long-text.ts";
import { isMarkdownResult, showsPictures } from "./result-look.ts";

type Loudness = "loud" | "normal" | "quiet";

/** The input of the rules; a block on the page and one in an export both fit. */
export interface Facts {
  readonly kind: Kind;
  readonly role: Role;
  readonly status: Status;
  readonly metadata: AnyMetadata;
}

/** A block with the rest of its row. */
export interface Entry {
  readonly block: Facts;
  /** The results of a call. */
  readonly results: readonly Facts[];
  /** Something hangs off one of the results, such as another run of its command. */
  readonly isFollowed?: boolean | undefined;
  /** The current to-do list of its turn is shown here. */
  readonly isLivingTodo?: boolean | undefined;
}

const QUIET: ReadonlySet<Deed> = new Set(["read", "search", "list", "fetch", "web"]);

export function loudnessOf(entry: Entry): Loudness {
  const { block } = entry;
  const asks = askLoudness(block);
  if (asks !== undefined) return asks;
  switch (block.kind) {
    case "tool_call":
      return callLoudness(entry);
    case "error":
      return isNotice(block) ? "quiet" : "loud";
    case "thinking":
    case "unknown":
      return "quiet";
    case "text":
      return isNotice(block) ? "quiet" : "normal";
    case "tool_result":
    case "code":
    case "command":
    case "file_change":
    case "todo":
    case "image":
    case "file":
      return "normal";
  }
}

function askLoudness({ kind, metadata }: Facts): Loudness | undefined {
  const ask = askOf(metadata);
  if (ask?.state === "asked") return "loud";
  // It may still be answered.
  if (ask?.state === "expired" && metadata.reason === "interrupted") return "normal";
  // Nothing else shows that it was asked and answered.
  return ask !== undefined && kind === "text" ? "normal" : undefined;
}

function callLoudness({ block, results, isFollowed, isLivingTodo }: Entry): Loudness {
  const deed = deedOfCall(block, results);
  const { state } = callOutcome(block);
  if (deed === "edit" && state === "done" && results.length > 0 && results.every(isPlanFile)) return "quiet";
  if (deed === "edit" || deed === "agent" || deed === "ask" || isLivingTodo) return "normal";
  if (state === "denied" || isFollowed) return "normal";
  if (QUIET.has(deed)) return "quiet";
  if (deed === "run" && (state === "running" || state === "waiting")) return "normal";
  if (state === "failed" || (deed === "run" && (state === "stopped" || results.some(isFailedResult))))
    return "normal";
  if (results.some((result) => isAskedFor(result.metadata, block.metadata))) return "normal";
  return results.some(({ kind, metadata }) => showsPictures(kind, metadata)) ? "normal" : "quiet";
}

/** Whether a quiet block is grouped with its neighbours. System notes have a line of their own. */
export function isGathered(entry: Entry): boolean {
  const { kind } = entry.block;
  return (kind === "tool_call" || kind === "thinking") && loudnessOf(entry) === "quiet";
}

export function deedOfCall({ metadata }: Facts, results: readonly Facts[]): Deed {
  return deedOf(
    metadata.toolName ?? "",
    results.map(({ kind }) => kind),
  );
}

/** Minor system notes, including warnings and retries, which stop nothing. */
export function isNotice({ kind, role, metadata }: Omit<Facts, "status">): boolean {
  if (kind === "error") return metadata.notice === "warning" || metadata.notice === "retry";
  return kind === "text" && (role === "system" || metadata.notice !== undefined);
}

/**
 * What is shown of a result at first: all of it; its beginning, its ends or its last lines, with a way to open the
 * rest; or only the line of its call.
 */
export type Form = "whole" | "start" | "ends" | "tail" | "line";

export interface Result extends Facts {
  /** Other runs of it hang off it. */
  readonly isFollowed?: boolean | undefined;
  readonly isLivingTodo?: boolean | undefined;
  /** The reader has opened its call. */
  readonly isOpened?: boolean | undefined;
}

const PLAN_FILE = /[\\/]\.?claude[\\/]plans[\\/][^\\/]+\.md$/;

export function formOf(result: Result, call: Facts | undefined, extent: Extent): Form {
  const { kind, status, metadata, isOpened } = result;
  const { lines, chars, changed = 0 } = extent;
  const byLength = isLong(lines, chars) ? "ends" : "whole";
  const isSaid = call !== undefined && (isAnswered(call.metadata) || givenAnswers(metadata) !== undefined);
  if (kind === "tool_result" && isSaid && !isFailedResult(result)) return isOpened ? byLength : "line";
  if (kind === "file_change" && call !== undefined && isPlanFile(result)) return isOpened ? "whole" : "line";
  if (isAskedFor(metadata, call?.metadata)) return "whole";
  if (kind === "image" || kind === "error") return "whole";
  if (kind === "file_change") return changed > DIFF_CHANGED_LINES || chars > DIFF_CHARS ? "start" : "whole";
  // A plan without a call has no line that could represent it.
  if (kind === "todo") return result.isLivingTodo || isOpened || call === undefined ? "whole" : "line";
  if (kind === "command" && !isEnded(status)) return isOpened ? "whole" : "tail";
  if (isOpened) return byLength;
  const deed = call === undefined ? undefined : deedOfCall(call, [result]);
  if (isFailedResult(result))
    return deed !== undefined && QUIET.has(deed) && kind !== "command" ? "line" : "tail";
  if (call === undefined || result.isFollowed) return byLength;
  if (kind === "tool_result" && (deed === "agent" || deed === "ask")) {
    // An agent that has only started has reported nothing yet.
    if (chars === 0 && deed === "agent" && !showsPictures(kind, metadata)) return "line";
    const isReport = isMarkdownResult(metadata);
    return isReport && lines <= REPORT_LINES && chars <= REPORT_CHARS ? "whole" : byLength;
  }
  return kind === "tool_result" && showsPictures(kind, metadata) ? byLength : "line";
}

/** The results of a call in order, open or closed: those that its line stands for come before those that are always shown. */
export function inShownOrder<R>(results: readonly R[], formOfClosed: (result: R) => Form): readonly R[] {
  const isInLine = (result: R) => formOfClosed(result) === "line";
  return [...results.filter(isInLine), ...results.filter((result) => !isInLine(result))];
}

/** Whether the shown result of a command begins with the command itself. */
export function saysCommand(form: Form): boolean {
  return form !== "line" && form !== "tail";
}

/**
 * Whether a change is only of the file in which Claude Code keeps the plan that it asks about: the plan has a block of
 * its own.
 */
function isPlanFile({ kind, metadata: { changes = [] } }: Facts): boolean {
  return kind === "file_change" && changes.length > 0 && changes.every(({ path }) => PLAN_FILE.test(path));
}

/** The number of lines in a tail. A button to open one more line would take as much room as the line. */
export function tailLines({ status }: Facts, lines: number): number {
  const most = isEnded(status) ? FAILED_LINES : RUNNING_LINES;
  return lines === most + 1 ? lines : most;
}

/** How many of a diff's lines its beginning has: those up to the thirtieth that changes something. */
export function startLines<Line>(lines: readonly Line[], isChanged: (line: Line) => boolean): number {
  let changed = 0;
  for (let i = 0; i < lines.length; i++) {
    if (isChanged(lines[i] as Line)) changed++;
    if (changed >= DIFF_CHANGED_LINES) return i + 1;
  }
  return lines.length;
}
