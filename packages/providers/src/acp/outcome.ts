/**
 * What came of a call, as a block of the most exact kind: a checklist, a change of files, a command, a file that was read,
 * or a plain result. Agents keep the same thing in different places; a command's exit code is looked for in all of them.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { PatchChange } from "../apply-patch.ts";
import type { Outcome } from "../call.ts";
import { contentOf } from "../codex/outcome.ts";
import { unwrapWords } from "../codex/shell.ts";
import { editedFile, newFile } from "../edit-diff.ts";
import { isObject } from "../framing/json.ts";
import { languageOf } from "../language.ts";
import { changesOutcome, outputRow, todoOutcome } from "../outcome.ts";
import { given, listOf, objectOf, textOf, wholeOf, wordsOf } from "../read.ts";
import { lineCount, rowOf } from "../row.ts";
import { unifiedDiff } from "../unified-diff.ts";
import { todosIn } from "./plan.ts";
import type { Call, Diff, State } from "./state.ts";

export function outcomeOf(state: State, call: Call): Outcome {
  // opencode calls a call of a tool that does not exist completed.
  if (call.ended === "completed" && call.title === "Invalid Tool") call.ended = "failed";
  // Its output stands there already, as a command's.
  if (call.shown !== undefined) return commandOutcome(state, call);
  const isFailed = call.ended === "failed";
  const todos = isFailed ? undefined : todosIn(call.input);
  if (todos !== undefined) return todoOutcome(todos);
  const changes = changesOf(state, call);
  if (changes.length > 0) return changed(state, call, changes);
  if (isCommand(call)) return commandOutcome(state, call);
  return (isFailed ? undefined : readOutcome(state, call)) ?? plainOutcome(state, call);
}

/** Whether it runs a command, as far as that is known by now. */
export function isCommand(call: Call): boolean {
  if (call.isMcp) return false;
  if (commandIn(call.input) !== undefined) return true;
  return call.kind === "execute" && (call.input === undefined || call.terminal !== undefined);
}

/** The command of an input, however it is written; the words of a list as one line. */
function commandIn(input: JsonObject | undefined): string | undefined {
  const command = input?.["command"] ?? input?.["cmd"];
  const words = Array.isArray(command) && command.every((word) => typeof word === "string") ? command : [];
  return textOf(command) ?? (words.length === 0 ? undefined : unwrapWords(words));
}

export function commandMetadata(call: Call): JsonObject {
  const { input = {} } = call;
  const folder = [input["cwd"], input["directory"], input["workdir"]].map(wordsOf).find(Boolean);
  return given({
    command: commandIn(input) ?? call.title,
    description: wordsOf(input["description"]),
    cwd: folder ?? wordsOf(objectOf(call.meta.terminal_info).cwd),
    background: input["run_in_background"] === true || input["is_background"] === true ? true : undefined,
  });
}

function commandOutcome(state: State, call: Call): Outcome {
  const text = call.printed === "" ? outputOf(state, call) : call.printed;
  const exitCode = exitCodeOf(call, text);
  const failed = call.ended === "failed" || (typeof exitCode === "number" && exitCode !== 0);
  const row = typeof exitCode === "number" && exitCode !== 0 ? `exit ${exitCode}` : undefined;
  return {
    result: {
      kind: "command",
      text,
      metadata: given({ ...commandMetadata(call), exitCode, isError: failed ? true : undefined }),
    },
    failed,
    reason: failed && call.isDenied ? "denied" : undefined,
    shortResult: call.isDenied && failed ? "denied" : (row ?? (failed ? "failed" : outputRow(text))),
    error: failed ? (row ?? rowOf(text) ?? "failed") : undefined,
  };
}

/** What a command printed, without what the agent puts around it for its model. */
export function outputOf(_state: State, call: Call): string {
  const raw = objectOf(call.rawOutput);
  // qwen: the content is a report about the command.
  if (raw.type === "shell_result") return textOf(raw.output) ?? "";
  const stdout = textOf(objectOf(objectOf(call.meta.claudeCode).toolResponse).stdout);
  const text = contentText(call.content) || (textOf(raw.output) ?? textOf(raw.content) ?? "");
  const plain = stdout === undefined || stdout === "" ? unfenced(text) : stdout;
  return plain
    .replace(/<shellId: \S+ completed with exit code -?\d+>$/, "")
    .replace(/^Exit code -?\d+\n/, "")
    .replace(/\n?Command failed with exit code: -?\d+\.$/, "");
}

