/**
 * The results of opencode's tools: each finished call's state → a result of the most specific kind.
 *
 * The state has the model's text (`output`), and in its metadata what else the tool knows: exit codes, diffs, the file
 * without line numbers. A command that exits with an error is "completed" to opencode; here it failed.
 */

import type { Json, JsonObject, Reason } from "@blockyard/kernel";
import { type PatchChange, patchChanges } from "../apply-patch.ts";
import type { Outcome } from "../call.ts";
import { editedFile, newFile, overwrittenFile } from "../edit-diff.ts";
import { isObject } from "../framing/json.ts";
import { languageOf } from "../language.ts";
import { changesOutcome, outputRow, type TodoItem, todoOutcome, todoStatus } from "../outcome.ts";
import { given, listOf, objectOf, plural, textOf, wholeOf, wordsOf } from "../read.ts";
import { lineCount, rowOf } from "../row.ts";

/** A tool part's state, as far as it is read. */
export interface ToolState {
  readonly tool: string;
  readonly input: JsonObject;
  readonly output: string;
  readonly metadata: JsonObject;
  readonly attachments: readonly Json[];
  readonly durationMs: number | undefined;
}

export function completedOutcome(state: ToolState): Outcome {
  const known = BY_TOOL.get(state.tool)?.(state);
  const outcome = known ?? plainOutcome(state);
  return { durationMs: state.durationMs, ...outcome };
}

/** The call failed; the error is all there is. */
export function failedOutcome(state: ToolState, error: string): Outcome {
  const reason: Reason = /rejected permission|permission denied|user dismissed|denied by/i.test(error)
    ? "denied"
    : "failed";
  const isCommand = state.tool === "bash" || state.tool === "shell";
  return {
    result: {
      kind: isCommand ? "command" : "tool_result",
      text: error,
      metadata: { isError: true, ...(isCommand ? commandFields(state) : {}) },
    },
    failed: true,
    reason,
    shortResult: reason === "denied" ? "denied" : "failed",
    error: rowOf(error) ?? "failed",
    durationMs: state.durationMs,
  };
}

const BY_TOOL: ReadonlyMap<string, (state: ToolState) => Outcome | undefined> = new Map([
  ["bash", commandOutcome],
  ["shell", commandOutcome],
  ["read", readOutcome],
  ["edit", editOutcome],
  ["multiedit", editOutcome],
  ["patch", patchOutcome],
  ["apply_patch", patchOutcome],
  ["write", writeOutcome],
  ["todowrite", listOutcome],
  ["todoread", listOutcome],
  ["task", taskOutcome],
  ["invalid", invalidOutcome],
]);

function plainOutcome(state: ToolState): Outcome {
  const images = imagesOf(state.attachments);
  return {
    result: {
      kind: "tool_result",
      text: state.output,
      metadata: given({ images: images.length > 0 ? images : undefined, result: leftOver(state.metadata) }),
    },
    failed: false,
    shortResult: countRow(state.metadata) ?? outputRow(state.output),
  };
}

function commandOutcome(state: ToolState): Outcome {
  const exitCode = wholeOf(state.metadata.exit);
  const failed = exitCode !== undefined && exitCode !== 0;
  return {
    result: {
      kind: "command",
      text: state.output,
      metadata: given({
        ...commandFields(state),
        exitCode: exitCode ?? (state.metadata.exit === null ? null : undefined),
        isError: failed ? true : undefined,
        durationMs: state.durationMs,
      }),
    },
    failed,
    shortResult: failed ? `exit ${exitCode}` : outputRow(state.output),
    error: failed ? `exit ${exitCode}` : undefined,
  };
}

function commandFields(state: ToolState): JsonObject {
  return given({
    command: textOf(state.input.command) ?? "",
    description: wordsOf(state.input.description),
    cwd: wordsOf(state.input.workdir),
  });
}

/** `display` has the text alone; older versions only print it, each line with its number in front. */
function readOutcome(state: ToolState): Outcome | undefined {
  const filename = textOf(state.input.filePath);
  const display = objectOf(state.metadata.display);
  const shown = display.type === "file" ? textOf(display.text) : undefined;
  const lines = shown === undefined ? numberedLines(state.output) : undefined;
  const text = shown ?? lines?.text;
  if (filename === undefined || text === undefined) return undefined;
  return {
    result: {
      kind: "code",
      text,
      metadata: given({
        filename,
        language: languageOf(filename),
        startLine: wholeOf(display.lineStart) ?? lines?.startLine,
        totalLines: wholeOf(display.totalLines),
      }),
    },
    failed: false,
    shortResult: lineCount(text),
  };
}

/** `12: text` inside `<content>`, or `00012| text` inside `<file>`; undefined where the output is no listing. */
export function numberedLines(output: string): { text: string; startLine: number } | undefined {
  const tag = /<(content|file)>\n/.exec(output)?.[1];
  const listing = tag === undefined ? undefined : between(output, `<${tag}>\n`, `\n</${tag}>`);
  const found = listing?.split("\n").map((line) => /^\s*(\d+)(?:: ?|\| ?)(.*)$/s.exec(line)) ?? [];
  const lines = found.filter((match) => match !== null);
  const first = lines[0];
  if (first === undefined) return undefined;
  return { text: lines.map((match) => match[2]).join("\n"), startLine: Number(first[1]) };
}

