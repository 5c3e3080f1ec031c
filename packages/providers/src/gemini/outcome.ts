/**
 * The results of Gemini CLI's tools. A result line has a status and often nothing else: no exit code, no file content,
 * no diff. Then the outcome is derived from the call's parameters, as far as they describe it.
 */

import type { JsonObject, Reason } from "@blockyard/kernel";
import type { Outcome } from "../call.ts";
import { editedFile, newFile, overwrittenFile } from "../edit-diff.ts";
import { changesOutcome, outputRow, type TodoItem, todoOutcome, todoStatus } from "../outcome.ts";
import { given, listOf, objectOf, plural, textOf, wordsOf } from "../read.ts";
import { compactParams, rowOf } from "../row.ts";

interface ToolEnd {
  readonly tool: string;
  readonly input: JsonObject;
  readonly output: string;
}

export function completedOutcome(end: ToolEnd): Outcome {
  return BY_TOOL.get(end.tool)?.(end) ?? plainOutcome(end);
}

export function failedOutcome(end: ToolEnd, error: JsonObject): Outcome {
  const message = textOf(error.message) ?? "";
  const text = message === "" ? end.output : message;
  const reason: Reason = /denied|reject|cancel/i.test(textOf(error.type) ?? "") ? "denied" : "failed";
  const command = COMMANDS.has(end.tool) ? textOf(end.input.command) : undefined;
  return {
    result: {
      kind: command === undefined ? "tool_result" : "command",
      text,
      metadata: given({
        isError: true,
        command,
        result: given({
          type: wordsOf(error.type),
          output: end.output === text ? undefined : wordsOf(end.output),
        }),
      }),
    },
    failed: true,
    reason,
    shortResult: reason === "denied" ? "denied" : "failed",
    error: rowOf(text) ?? "failed",
  };
}

export function paramsRow(tool: string, input: JsonObject): string | undefined {
  if (tool === "write_todos") return plural(listOf(input.todos).length, "item");
  if (tool === "list_directory") return textOf(input.dir_path) ?? textOf(input.path);
  return compactParams(input);
}

const COMMANDS = new Set(["run_shell_command", "shell"]);

const BY_TOOL: ReadonlyMap<string, (end: ToolEnd) => Outcome | undefined> = new Map([
  ["run_shell_command", commandOutcome],
  ["shell", commandOutcome],
  ["write_file", writeOutcome],
  ["replace", replaceOutcome],
  ["edit", replaceOutcome],
  ["write_todos", listOutcome],
]);

function plainOutcome(end: ToolEnd): Outcome {
  return {
    result: { kind: "tool_result", text: end.output, metadata: {} },
    failed: false,
    shortResult: rowOf(end.output) === undefined ? undefined : outputRow(end.output),
  };
}

function commandOutcome(end: ToolEnd): Outcome | undefined {
  const command = textOf(end.input.command);
  if (command === undefined) return undefined;
  const metadata = given({
    command,
    description: wordsOf(end.input.description),
    cwd: wordsOf(end.input.dir_path) ?? wordsOf(end.input.directory),
  });
  return {
    result: { kind: "command", text: end.output, metadata },
    failed: false,
    shortResult: rowOf(end.output) === undefined ? undefined : outputRow(end.output),
  };
}

/** Whether the file was new is in the output of some versions only. */
function writeOutcome(end: ToolEnd): Outcome | undefined {
  const path = textOf(end.input.file_path);
  const content = textOf(end.input.content);
  if (path === undefined || content === undefined) return undefined;
  const isNew = /\bcreated\b/i.test(end.output);
  return changesOutcome([isNew ? newFile(path, content) : overwrittenFile(path, content)], end.output);
}

/** The edit as it was asked for. */
function replaceOutcome(end: ToolEnd): Outcome | undefined {
  const path = textOf(end.input.file_path);
  const before = textOf(end.input.old_string);
  const after = textOf(end.input.new_string);
  if (path === undefined || before === undefined || after === undefined) return undefined;
  return changesOutcome([editedFile(path, [{ before, after }])], end.output);
}

function listOutcome(end: ToolEnd): Outcome | undefined {
  if (!Array.isArray(end.input.todos)) return undefined;
  return todoOutcome(listOf(end.input.todos).map((todo) => todoItem(objectOf(todo))));
}

function todoItem(todo: JsonObject): TodoItem {
  return { content: textOf(todo.description) ?? textOf(todo.content) ?? "", status: todoStatus(todo.status) };
}
