/**
 * Background tasks: a command or an agent whose call was answered when it was launched. Its call, and a command's
 * block, stay open until its end is reported: by a notification, a read of its output, or a stop.
 */

import type { BlockKey, Json, JsonObject, Reason } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { given, objectOf, textOf, timeOf, wholeOf, wordsOf } from "../read.ts";
import { rowOf } from "../row.ts";
import { endCall } from "./call.ts";
import { addNotice, presentFields } from "./notice.ts";
import { usesRow } from "./outcome-agent.ts";
import type { Call, Out, State } from "./state.ts";

interface BackgroundEnd {
  /** As the provider words it: completed, failed, stopped, killed, … */
  readonly status: string | undefined;
  readonly exitCode?: number | undefined;
  readonly summary?: string | undefined;
  readonly short?: string | undefined;
  readonly at?: number | undefined;
}

interface TaskEnd {
  readonly summary: string;
  readonly status: string | undefined;
  /** The call that started it. */
  readonly call: Call | undefined;
  readonly outputFile?: string | undefined;
  readonly taskId?: string | undefined;
  /** What an agent says at its end. */
  readonly report?: string | undefined;
  readonly toolUses?: number | undefined;
}

export function addTask(state: State, out: Out, line: JsonObject, task: TaskEnd): void {
  const { call, status, summary, toolUses } = task;
  const plainly = status === undefined || status === "completed";
  const facts = { taskId: task.taskId ?? null, status: status ?? null, outputFile: task.outputFile ?? null };
  const isReport = call?.isBackground === true && AGENTS.has(call.name) && status !== "running";
  const report = task.report ?? summary;
  if (isReport) addReport(state, out, call, report, { ...facts, toolUses: toolUses ?? null }, line);
  else
    addNotice(state, out, line, {
      notice: "task",
      text: plainly ? summary : `${summary} (${status})`,
      parent: call?.key,
      extra: facts,
    });
  if (status === "running") return;
  const at = timeOf(line.timestamp);
  const short = isReport && plainly ? usesRow(toolUses, report) : undefined;
  endBackground(out, call, { status, summary, short, at });
}

/** The report of an agent that worked in the background is the result of its call, like that of any other. */
function addReport(
  state: State,
  out: Out,
  call: Call,
  text: string,
  facts: { readonly [key: string]: Json },
  line: JsonObject,
): void {
  const key: BlockKey = `${state.prefix}r${call.results++}.0:${call.id}`;
  const at = timeOf(line.timestamp);
  out.push({
    type: "block-start",
    key,
    parent: call.key,
    kind: "tool_result",
    role: "tool",
    metadata: { toolUseId: call.id, toolName: call.name, result: presentFields(facts) },
    text,
    ...(at === undefined ? {} : { at }),
  });
  out.push({ type: "block-end", key, status: "done" });
}

const AGENTS: ReadonlySet<string> = new Set(["Agent", "Task"]);

const STOPPED = new Set(["stopped", "killed", "cancelled", "canceled"]);

function endBackground(out: Out, call: Call | undefined, end: BackgroundEnd): void {
  if (call === undefined || call.isEnded || !call.isBackground) return;
  const isCommand = call.openResult !== undefined;
  // An agent's report may speak of any exit code.
  const stated = end.exitCode ?? (isCommand ? exitIn(end.summary) : undefined);
  const reason = reasonOf(end.status, stated);
  const short =
    isCommand && stated !== undefined
      ? `exit ${stated}`
      : (end.short ?? end.status ?? rowOf(end.summary ?? ""));
  endCall(out, call, {
    status: reason === undefined ? "done" : "error",
    reason,
    metadata: given({
      shortResult: short,
      error: reason === undefined ? undefined : (rowOf(end.summary ?? "") ?? short),
    }) as JsonObject,
    result: isCommand
      ? (given({ exitCode: stated, isError: reason === "failed" || undefined }) as JsonObject)
      : undefined,
    at: end.at,
  });
}

function reasonOf(status: string | undefined, exitCode: number | undefined): Reason | undefined {
  if (status !== undefined && STOPPED.has(status)) return "cancelled";
  if (exitCode !== undefined && exitCode !== 0) return "failed";
  return status === undefined || status === "completed" || status === "success" ? undefined : "failed";
}

/** "… completed (exit code 0)", "… failed with exit code 3". */
function exitIn(summary: string | undefined): number | undefined {
  const match = /\bexit code (-?\d{1,9})\b/.exec(summary ?? "");
  return match === null ? undefined : Number(match[1]);
}

/** The name under which a call's task is told later. */
export function taskOf(payload: JsonObject, said: string): string | undefined {
  return (
    textOf(payload.backgroundTaskId) ??
    textOf(payload.taskId) ??
    textOf(payload.agentId) ??
    /^Command running in background with ID: ([\w-]+)/.exec(said)?.[1]
  );
}

/** Tools that look at a task, and tools that stop one. */
const LOOKS = new Set(["TaskOutput", "AgentOutputTool", "BashOutput"]);
const STOPS = new Set(["TaskStop", "KillShell", "KillBash"]);

/** What the result of such a tool tells of the task that it names. */
export function noteTask(
  state: State,
  out: Out,
  call: Call,
  input: Json | undefined,
  payload: Json | undefined,
  said: string,
): void {
  const asked = objectOf(input);
  const told = objectOf(payload);
  const task = isObject(told.task) ? told.task : told;
  const id = [task.task_id, asked.task_id, asked.bash_id, asked.shell_id, asked.agentId]
    .map(wordsOf)
    .find((name) => name !== undefined);
  const of = id === undefined ? undefined : state.tasks.get(id);
  if (STOPS.has(call.name)) return endBackground(out, of, { status: "stopped" });
  if (!LOOKS.has(call.name)) return;
  const status = wordsOf(task.status) ?? /<status>(\w+)<\/status>/.exec(said)?.[1];
  if (status === undefined || status === "running" || status === "pending") return;
  const exitCode = wholeOf(task.exitCode) ?? wholeOf(/<exit_code>(\d+)<\/exit_code>/.exec(said)?.[1]);
  endBackground(out, of, { status, exitCode });
}
