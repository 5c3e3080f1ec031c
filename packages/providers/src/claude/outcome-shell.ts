/**
 * Results of shell commands. The exit code is `exitCode` if the payload states it. Recorded versions state none: it is
 * in the text of a failure, and "soft" codes (grep without a match) are in words, with standard error merged into the
 * output.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { rowOf } from "../row.ts";
import {
  contentOf,
  errorRow,
  linesRow,
  type Outcome,
  outputRow,
  plain,
  type Show,
  type ToolReport,
} from "./outcome.ts";
import { shellChanges } from "./outcome-change.ts";

/** What the model is told where there was nothing to tell. */
const NO_OUTPUT = /^\((?:Bash|Command|Tool).* (?:completed|ran) with no output\)$/;

export const bashOutcome: Show = (report) => {
  const content = contentOf(report.content);
  const payload = isObject(report.payload) ? report.payload : undefined;
  const stated = statedExit(payload);
  if (report.isError && (payload === undefined || stated === undefined))
    return failedCommand(report, content.text);
  const isBackground =
    payload === undefined
      ? content.text.startsWith("Command running in background with ID:")
      : wordsOf(payload.backgroundTaskId) !== undefined;
  const soft = wordsOf(payload?.returnCodeInterpretation);
  const interrupted = payload?.interrupted === true;
  const { text, left } = outputOf(report, payload, content.text, isBackground);
  const exitCode = stated ?? (isBackground || interrupted ? null : soft === undefined ? 0 : 1);
  const failed = report.isError || (stated !== undefined && stated !== 0 && soft === undefined);
  const metadata = given({
    ...commandOf(report),
    exitCode,
    stderr: wordsOf(payload?.stderr),
    isError: failed ? true : undefined,
    interrupted: interrupted ? true : undefined,
    background: isBackground ? true : undefined,
    truncatedChars: left > 0 ? left : undefined,
    images: content.images.length === 0 ? undefined : content.images,
    result: payload === undefined ? undefined : factsOf(payload),
  }) as JsonObject;
  const changed = shellChanges(payload?.bashEditDiff);
  return {
    blocks: [{ kind: "command", text, metadata }, ...(changed === undefined ? [] : [changed])],
    failed,
    short: interrupted
      ? "interrupted"
      : isBackground
        ? "in the background"
        : failed
          ? `exit ${exitCode}`
          : (soft ?? outputRow(text, content.images.length)),
    error: failed ? (rowOf(lastLine(wordsOf(payload?.stderr) ?? text)) ?? `exit ${exitCode}`) : undefined,
    images: content.images,
    isBackground,
  };
};

/** The exit code, where the payload has one; no recorded version does. */
function statedExit(payload: JsonObject | undefined): number | undefined {
  const stated = payload?.exitCode ?? payload?.exit_code ?? payload?.returnCode ?? payload?.return_code;
  return typeof stated === "number" && Number.isSafeInteger(stated) ? stated : undefined;
}

/** A command that did not run (denied, invalid) is no command block: nothing was executed. */
function failedCommand(report: ToolReport, said: string): Outcome | undefined {
  const match = /^Exit code (-?\d+)(?:\n|$)/.exec(said);
  if (match === null) return isMerelyOutput(report) ? oldFailure(report, said) : undefined;
  const stated = Number(match[1]);
  const exitCode = Number.isSafeInteger(stated) ? stated : null;
  const text = once(said.slice(match[0].length));
  return {
    blocks: [{ kind: "command", text, metadata: { ...commandOf(report), exitCode, isError: true } }],
    failed: true,
    short: `exit ${exitCode}`,
    error: text.startsWith("Command timed out")
      ? errorRow(text)
      : (rowOf(lastLine(text)) ?? `exit ${exitCode}`),
  };
}

/** Up to 2.0 a failure is told by its output alone, without a payload and without a code. */
function isMerelyOutput(report: ToolReport): boolean {
  if (report.payload !== undefined && !report.isOld) return false;
  const raw = typeof report.content === "string" ? report.content : "";
  return !raw.startsWith("<tool_use_error>") && !isRefusal(raw) && !isDiscarded(raw);
}

