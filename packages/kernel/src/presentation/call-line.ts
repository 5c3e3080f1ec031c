/**
 * The one line of a call, and of a thought, wherever it is shown. A command is shown as itself, whatever its tool is
 * called; everything else by the tool's plain name (tool-title.ts) and its input.
 */

import { askOf } from "../model/ask.ts";
import type { Json } from "../model/json.ts";
import type { Metadata } from "../model/metadata.ts";
import { givenAnswers, isAnswered } from "./ask-words.ts";
import { callOutcome } from "./call-outcome.ts";
import { type Deed, deedOf } from "./deed.ts";
import { shortenPaths } from "./folder-path.ts";
import { SENTENCE_CHARS, SUBJECT_CHARS } from "./limits.ts";
import type { Facts } from "./loudness.ts";
import { toolTitle } from "./tool-title.ts";

const COUNT = /^\d+ items?$/;

export interface CallLine {
  readonly deed: Deed;
  readonly name: string;
  /** Its subject: a path, a pattern, a task; for a command its text, on one line. */
  readonly subject: string;
  readonly isCommand: boolean;
  /** The agent's description of a command. */
  readonly purpose: string | undefined;
}

/** `folder`: the conversation's folder, which paths omit. A command stays as it was written. */
export function callLine(call: Facts, results: readonly Facts[], folder?: string): CallLine {
  const { toolName, displayName, compactParams, input } = call.metadata;
  const kinds = results.map(({ kind }) => kind);
  const deed = deedOf(toolName ?? "", kinds);
  const asked = askOf(call.metadata)?.questions?.length ?? 1;
  const title = asked > 1 ? `Asked ${asked} questions` : toolTitle(toolName ?? "", displayName);
  const name = shortenPaths(title, folder);
  const ran = results.find(({ kind }) => kind === "command")?.metadata;
  const isRun = deed === "run" || deedOf(toolName ?? "") === "run";
  const command = isRun ? (wordsOf(ran?.command) ?? meantIn(commandIn(input), compactParams)) : undefined;
  if (command === undefined) {
    // The total is shown with the number done.
    const isCounted =
      deed === "todo" && COUNT.test(compactParams ?? "") && cameWords(call, results) !== undefined;
    // A plan with a block of its own begins with the same words.
    const isPlan = askOf(call.metadata)?.plan !== undefined;
    return {
      ...{ deed, name, isCommand: false, purpose: undefined },
      subject: isCounted || isPlan ? "" : subjectOf(shortenPaths(compactParams ?? "", folder), name),
    };
  }
  const purpose = wordsOf(ran?.description) ?? wordsOf(fieldOf(input, "description"));
  return { deed, name, subject: onOneLine(command), isCommand: true, purpose };
}

