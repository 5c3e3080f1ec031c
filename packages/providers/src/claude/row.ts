/**
 * The one-line row of a tool call: the input in few words (`compactParams`).
 *
 * For people at a glance, not for machines: the block has the whole input. Paths are shown relative to the working
 * directory.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { listOf, numberOf, textOf, wordsOf } from "../read.ts";
import { cutRow, rowOf } from "../row.ts";

export function compactParams(name: string, input: JsonObject, cwd: string): string {
  const show = ROWS[name];
  const row = show === undefined ? undefined : show(input, cwd);
  return rowOf(row ?? anyParams(input)) ?? "";
}

/** A path as a person in that directory would write it. */
function relative(path: string, cwd: string): string {
  if (cwd === "" || cwd === "/") return path;
  const folder = cwd.endsWith("/") ? cwd : `${cwd}/`;
  return path.startsWith(folder) && path.length > folder.length ? path.slice(folder.length) : path;
}

type Row = (input: JsonObject, cwd: string) => string | undefined;

const file: Row = (input, cwd) => pathOf(input.file_path ?? input.notebook_path, cwd);

const ROWS: Readonly<Record<string, Row>> = Object.assign(Object.create(null) as Record<string, Row>, {
  Read: (input, cwd) => withRange(pathOf(input.file_path, cwd), input),
  View: (input, cwd) => withRange(pathOf(input.file_path, cwd), input),
  Replace: file,
  Write: file,
  Edit: file,
  MultiEdit: file,
  NotebookEdit: file,
  NotebookRead: file,
  LS: (input, cwd) => pathOf(input.path, cwd),
  Bash: (input) => wordsOf(input.description) ?? textOf(input.command),
  PowerShell: (input) => wordsOf(input.description) ?? textOf(input.command),
  Monitor: (input) => wordsOf(input.description) ?? textOf(input.command),
  Glob: (input, cwd) => inPlace(textOf(input.pattern), input.path, cwd),
  Grep: (input, cwd) => inPlace(textOf(input.pattern), input.path ?? input.glob, cwd),
  Agent: (input) => wordsOf(input.description) ?? textOf(input.prompt),
  Task: (input) => wordsOf(input.description) ?? textOf(input.prompt),
  TodoWrite: (input) => count(listOf(input.todos).length, "item"),
  TaskCreate: (input) => textOf(input.subject),
  TaskUpdate: (input) => join([`#${shown(input.taskId)}`, wordsOf(input.status)], " → "),
  TaskGet: (input) => `#${shown(input.taskId)}`,
  TaskList: () => "",
  TaskStop: taskId,
  TaskOutput: taskId,
  BashOutput: taskId,
  KillShell: taskId,
  KillBash: taskId,
  WebSearch: (input) => textOf(input.query),
  WebFetch: (input) => textOf(input.url),
  ToolSearch: (input) => textOf(input.query),
  web_search: (input) => textOf(input.query),
  web_fetch: (input) => textOf(input.url),
  code_execution: (input) => textOf(input.code),
  bash_code_execution: (input) => textOf(input.command),
  Skill: (input) => join([wordsOf(input.skill) ?? wordsOf(input.command), wordsOf(input.args)], " "),
  SlashCommand: (input) => textOf(input.command),
  AskUserQuestion: (input) => firstQuestion(input.questions),
  ExitPlanMode: (input) => textOf(input.plan) ?? "",
  EnterPlanMode: () => "",
  EnterWorktree: (input) => textOf(input.name),
  ReportFindings: (input) => count(listOf(input.findings).length, "finding"),
  ReadMcpResourceTool: (input) => textOf(input.uri),
  ListMcpResourcesTool: (input) => textOf(input.server),
} satisfies Record<string, Row>);

function taskId(input: JsonObject): string | undefined {
  return textOf(input.task_id) ?? textOf(input.bash_id) ?? textOf(input.shell_id);
}

function pathOf(path: Json | undefined, cwd: string): string | undefined {
  return typeof path === "string" ? relative(path, cwd) : undefined;
}

function withRange(path: string | undefined, input: JsonObject): string | undefined {
  if (path === undefined) return undefined;
  const pages = wordsOf(input.pages);
  if (pages !== undefined) return `${path} p. ${pages}`;
  const offset = numberOf(input.offset);
  const limit = numberOf(input.limit);
  if (offset === undefined && limit === undefined) return path;
  const first = Math.max(offset ?? 1, 1);
  return limit === undefined ? `${path}:${first}-` : `${path}:${first}-${first + limit - 1}`;
}

function inPlace(pattern: string | undefined, place: Json | undefined, cwd: string): string | undefined {
  const where = pathOf(place, cwd);
  return pattern === undefined || where === undefined || where === "" ? pattern : `${pattern} in ${where}`;
}

function firstQuestion(questions: Json | undefined): string | undefined {
  const first = listOf(questions)[0];
  return typeof first === "object" && first !== null && !Array.isArray(first)
    ? textOf((first as JsonObject).question)
    : undefined;
}

/** The input of a tool that nobody has told us about: its plain values. */
function anyParams(input: JsonObject): string {
  const parts: string[] = [];
  for (const key in input) {
    const value = input[key];
    if (value === null || value === undefined || typeof value === "object") continue;
    parts.push(`${key}: ${cutRow(rowOf(String(value)) ?? "", 60)}`);
    if (parts.length === 4) break;
  }
  return parts.join(", ");
}

function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}

function join(parts: readonly (string | undefined)[], by: string): string {
  return parts.filter((part) => part !== undefined && part !== "").join(by);
}

function shown(value: Json | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "?";
}
