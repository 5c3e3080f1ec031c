/**
 * What a tool call's input shows while it streams, as the kind that its result will have: a file being written, a
 * command, a to-do list.
 *
 * Only for showing: the authoritative input is the block's metadata when the call runs. The table below knows the
 * tools of every provider by name; an unknown tool is undefined, and its input is shown as it is.
 */

import type { Json } from "../model/json.ts";
import type { PartialJson, PartialPath } from "./partial-json.ts";

interface LiveEdit {
  readonly oldText: string;
  readonly newText: string;
}

interface LiveTodo {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
}

export type LiveInput =
  | {
      readonly kind: "file_change";
      readonly path?: string;
      /** A whole file, as far as it is written. */
      readonly content?: string;
      /** One replacement … */
      readonly oldText?: string;
      readonly newText?: string;
      /** … or several. */
      readonly edits?: readonly LiveEdit[];
      /** A patch in its own format. */
      readonly patch?: string;
    }
  | { readonly kind: "command"; readonly command: string; readonly description?: string }
  | { readonly kind: "todo"; readonly items: readonly LiveTodo[] };

type Fields = { readonly [key: string]: Json };

/** `reader` holds the input so far; a tool that takes plain text instead of JSON gives the text itself. */
export function liveInput(toolName: string, reader: PartialJson | string): LiveInput | undefined {
  const name = bareName(toolName);
  const show = Object.hasOwn(SHOWN, name) ? SHOWN[name] : undefined;
  if (show === undefined) return undefined;
  if (typeof reader === "string") return show === patch ? { kind: "file_change", patch: reader } : undefined;
  const value = reader.value();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return show(value as Fields);
}

/** Where the text that grows longest stands in the input of such a tool: what a view follows. */
export function liveTextPath(toolName: string): PartialPath | undefined {
  const name = bareName(toolName);
  return Object.hasOwn(GROWING, name) ? GROWING[name] : undefined;
}

const GROWING: Readonly<Record<string, PartialPath>> = {
  write: ["content"],
  writefile: ["content"],
  create: ["file_text"],
  edit: ["new_string"],
  replace: ["new_string"],
  notebookedit: ["new_source"],
  bash: ["command"],
  runshellcommand: ["command"],
  execcommand: ["cmd"],
  applypatch: ["input"],
};

const SHOWN: Readonly<Record<string, (input: Fields) => LiveInput | undefined>> = {
  write: wholeFile,
  writefile: wholeFile,
  edit: replacement,
  replace: replacement,
  multiedit: replacements,
  notebookedit: notebook,
  strreplacebasededittool: textEditor,
  strreplaceeditor: textEditor,
  texteditorcodeexecution: textEditor,
  applypatch: patch,
  patch,
  bash: command,
  shell: command,
  localshell: command,
  shellcommand: command,
  execcommand: command,
  runshellcommand: command,
  bashcodeexecution: command,
  todowrite: todos,
  updateplan: plan,
  writetodos: todos,
};

/** Names differ between providers in case and punctuation only: Write, write, write_file, MultiEdit. */
function bareName(toolName: string): string {
  return toolName.toLowerCase().replace(/[^a-z]/g, "");
}

function wholeFile(input: Fields): LiveInput {
  return fileChange(pathOf(input), { content: first(input, "content", "text") });
}

function replacement(input: Fields): LiveInput {
  const edits = input.edits ?? input.operations;
  if (Array.isArray(edits)) return replacements(input);
  return fileChange(pathOf(input), {
    oldText: first(input, "old_string", "oldString", "old_str", "old_text", "expected_text"),
    newText: first(input, "new_string", "newString", "new_str", "new_text", "text"),
  });
}

function replacements(input: Fields): LiveInput {
  const edits = input.edits ?? input.operations;
  const list = Array.isArray(edits) ? (edits as readonly Json[]) : [];
  return fileChange(pathOf(input), {
    edits: list.filter(isFields).map((edit) => ({
      oldText: first(edit, "old_string", "oldString", "old_text", "expected_text") ?? "",
      newText: first(edit, "new_string", "newString", "new_text", "text") ?? "",
    })),
  });
}

function notebook(input: Fields): LiveInput {
  return fileChange(first(input, "notebook_path"), { content: first(input, "new_source") });
}

function textEditor(input: Fields): LiveInput | undefined {
  if (input.command === "create") return fileChange(pathOf(input), { content: first(input, "file_text") });
  if (input.command !== "str_replace" && input.command !== "insert") return undefined;
  return fileChange(pathOf(input), {
    oldText: first(input, "old_str"),
    newText: first(input, "new_str", "insert_text"),
  });
}

function patch(input: Fields): LiveInput {
  return fileChange(pathOf(input), { patch: first(input, "input", "patch", "patchText", "diff") });
}

function command(input: Fields): LiveInput | undefined {
  const given = input.command ?? input.cmd ?? input.script;
  const text = Array.isArray(given) ? given.filter((word) => typeof word === "string").join(" ") : given;
  if (typeof text !== "string") return undefined;
  const description = first(input, "description", "justification");
  return description === undefined
    ? { kind: "command", command: text }
    : { kind: "command", command: text, description };
}

function todos(input: Fields): LiveInput {
  return { kind: "todo", items: todoItems(input.todos, "content", "description") };
}

function plan(input: Fields): LiveInput {
  return { kind: "todo", items: todoItems(input.plan, "step") };
}

function todoItems(value: Json | undefined, ...names: readonly string[]): readonly LiveTodo[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).filter(isFields).map((item) => ({
    content: first(item, ...names) ?? "",
    status: item.status === "completed" || item.status === "in_progress" ? item.status : "pending",
  }));
}

function pathOf(input: Fields): string | undefined {
  return first(input, "file_path", "filePath", "path", "filename");
}

function first(input: Fields, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = input[name];
    if (typeof value === "string") return value;
  }
  return undefined;
}

function isFields(value: Json): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Shown = Omit<Extract<LiveInput, { kind: "file_change" }>, "kind" | "path">;
type Maybe<T> = { readonly [K in keyof T]: T[K] | undefined };

function fileChange(path: string | undefined, shown: Maybe<Shown>): LiveInput {
  const given = Object.entries({ path, ...shown }).filter(([, value]) => value !== undefined);
  return { kind: "file_change", ...Object.fromEntries(given) } as LiveInput;
}