/** The request, without heading marks and without the tool's title, which precedes it. */
function subjectOf(params: string, title: string): string {
  const words = params.replace(/^#{1,6}\s+/, "");
  if (words.toLowerCase() === title.toLowerCase()) return "";
  return words.startsWith(`${title} `) ? words.slice(title.length + 1) : words;
}

const BECAME = { add: "new", modify: undefined, delete: "deleted" } as const;

/** The outcome of a call, in a few words; empty if its ask shows it. */
export function cameWords(call: Facts, results: readonly Facts[], folder?: string): string | undefined {
  const { metadata } = call;
  const { shortResult } = metadata;
  const isSaid =
    isAnswered(metadata) || results.some((result) => givenAnswers(result.metadata) !== undefined);
  if (shortResult === undefined || isSaid) return undefined;
  // The end of the line says that it failed or was stopped.
  const { state, word } = callOutcome(call);
  if (shortResult === word || (state === "stopped" && shortResult === "interrupted")) return undefined;
  // The line already names the file, so it says only what happened to it.
  const only = onlyChange(results);
  if (only && state === "done" && shortResult === "1 file") return BECAME[only.kind];
  return shortenPaths(shortResult, folder);
}

/** How a call ended, in a word: for a failed command its exit code. Empty if it is done. */
export function endWord(call: Facts, results: readonly Facts[]): string {
  const { state, word } = callOutcome(call);
  const code = results.find(({ kind }) => kind === "command")?.metadata.exitCode;
  return state === "failed" && typeof code === "number" && code !== 0 ? `exit ${code}` : word;
}

/** The error of a call that is shown below its line, because there is no result to show it. */
export function errorBelow(call: Facts, results: readonly Facts[]): string | undefined {
  const { error, reason } = call.metadata;
  const isDenied = askOf(call.metadata)?.state === "denied" || reason === "cancelled";
  return results.length === 0 && !isDenied ? error : undefined;
}

/** The change that a call's line names, also where the line is a command: the call changed that file alone, and printed nothing. */
export function onlyChange(
  results: readonly Facts[],
): Metadata<"file_change">["changes"][number] | undefined {
  const changed = results.filter(({ kind }) => kind === "file_change");
  if (changed.length !== 1 || results.some(({ kind }) => kind === "command")) return undefined;
  const changes = changed[0]?.metadata.changes ?? [];
  const [only] = changes;
  return changes.length === 1 && only?.movedTo === undefined ? only : undefined;
}

/** A path as short as its call shows it. */
export function shortPath(path: string, subject: string): string {
  return subject !== "" && path.endsWith(`/${subject}`) ? subject : path;
}

/** What an agent prints before every command that it runs. */
const SHELL =
  /^(?:\S*[/\\])?(?:ba|z|da|fi)?sh(?:\.exe)? -l?i?c |^(?:\S*[/\\])?(?:pwsh|powershell)(?:\.exe)? (?:\S+ )*-command |^(?:\S*[/\\])?cmd(?:\.exe)? \/c /i;

/** The command without the shell that runs it, where its row has it so: before it has any output nothing else does. */
function meantIn(printed: string | undefined, row: string | undefined): string | undefined {
  const isWrapped = printed !== undefined && SHELL.test(printed);
  return isWrapped && row !== undefined && row !== "" && !SHELL.test(row) ? row : printed;
}

/** A command's text, under whatever name its tool passes it. */
export function commandIn(input: Json | undefined): string | undefined {
  for (const name of ["command", "cmd", "script", "code"]) {
    const given = fieldOf(input, name);
    const text = Array.isArray(given) ? given.filter((word) => typeof word === "string").join(" ") : given;
    if (typeof text === "string" && text.trim() !== "") return text;
  }
  return undefined;
}

function fieldOf(input: Json | undefined, name: string): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input) || !Object.hasOwn(input, name))
    return undefined;
  return (input as { readonly [key: string]: Json })[name];
}

function wordsOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

export function onOneLine(text: string): string {
  const line = text
    .slice(0, 2 * SUBJECT_CHARS)
    .trim()
    .replace(/\s*\n\s*/g, " ↵ ");
  return line.length <= SUBJECT_CHARS ? line : `${line.slice(0, SUBJECT_CHARS).toWellFormed()}…`;
}

/**
 * The first sentence of a text, with its marks. A heading, a line that is bold as a whole, loses its asterisks: all
 * summaries of Codex's reasoning begin with one.
 */
export function firstSentence(beginning: string): string {
  const lines = beginning.trimStart().split("\n");
  const line = (lines.find((each) => each.trim() !== "") ?? "").trim();
  const heading = /^\*\*([^*]+)\*\*$/.exec(line)?.[1]?.trim();
  if (heading) return heading.slice(0, SENTENCE_CHARS).toWellFormed();
  const end = /[.!?…。！？](?=["'”’)*_]*\s)["'”’)*_]*/.exec(line);
  const sentence = end === null ? line : line.slice(0, end.index + end[0].length);
  return sentence.slice(0, SENTENCE_CHARS).toWellFormed();
}
