/**
 * System lines, and the other single lines that are neither conversation nor result. Words for a person become
 * notices, facts about an open block become its metadata, bookkeeping makes nothing. What is in no table is unknown.
 */

import type { JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { given, listOf, numberOf, objectOf, textOf, timeOf, wordsOf } from "../read.ts";
import { addTask } from "./background.ts";
import { keyOfCall, openCall, runCall } from "./call.ts";
import { resetCost } from "./cost.ts";
import { addNotice, presentFields } from "./notice.ts";
import { type Call, lineKey, type Out, PROVIDER, type State, trim } from "./state.ts";
import { currentTurn, initLine } from "./turn.ts";

type Take = (state: State, out: Out, line: JsonObject) => void;

/** Facts about the process, its files and its host; not conversation. */
const nothing: Take = () => {};

/** Lines of type `system`, by subtype. */
const SYSTEM: ReadonlyMap<string, Take> = new Map<string, Take>([
  ["init", initLine],
  ["status", status],
  ["api_retry", apiRetry],
  ["api_error", apiError],
  ["thinking_tokens", thinkingTokens],
  ["compact_boundary", compactBoundary],
  ["microcompact_boundary", compactBoundary],
  ["permission_denied", permissionDenied],
  ["task_started", taskStarted],
  ["task_progress", taskProgress],
  ["task_updated", nothing],
  ["task_notification", taskNotification],
  ["background_tasks_changed", nothing],
  ["hook_started", nothing],
  ["hook_progress", nothing],
  ["hook_response", hookResponse],
  ["stop_hook_summary", stopHookSummary],
  ["informational", saying("informational")],
  ["local_command_output", saying("local_command")],
  ["local_command", saying("local_command")],
  ["notification", saying("notification")],
  ["mirror_error", saying("mirror_error")],
  ["session_writes_lost", saying("session_writes_lost")],
  ["worker_shutting_down", saying("shutdown")],
  ["model_fallback", saying("fallback")],
  ["model_refusal_fallback", saying("refusal")],
  ["model_refusal_no_fallback", saying("refusal")],
  ["plugin_install", failing("plugin_install")],
  ["files_persisted", filesPersisted],
  ["memory_recall", nothing],
  ["elicitation_complete", nothing],
  ["commands_changed", nothing],
  ["control_request_progress", nothing],
  ["session_state_changed", nothing],
  ["session_title_changed", titleChanged],
  ["ui_invalidate", nothing],
  ["vcs_state_changed", nothing],
  ["turn_duration", nothing],
  ["away_summary", saying("summary")],
]);

/** Other lines, by type. */
const LINES: ReadonlyMap<string, Take> = new Map<string, Take>([
  ["tool_progress", toolProgress],
  ["tool_use_summary", saying("tool_summary")],
  ["prompt_suggestion", saying("prompt_suggestion")],
  ["rate_limit_event", rateLimit],
  ["conversation_reset", conversationReset],
  ["auth_status", authStatus],
  ["active_goal", saying("goal")],
  ["keep_alive", nothing],
  ["transcript_mirror", nothing],
  ["command_lifecycle", nothing],
]);

/** False for an unknown line. */
export function systemLine(state: State, out: Out, line: JsonObject): boolean {
  const take =
    line.type === "system" ? SYSTEM.get(textOf(line.subtype) ?? "") : LINES.get(textOf(line.type) ?? "");
  take?.(state, out, line);
  return take !== undefined;
}

/** The text of a line, whatever its field is called. */
function spoken(line: JsonObject): string | undefined {
  const said = [
    line.content,
    line.message,
    line.text,
    line.summary,
    line.suggestion,
    line.goal,
    line.error,
    line.reason,
  ]
    .map(wordsOf)
    .find((text) => text !== undefined);
  return said === undefined ? undefined : withoutTags(said);
}

function saying(notice: string): Take {
  return (state, out, line) => {
    const parent = keyOfCall(state, line.tool_use_id);
    addNotice(state, out, line, { notice, text: spoken(line), parent, extra: { level: line.level ?? null } });
  };
}

function titleChanged(state: State, out: Out, line: JsonObject): void {
  const title = wordsOf(line.title);
  if (title !== undefined)
    out.push({ type: "session", provider: PROVIDER, ...given({ sessionId: state.sessionId }), title });
}

/** Shown only if it failed. */
function failing(notice: string): Take {
  return (state, out, line) => {
    if (wordsOf(line.error) !== undefined) addNotice(state, out, line, { notice, text: textOf(line.error) });
  };
}

/** Slash commands wrap their output. */
export function withoutTags(text: string): string {
  const match =
    /^\s*<(local-command-stdout|local-command-stderr|bash-stdout|bash-stderr)>([\s\S]*)<\/\1>\s*$/.exec(text);
  return match === null ? text : (match[2] as string);
}

function status(state: State, out: Out, line: JsonObject): void {
  const turn = state.turns.at(-1);
  if (line.status === "requesting" && turn !== undefined) turn.isRequesting = true;
  if (line.compact_result !== "failed") return;
  addNotice(state, out, line, {
    notice: "compaction",
    text: compactionFailure(wordsOf(line.compact_error)),
  });
}

/** Some reasons are sentences, others names. */
function compactionFailure(why: string | undefined): string {
  const failed = "The conversation could not be compacted";
  if (why === undefined) return failed;
  if (why === "too_few_groups") return `${failed}: it has too few messages.`;
  return /^[a-z]/.test(why) ? `${failed}: ${why.replaceAll("_", " ")}` : why;
}

function apiRetry(state: State, out: Out, line: JsonObject): void {
  const code = numberOf(line.error_status);
  const named = wordsOf(line.error)?.replaceAll("_", " ");
  const error = named === "rate limit" ? "rate limited" : named;
  const isLost = code === undefined && (error === undefined || error === "unknown");
  const what = error === undefined ? `HTTP ${code}` : code === undefined ? error : `${error} (${code})`;
  retryNotice(state, out, line, isLost ? "the connection was lost" : what, {
    attempt: line.attempt ?? null,
    maxRetries: line.max_retries ?? null,
    delayMs: line.retry_delay_ms ?? null,
    status: line.error_status ?? null,
    error: line.error ?? null,
  });
}

/** The same in the log. */
function apiError(state: State, out: Out, line: JsonObject): void {
  const error = objectOf(line.error);
  const what = wordsOf(error.formatted) ?? wordsOf(error.message) ?? "the request failed";
  retryNotice(state, out, line, what, {
    attempt: line.retryAttempt ?? null,
    maxRetries: line.maxRetries ?? null,
    delayMs: line.retryInMs ?? null,
    status: error.status ?? null,
  });
}

/** One line for consecutive retries: it counts them, and names other errors. */
function retryNotice(state: State, out: Out, line: JsonObject, what: string, extra: JsonObject): void {
  const known = state.retry;
  const kept = presentFields(extra);
  if (known === undefined) {
    const at = timeOf(line.timestamp);
    const key = lineKey(state, line.uuid);
    state.retry = { key, times: 1, what };
    out.push({
      type: "block-start",
      key,
      kind: "text",
      role: "system",
      metadata: { notice: "retry", extra: kept },
      text: `Retrying: ${what}`,
      ...(at === undefined ? {} : { at }),
    });
    return;
  }
  known.times++;
  if (what !== known.what) out.push({ type: "block-append", key: known.key, text: `, then ${what}` });
  known.what = what;
  out.push({ type: "block-meta", key: known.key, metadata: { times: known.times, extra: kept } });
}

/** A running estimate: for the thinking block that is open, or comes next. */
function thinkingTokens(state: State, _out: Out, line: JsonObject): void {
  state.thinkingTokens = numberOf(line.estimated_tokens) ?? state.thinkingTokens;
}

function compactBoundary(state: State, out: Out, line: JsonObject): void {
  const facts = objectOf(line.compact_metadata ?? line.compactMetadata ?? line.microcompactMetadata);
  const before = numberOf(facts.pre_tokens) ?? numberOf(facts.preTokens);
  const after = numberOf(facts.post_tokens) ?? numberOf(facts.postTokens);
  const left = after === undefined ? "" : ` → ${after.toLocaleString("en-US")}`;
  const tokens = before === undefined ? "" : `: ${before.toLocaleString("en-US")}${left} tokens`;
  const trigger = wordsOf(facts.trigger);
  const text = `Conversation compacted${trigger === undefined ? "" : ` (${trigger})`}${tokens}`;
  const extra = { trigger: trigger ?? null, ...(after === undefined ? {} : { post_tokens: after }) };
  addNotice(state, out, line, { notice: "compaction", text, extra });
  const kept = objectOf(facts.preserved_messages);
  const uuids = listOf(kept.all_uuids ?? kept.uuids).flatMap((uuid) => textOf(uuid) ?? []);
  state.kept = new Set(uuids.slice(-bounds.openCalls));
}

/** The call's own result has the same text; without a call it is alone. */
function permissionDenied(state: State, out: Out, line: JsonObject): void {
  const call = callOf(state, line.tool_use_id);
  if (call === undefined || call.isEnded) {
    const tool = textOf(line.tool_name) ?? "A tool";
    const text = wordsOf(line.message) ?? `${tool} was denied`;
    addNotice(state, out, line, { notice: "permission_denied", text, parent: call?.key });
    return;
  }
  const message = wordsOf(line.message);
  call.ask = {
    ...(call.ask ?? { id: call.id, kind: "permission" }),
    state: "denied",
    ...(message === undefined ? {} : { message }),
  };
  out.push({ type: "block-meta", key: call.key, metadata: { ask: { ...call.ask } as JsonObject } });
}

/** An agent inside an agent appears only in its tasks: the call is built from them. */
function taskStarted(state: State, out: Out, line: JsonObject): void {
  const id = wordsOf(line.tool_use_id);
  if (id === undefined) return;
  const taskId = wordsOf(line.task_id);
  const call = state.calls.get(id);
  if (call === undefined && line.task_type === "local_agent") startNestedAgent(state, out, line, id);
  const known = state.calls.get(id);
  if (known !== undefined && taskId !== undefined) {
    state.tasks.set(taskId, known);
    trim(state.tasks, bounds.openCalls);
  }
  if (known !== undefined && line.is_backgrounded === true) known.isBackground = true;
}

function startNestedAgent(state: State, out: Out, line: JsonObject, id: string): void {
  const above = state.tasks.get(textOf(line.parent_task_id) ?? "");
  const scope = { parent: above?.key, label: undefined };
  const call = openCall(state, out, {
    id,
    name: "Agent",
    scope,
    turn: currentTurn(state, out, scope).ordinal,
  });
  const input: Record<string, string> = {};
  for (const name of ["description", "prompt", "subagent_type"]) {
    const value = wordsOf(line[name]);
    if (value !== undefined) input[name] = value;
  }
  runCall(state, out, call, input);
}

function taskProgress(state: State, out: Out, line: JsonObject): void {
  const call = callOf(state, line.tool_use_id);
  const text = wordsOf(line.description);
  if (call !== undefined && text !== undefined) showProgress(out, call, text);
}

/** A task that ends while its call is open appears in the call's result; in the background only in this. */
function taskNotification(state: State, out: Out, line: JsonObject): void {
  const call = callOf(state, line.tool_use_id) ?? state.tasks.get(textOf(line.task_id) ?? "");
  if (call !== undefined && !call.isEnded && !call.isBackground) return;
  const summary = wordsOf(line.summary) ?? wordsOf(line.description) ?? "Task";
  addTask(state, out, line, {
    summary,
    status: textOf(line.status),
    call,
    outputFile: wordsOf(line.output_file),
    taskId: wordsOf(line.task_id),
    report: summary,
    toolUses: numberOf(objectOf(line.usage).tool_uses),
  });
}

function toolProgress(state: State, out: Out, line: JsonObject): void {
  // A heartbeat has an id of its own; the call's is in the place of a sub-agent's parent.
  const call = callOf(state, line.heartbeat === true ? line.parent_tool_use_id : line.tool_use_id);
  const seconds = numberOf(line.elapsed_time_seconds);
  if (call !== undefined && seconds !== undefined)
    showProgress(out, call, `running for ${Math.round(seconds)} s`);
}

function showProgress(out: Out, call: Call, progress: string): void {
  if (call.isEnded) return;
  call.hasProgress = true;
  out.push({ type: "block-meta", key: call.key, metadata: { progress } });
}

function hookResponse(state: State, out: Out, line: JsonObject): void {
  const output =
    wordsOf(line.output) ??
    [line.stdout, line.stderr]
      .map(wordsOf)
      .filter((text) => text !== undefined)
      .join("\n");
  const failed = line.outcome !== undefined && line.outcome !== "success";
  const name = wordsOf(line.hook_name) ?? "Hook";
  const text =
    output.trim() === "" ? (failed ? `${name}: ${textOf(line.outcome) ?? "failed"}` : undefined) : output;
  addNotice(state, out, line, {
    notice: "hook",
    text,
    extra: {
      hook: line.hook_name ?? null,
      event: line.hook_event ?? null,
      exitCode: line.exit_code ?? null,
      outcome: line.outcome ?? null,
    },
  });
}

/** The log's own account of hooks that ran when a turn ended. */
function stopHookSummary(state: State, out: Out, line: JsonObject): void {
  const errors = listOf(line.hookErrors).filter((error): error is string => typeof error === "string");
  const text = [
    ...errors,
    ...(wordsOf(line.stopReason) === undefined ? [] : [textOf(line.stopReason) ?? ""]),
  ].join("\n");
  addNotice(state, out, line, { notice: "hook", text, extra: { count: line.hookCount ?? null } });
}

function filesPersisted(state: State, out: Out, line: JsonObject): void {
  const failed = listOf(line.failed).map(objectOf);
  const text = failed
    .map((file) => `${textOf(file.filename) ?? "A file"}: ${textOf(file.error) ?? "not saved"}`)
    .join("\n");
  addNotice(state, out, line, { notice: "files_persisted", text });
}

function rateLimit(state: State, out: Out, line: JsonObject): void {
  const info = objectOf(line.rate_limit_info);
  if (info.status === undefined || info.status === "allowed") return;
  const which = wordsOf(info.rateLimitType)?.replaceAll("_", " ");
  const used = numberOf(info.utilization);
  const share = used === undefined ? "" : `, ${Math.round(used <= 1 ? used * 100 : used)} % used`;
  const head = info.status === "rejected" ? "Rate limit reached" : "Close to the rate limit";
  addNotice(state, out, line, {
    notice: "rate_limit",
    text: `${head}${which === undefined ? "" : ` (${which})`}${share}`,
    extra: isObject(line.rate_limit_info) ? line.rate_limit_info : {},
  });
}

function conversationReset(state: State, out: Out, line: JsonObject): void {
  resetCost(state);
  state.todo.clear();
  const id = wordsOf(line.new_conversation_id);
  const trigger = wordsOf(line.trigger);
  addNotice(state, out, line, {
    notice: "reset",
    text: `Conversation restarted${trigger === undefined ? "" : ` (${trigger})`}`,
    extra: { conversation: id ?? null },
  });
}

function authStatus(state: State, out: Out, line: JsonObject): void {
  const said = listOf(line.output).filter((text): text is string => typeof text === "string");
  const text = [...said, ...(wordsOf(line.error) === undefined ? [] : [textOf(line.error) ?? ""])].join("\n");
  addNotice(state, out, line, { notice: "auth", text });
}

function callOf(state: State, id: JsonObject[string] | undefined): Call | undefined {
  return typeof id === "string" ? state.calls.get(id) : undefined;
}