function exitCodeOf(call: Call, _text: string): number | null | undefined {
  if (call.exitCode !== undefined) return call.exitCode;
  const raw = objectOf(call.rawOutput);
  const shell = listOf(raw.contents)
    .map(objectOf)
    .find(({ type }) => type === "shell_exit");
  const said =
    wholeOf(raw.exit_code) ??
    wholeOf(objectOf(raw.metadata).exit) ??
    wholeOf(raw.exitCode) ??
    wholeOf(shell?.exitCode);
  if (said !== undefined) return said;
  const told = textOf(call.rawOutput) ?? contentText(call.content);
  const match =
    /^(?:```\w*\n)?Exit code (-?\d+)(?:\n|$)/.exec(told) ??
    /Command failed with exit code: (-?\d+)\.$/.exec(told) ??
    /\nExit Code: (-?\d+)\n/.exec(told);
  return match === null ? undefined : Number(match[1]);
}

/** Diffs that the agent has made itself say where in the file; pieces of text do not. */
function changesOf(state: State, call: Call): readonly PatchChange[] {
  if (call.diffs.length > 0) {
    const single = call.diffs.length === 1 ? call.diffs[0] : undefined;
    const patch = single === undefined ? undefined : (patchOf(call, single) ?? undefined);
    if (single !== undefined && patch !== undefined)
      return [{ path: single.path, kind: kindOf(single), diff: patch }];
    return call.diffs.map((diff) => changeOf(state, diff));
  }
  if (call.kind !== "edit" || call.isMcp) return [];
  return askedChange(call);
}

function changeOf(state: State, diff: Diff): PatchChange {
  const { path, after } = diff;
  const kind = kindOf(diff);
  const before = diff.before ?? "";
  if (kind === "add") return newFile(path, after);
  if (kind === "delete")
    return given({ path, kind, diff: wordsOf(unifiedDiff(path, { before, after }, kind)) });
  if (!state.quirks.wholeFiles) return editedFile(path, [{ before, after }]);
  return given({ path, kind, diff: wordsOf(unifiedDiff(path, { before, after })) });
}

function kindOf({ before, after, kind }: Diff): PatchChange["kind"] {
  if (kind === "add" || kind === "delete") return kind;
  if (kind === "update" || kind === "modify") return "modify";
  if (before === undefined || before === "") return "add";
  return after === "" && kind === "remove" ? "delete" : "modify";
}

/** The unified diff of a call with one file, with our headers. */
function patchOf(call: Call, { path, ...diff }: Diff): string | undefined {
  const text = call.patch ?? textOf(objectOf(call.rawOutput).detailedContent) ?? "";
  const start = text.startsWith("@@ ") ? 0 : text.indexOf("\n@@ ") + 1;
  if (start === 0 && !text.startsWith("@@ ")) return undefined;
  const from = kindOf({ path, ...diff }) === "add" ? "/dev/null" : path;
  return `--- ${from}\n+++ ${path}\n${text.slice(start).replace(/\n*$/, "\n")}`;
}

/** No diff anywhere: the edit as it was asked for. */
function askedChange(call: Call): readonly PatchChange[] {
  const { input = {} } = call;
  const path = pathOf(call);
  if (path === undefined) return [];
  const content = textOf(input["content"]) ?? textOf(input["file_text"]);
  const before = textOf(input["old_string"]) ?? textOf(input["oldString"]) ?? textOf(input["old_str"]);
  const after = textOf(input["new_string"]) ?? textOf(input["newString"]) ?? textOf(input["new_str"]);
  if (before !== undefined && after !== undefined) return [editedFile(path, [{ before, after }])];
  if (content !== undefined) return [newFile(path, content)];
  return [];
}

function changed(state: State, call: Call, changes: readonly PatchChange[]): Outcome {
  const said = resultText(state, call);
  const applied = changesOutcome(changes, wordsOf(said));
  if (call.ended !== "failed" || applied.result === undefined) return applied;
  const { kind, text, metadata } = applied.result;
  return {
    result: { kind, text, metadata: { ...metadata, isError: true } },
    failed: true,
    reason: call.isDenied ? "denied" : undefined,
    shortResult: call.isDenied ? "denied" : "failed",
    error: rowOf(said) ?? "The change was not made",
  };
}

/** A file that was read; a search that an agent calls reading is none. */
function readOutcome(state: State, call: Call): Outcome | undefined {
  const filename = pathOf(call);
  if (call.kind !== "read" || call.isMcp || filename === undefined) return undefined;
  if (call.input?.["pattern"] !== undefined) return undefined;
  const whole = resultText(state, call);
  if (whole === "") return undefined;
  const { text, startLine } = unnumbered(whole);
  const metadata = given({ filename, language: languageOf(filename), startLine });
  return { result: { kind: "code", text, metadata }, failed: false, shortResult: lineCount(text) };
}

function pathOf({ paths, input = {} }: Call): string | undefined {
  return (
    paths[0] ??
    wordsOf(input["file_path"]) ??
    wordsOf(input["filePath"]) ??
    wordsOf(input["path"]) ??
    wordsOf(input["absolute_path"])
  );
}

/** `12\ttext`, as some tools number the lines of a file for their model. */
function unnumbered(listing: string): { text: string; startLine?: number } {
  const lines = listing.split("\n").map((line) => /^ *(\d+)\t(.*)$/s.exec(line));
  const first = lines[0];
  if (!first || lines.some((line) => line === null)) return { text: listing };
  return { text: lines.map((line) => line?.[2] ?? "").join("\n"), startLine: Number(first[1]) };
}

function plainOutcome(state: State, call: Call): Outcome {
  const failed = call.ended === "failed";
  const { images } = contentOf([...innerOf(call.content), ...toldParts(call)]);
  const said = resultText(state, call);
  const result = payloadOf(call, said);
  // An output in a form of the agent's own is better than none.
  const text =
    said !== "" || result === undefined || images.length > 0 ? said : JSON.stringify(result, null, 2);
  return {
    result: {
      kind: "tool_result",
      text,
      metadata: given({
        isError: failed ? true : undefined,
        images: images.length > 0 ? images : undefined,
        result,
      }),
    },
    failed,
    reason: failed && call.isDenied ? "denied" : undefined,
    shortResult: failed ? (call.isDenied ? "denied" : "failed") : outputRow(text),
    error: failed ? (rowOf(text) ?? "failed") : undefined,
  };
}

/** The raw output, where it says more than the text. */
function payloadOf(call: Call, text: string): Json | undefined {
  const raw = call.rawOutput;
  if (!isObject(raw)) return undefined;
  const { output, content, detailedContent: _, message, ...rest } = raw;
  const isSaid = [output, content, message].some((said) => said === text);
  const kept = isSaid ? rest : raw;
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function resultText(_state: State, call: Call): string {
  const raw = objectOf(call.rawOutput);
  const said = unfenced(contentText(call.content));
  // Claude's adapter leaves the mark that a failure has for the model.
  if (said !== "") return /^<tool_use_error>([\s\S]*)<\/tool_use_error>$/.exec(said)?.[1] ?? said;
  if (call.printed !== "") return call.printed;
  const told =
    textOf(call.rawOutput) ?? textOf(raw.content) ?? textOf(raw.output) ?? textOf(raw.message) ?? "";
  if (told !== "") return told;
  const parts = contentOf(toldParts(call)).text;
  return parts === "" ? (textOf(raw.error) ?? textOf(objectOf(raw.error).message) ?? "") : parts;
}

/** codex: what a tool of an MCP server has answered. */
function toldParts(call: Call): readonly Json[] {
  return listOf(objectOf(objectOf(call.rawOutput).result).content);
}

function contentText(content: readonly Json[]): string {
  return innerOf(content)
    .flatMap((part) => textOf(objectOf(part).text) ?? linkOf(objectOf(part)) ?? [])
    .join("\n");
}

function linkOf(part: JsonObject): string | undefined {
  if (part.type === "resource") return textOf(objectOf(part.resource).text);
  return part.type === "resource_link" ? textOf(part.uri) : undefined;
}

function innerOf(content: readonly Json[]): readonly Json[] {
  return content.flatMap((part) => {
    const { type, content: inner } = objectOf(part);
    return type === "content" && inner !== undefined ? [inner] : [];
  });
}

/** Some agents put a fence of Markdown around what a tool returned. */
function unfenced(text: string): string {
  const open = /^(`{3,})\w*\n/.exec(text);
  const fence = open?.[1];
  const fenced = text.endsWith("\n") ? text.slice(0, -1) : text;
  if (open === null || fence === undefined || !fenced.endsWith(`\n${fence}`)) return text;
  const inner = fenced.slice(open[0].length, -(fence.length + 1));
  return inner.includes(fence) ? text : inner;
}