function oldFailure(report: ToolReport, text: string): Outcome {
  return {
    blocks: [{ kind: "command", text, metadata: { ...commandOf(report), exitCode: null, isError: true } }],
    failed: true,
    short: "failed",
    error: errorRow(lastLine(text)),
  };
}

/** Words of a refusal, from versions that do not mark one. */
export function isRefusal(said: string): boolean {
  return /^(?:Claude requested permissions? to|Permission to use .{1,200} (?:has been|was) denied|This command requires approval|.{1,300} was blocked\. For security|The user doesn't want to|The user refused this tool call|PreToolUse:\S{1,200} hook error:)/s.test(
    said,
  );
}

/** Up to 2.1 a call is dropped with the answer that it was part of, when the connection was lost. */
export function isDiscarded(said: string): boolean {
  return said.startsWith("Streaming fallback");
}

/** 2.1.50 says the whole output twice. */
function once(text: string): string {
  const half = (text.length - 2) / 2;
  if (!Number.isInteger(half) || half <= 0 || text.slice(half, half + 2) !== "\n\n") return text;
  return text.slice(0, half) === text.slice(half + 2) ? text.slice(0, half) : text;
}

function outputOf(
  report: ToolReport,
  payload: JsonObject | undefined,
  said: string,
  isBackground: boolean,
): { readonly text: string; readonly left: number } {
  if (payload === undefined) return { text: spoken(said), left: 0 };
  const stdout = textOf(payload.stdout) ?? textOf(payload.output) ?? spoken(said);
  if (stdout === "" && isBackground) return { text: said, left: 0 };
  const aside = wordsOf(payload.persistedOutputPath);
  if (aside === undefined) return { text: payload.isImage === true ? "" : stdout, left: 0 };
  const whole = report.asideOf(aside);
  if (whole !== undefined) return { text: whole, left: 0 };
  return { text: stdout, left: Math.max(0, (wholeOf(payload.persistedOutputSize) ?? 0) - stdout.length) };
}

/** The output as the model saw it. */
function spoken(said: string): string {
  if (NO_OUTPUT.test(said)) return "";
  const kept = /^<persisted-output>\n([\s\S]*)\n<\/persisted-output>$/.exec(said);
  return kept === null ? said : (kept[1] as string);
}

function commandOf(report: ToolReport): JsonObject {
  return given({
    command: textOf(report.input.command) ?? "",
    description: wordsOf(report.input.description),
  }) as JsonObject;
}

const SAID_ELSEWHERE = new Set([
  "stdout",
  "output",
  "stderr",
  "exitCode",
  "exit_code",
  "returnCode",
  "return_code",
  "interrupted",
  "isImage",
  "noOutputExpected",
  "bashEditDiff",
]);

function factsOf(payload: JsonObject): JsonObject | undefined {
  const facts = Object.entries(payload).filter(
    ([name, value]) => !SAID_ELSEWHERE.has(name) && value !== null,
  );
  return facts.length === 0 ? undefined : Object.fromEntries(facts);
}

/** TaskOutput (2.0 to 2.1.50) and BashOutput (1.0): the output of a command in the background. */
export const taskOutputOutcome: Show = (report) => {
  const payload = objectOf(report.payload);
  const task = isObject(payload.task) ? payload.task : payload;
  const text = textOf(task.output) ?? textOf(task.stdout);
  if (report.isError || text === undefined) return undefined;
  const exitCode = wholeOf(task.exitCode);
  const command = textOf(task.command);
  const short = exitCode === undefined ? (wordsOf(task.status) ?? linesRow(text)) : `exit ${exitCode}`;
  if (command === undefined) {
    const { output: _output, ...facts } = task;
    const shown = plain({ ...report, payload: undefined }, { text, images: [], references: [] });
    const [block] = shown.blocks;
    return {
      ...shown,
      blocks: block === undefined ? [] : [{ ...block, metadata: { result: facts as Json } }],
      short,
    };
  }
  const metadata = given({ command, exitCode, stderr: wordsOf(task.stderr), background: true }) as JsonObject;
  return { blocks: [{ kind: "command", text, metadata }], failed: false, short };
};

function lastLine(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf("\n") + 1);
}