/** What stands between the first `from` and the next `to`. A pattern would look for the end from every beginning. */
function between(text: string, from: string, to: string): string | undefined {
  const start = text.indexOf(from) + from.length;
  const end = start < from.length ? -1 : text.indexOf(to, start);
  return end === -1 ? undefined : text.slice(start, end);
}

function editOutcome(state: ToolState): Outcome | undefined {
  const path = textOf(state.input.filePath);
  if (path === undefined) return undefined;
  const patch = textOf(state.metadata.diff) ?? textOf(objectOf(state.metadata.filediff).patch);
  const diff = patch === undefined ? undefined : withoutIndex(patch);
  const isNew = state.tool === "edit" && state.input.oldString === "";
  if (wordsOf(diff) === undefined) return changesOutcome([askedEdit(path, state.input)], state.output);
  return changesOutcome(
    [{ path, kind: isNew ? "add" : "modify", ...given({ diff: wordsOf(diff) }) }],
    state.output,
  );
}

/** Versions that print no diff: the edit as it was asked for. */
function askedEdit(path: string, input: JsonObject): PatchChange {
  const asked = Array.isArray(input.edits) ? listOf(input.edits).map(objectOf) : [input];
  return editedFile(
    path,
    asked.flatMap(({ oldString, newString }) =>
      typeof oldString === "string" && typeof newString === "string"
        ? [{ before: oldString, after: newString }]
        : [],
    ),
  );
}

/** A new file's diff is its content; what an old one held is told only by newer versions. */
function writeOutcome(state: ToolState): Outcome | undefined {
  const path = textOf(state.input.filePath) ?? textOf(state.metadata.filepath);
  const content = textOf(state.input.content);
  if (path === undefined || content === undefined) return undefined;
  const isNew = state.metadata.exists === false;
  const told = textOf(state.metadata.diff) ?? textOf(objectOf(state.metadata.filediff).patch);
  const written = isNew ? newFile(path, content) : overwrittenFile(path, content);
  const diff = told === undefined ? undefined : withoutIndex(told);
  return changesOutcome(
    [diff === undefined ? written : { path, kind: written.kind, ...given({ diff: wordsOf(diff) }) }],
    state.output,
  );
}

function patchOutcome(state: ToolState): Outcome | undefined {
  const changes = patchChanges(textOf(state.input.patchText) ?? textOf(state.input.patch) ?? "");
  return changes.length === 0 ? undefined : changesOutcome(changes, state.output);
}

/** The diff without the `Index:` lines that some tools put in front. */
function withoutIndex(diff: string): string {
  const start = diff.startsWith("--- ") ? 0 : diff.indexOf("\n--- ") + 1;
  return start === 0 && !diff.startsWith("--- ") ? diff : diff.slice(start);
}

function listOutcome(state: ToolState): Outcome | undefined {
  const todos = Array.isArray(state.metadata.todos) ? state.metadata.todos : state.input.todos;
  if (!Array.isArray(todos)) return undefined;
  return todoOutcome(listOf(todos).map((todo) => todoItem(objectOf(todo))));
}

function todoItem(todo: JsonObject): TodoItem {
  return {
    content: textOf(todo.content) ?? "",
    status: todoStatus(todo.status),
    ...given({ id: wordsOf(todo.id) }),
  };
}

/** A sub-agent's answer, without the tags around it; its own blocks are in a session of its own. */
function taskOutcome(state: ToolState): Outcome {
  const inner = between(state.output, "<task_result>", "</task_result>");
  const answer = inner?.replace(/^\n/, "").replace(/\n$/, "") ?? state.output;
  return {
    result: { kind: "tool_result", text: answer, metadata: given({ result: leftOver(state.metadata) }) },
    failed: false,
    shortResult: outputRow(answer),
  };
}

/** What a call of a tool that does not exist is turned into. */
function invalidOutcome(state: ToolState): Outcome {
  return {
    result: { kind: "tool_result", text: state.output, metadata: { isError: true } },
    failed: true,
    shortResult: "failed",
    error: rowOf(textOf(state.input.error) ?? state.output) ?? "failed",
  };
}

/** Metadata of the tool without what other fields already say. */
function leftOver(metadata: JsonObject): JsonObject | undefined {
  const { output: _output, preview: _preview, truncated, ...rest } = metadata;
  const kept = truncated === true ? { ...rest, truncated } : rest;
  return Object.keys(kept).length === 0 ? undefined : kept;
}

function countRow(metadata: JsonObject): string | undefined {
  const matches = wholeOf(metadata.matches);
  if (matches !== undefined) return plural(matches, "match", "matches");
  const count = wholeOf(metadata.count);
  return count === undefined ? undefined : plural(count, "file");
}

function imagesOf(attachments: readonly Json[]): JsonObject[] {
  const images: JsonObject[] = [];
  for (const attachment of attachments.filter(isObject)) {
    const match = /^data:([^;,]*);base64,(.*)$/s.exec(textOf(attachment.url) ?? "");
    if (match !== null && (match[1] ?? "").startsWith("image/")) {
      images.push({ data: match[2] as string, mediaType: match[1] as string });
    }
  }
  return images;
}
