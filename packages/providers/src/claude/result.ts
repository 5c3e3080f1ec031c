/**
 * Tool results: the blocks below a call, and the end of the call.
 *
 * One table says how each tool's result is shown; an unknown or failed one is shown as plain text. A result without a
 * known call (a resumed session) is still shown, without a parent.
 */

import type { BlockKey, Json, JsonObject, Reason } from "@blockyard/kernel";
import { serverResult } from "../anthropic/server-results.ts";
import { isObject } from "../framing/json.ts";
import { bounds, COMPARED_CHARS } from "../limits.ts";
import { given, listOf, objectOf, textOf } from "../read.ts";
import { noteTask, taskOf } from "./background.ts";
import { endCall, runStreamed } from "./call.ts";
import { contentOf, type Outcome, plain, type Show, type Shown, type ToolReport } from "./outcome.ts";
import {
  agentOutcome,
  findingsOutcome,
  foundOutcome,
  messageOutcome,
  resourceOutcome,
  resourcesOutcome,
  skillOutcome,
  toolSearchOutcome,
  webFetchOutcome,
  webSearchOutcome,
} from "./outcome-agent.ts";
import { changeOutcome, notebookEditOutcome } from "./outcome-change.ts";
import { readOutcome } from "./outcome-file.ts";
import { bashOutcome, isDiscarded, isRefusal, taskOutputOutcome } from "./outcome-shell.ts";
import { taskCreateOutcome, taskListOutcome, taskUpdateOutcome, todoWriteOutcome } from "./outcome-todo.ts";
import { type Call, type Out, type Piece, type Scope, type State, trim } from "./state.ts";
import { currentTurn } from "./turn.ts";

const OUTCOMES: ReadonlyMap<string, Show> = new Map<string, Show>([
  ["Read", readOutcome],
  ["NotebookRead", readOutcome],
  ["Write", changeOutcome],
  ["Edit", changeOutcome],
  ["MultiEdit", changeOutcome],
  ["NotebookEdit", notebookEditOutcome],
  ["Bash", bashOutcome],
  ["PowerShell", bashOutcome],
  ["TaskOutput", taskOutputOutcome],
  ["AgentOutputTool", taskOutputOutcome],
  ["BashOutput", taskOutputOutcome],
  ["TodoWrite", todoWriteOutcome],
  ["TaskCreate", taskCreateOutcome],
  ["TaskUpdate", taskUpdateOutcome],
  ["TaskList", taskListOutcome],
  ["Agent", agentOutcome],
  ["Task", agentOutcome],
  ["WebSearch", webSearchOutcome],
  ["WebFetch", webFetchOutcome],
  ["ToolSearch", toolSearchOutcome],
  ["Glob", foundOutcome],
  ["Grep", foundOutcome],
  ["Skill", skillOutcome],
  ["SendMessage", messageOutcome],
  ["TaskStop", messageOutcome],
  ["KillShell", messageOutcome],
  ["EnterPlanMode", messageOutcome],
  ["EnterWorktree", messageOutcome],
  ["ExitWorktree", messageOutcome],
  ["ReadMcpResourceTool", resourceOutcome],
  ["ListMcpResourcesTool", resourcesOutcome],
  ["ReportFindings", findingsOutcome],
  // As they were called in 0.2.
  ["View", readOutcome],
  ["ReadNotebook", readOutcome],
  ["Replace", changeOutcome],
  ["NotebookEditCell", notebookEditOutcome],
  ["GlobTool", foundOutcome],
  ["GrepTool", foundOutcome],
  ["dispatch_agent", agentOutcome],
]);

/** One `tool_result` of a user line. `payload` is the line's, and so belongs to it only where it is the only one. */
interface ToolResult {
  readonly block: JsonObject;
  readonly payload: Json | undefined;
  readonly meta: JsonObject;
  readonly scope: Scope;
  readonly at: number | undefined;
}

export function toolResult(state: State, out: Out, result: ToolResult): void {
  const id = textOf(result.block.tool_use_id) ?? "";
  const call = state.calls.get(id);
  currentTurn(state, out, result.scope);
  if (call !== undefined && !call.isRunning) runStreamed(state, out, call);
  const outcome = outcomeOf(report(state, call, result));
  const reason = outcome.failed ? (deniedReason(result) ?? outcome.reason ?? "failed") : undefined;
  const name = call === undefined ? `o${state.nextSerial++}` : `r${call.results++}`;
  const parent = call?.key ?? result.scope.parent;
  const goesOn = call !== undefined && !call.isEnded && reason === undefined && outcome.isBackground === true;
  for (let i = 0; i < outcome.blocks.length; i++) {
    const shown = outcome.blocks[i] as Shown;
    const blockKey: BlockKey = `${state.prefix}${name}.${i}:${id}`;
    out.push({
      type: "block-start",
      key: blockKey,
      ...(parent === undefined ? {} : { parent }),
      kind: shown.kind,
      role: "tool",
      metadata: { toolUseId: id, toolName: call?.name ?? "unknown", ...shown.metadata },
      ...(shown.text === "" ? {} : { text: shown.text }),
      ...(result.at === undefined ? {} : { at: result.at }),
    });
    // A command in the background runs until it ends.
    if (goesOn && shown.kind === "command") {
      // Of a call that is answered again, the last answer goes on.
      if (call.openResult !== undefined)
        out.push({ type: "block-end", key: call.openResult, status: "done" });
      call.openResult = blockKey;
      continue;
    }
    out.push({
      type: "block-end",
      key: blockKey,
      status: reason === undefined ? "done" : "error",
      ...(reason === undefined ? {} : { reason }),
    });
  }
  if (call === undefined) return;
  const said = contentOf(result.block.content).text;
  rememberTask(state, call, taskOf(objectOf(result.payload), said));
  if (reason === undefined) noteTask(state, out, call, call.input, result.payload, said);
  if (!goesOn) return endWith(out, call, outcome, reason, result);
  call.isBackground = true;
  out.push({ type: "block-meta", key: call.key, metadata: { shortResult: "in the background" } });
}

/** What a call has started is later told under this name. */
function rememberTask(state: State, call: Call, task: string | undefined): void {
  if (task === undefined) return;
  state.tasks.set(task, call);
  trim(state.tasks, bounds.openCalls);
}

function endWith(
  out: Out,
  call: Call,
  outcome: Outcome,
  reason: Reason | undefined,
  result: ToolResult,
): void {
  const metadata: Record<string, Json> = {};
  if (outcome.short !== undefined) metadata.shortResult = outcome.short;
  if (outcome.error !== undefined) metadata.error = outcome.error;
  if (outcome.images !== undefined && outcome.images.length > 0) metadata.images = outcome.images;
  if (reason === "denied") metadata.ask = deniedAsk(call, outcome);
  endCall(out, call, {
    status: reason === undefined ? "done" : "error",
    reason,
    metadata,
    at: result.at,
  });
}

function report(state: State, call: Call | undefined, result: ToolResult): ToolReport {
  const { block, payload } = result;
  return {
    toolName: call?.name ?? "",
    input: objectOf(call?.input),
    content: block.content,
    // On failure the payload is the error text again, with "Error: " in front.
    payload: block.is_error === true && typeof payload === "string" ? null : payload,
    isError: block.is_error === true || saysFailure(payload),
    cwd: state.cwd,
    isOld: /^[01]\.|^2\.0\.[12]?\d$/.test(state.version),
    todo: state.todo,
    asideOf: state.asideOf,
  };
}

/** Some tools tell a failure in their payload alone, and leave `is_error` out. */
function saysFailure(payload: Json | undefined): boolean {
  if (!isObject(payload)) return false;
  return payload.success === false || (typeof payload.error === "string" && payload.error !== "");
}

function outcomeOf(result: ToolReport): Outcome {
  return OUTCOMES.get(result.toolName)?.(result) ?? plain(result);
}

/** Whether it failed because somebody, or a rule, did not want it. */
function deniedReason(result: ToolResult): Reason | undefined {
  const decision = objectOf(result.meta.permission_decision ?? result.meta.permissionDecision).decision;
  if (decision === "reject") return "denied";
  const kind = textOf(result.meta.non_execution_kind);
  if (kind === "user-rejected") return "cancelled";
  if (kind === "permission-rule") return "denied";
  const said = typeof result.block.content === "string" ? result.block.content : "";
  if (result.payload === "User rejected tool use") return "cancelled";
  if (isDiscarded(said)) return "retracted";
  return decision === undefined && isRefusal(said) ? "denied" : undefined;
}

function deniedAsk(call: Call, outcome: Outcome): JsonObject {
  const asked = call.ask ?? { id: call.id, kind: "permission" };
  return given({ ...asked, state: "denied", message: outcome.error }) as JsonObject;
}

/** A result that came as a content block of the answer itself: tools that run at the provider. */
export function takeServerResult(
  state: State,
  out: Out,
  piece: Piece,
  block: JsonObject,
  at: number | undefined,
): void {
  const id = textOf(block.tool_use_id);
  const call = id === undefined ? undefined : state.calls.get(id);
  const { message } = piece;
  const place = {
    key: piece.key,
    parent: message.scope.parent,
    metadata: { messageId: message.id, index: piece.index },
  };
  if (call !== undefined) runStreamed(state, out, call);
  const known =
    call === undefined
      ? undefined
      : { key: call.key, toolUseId: call.id, toolName: call.name, input: call.input };
  const isOpen = call !== undefined && !call.isEnded;
  const events = serverResult(place, block, known, isOpen);
  const end = isOpen ? events.at(-1) : undefined;
  out.push(...(end === undefined ? events : events.slice(0, -1)));
  if (call === undefined || end === undefined || end.type !== "block-end") return;
  endCall(out, call, { status: end.status, reason: end.reason, metadata: end.metadata ?? {}, at });
}

/**
 * A `tool_result` among the content blocks of an answer, as some hosts write it: the result of a tool that ran here. A
 * user line may say the same again.
 */
export function takeStreamedResult(
  state: State,
  out: Out,
  piece: Piece,
  block: JsonObject,
  at: number | undefined,
): void {
  if (piece.isEnded) return;
  piece.isEnded = true;
  piece.held = undefined;
  piece.text = "";
  const call = state.calls.get(textOf(block.tool_use_id) ?? "");
  toolResult(state, out, { block, payload: undefined, meta: {}, scope: piece.message.scope, at });
  if (call !== undefined) call.streamedResult = lookOf(block.content);
}

/** One whose content came as deltas. */
export function takeHeld(state: State, out: Out, piece: Piece): void {
  const block = piece.text === "" ? objectOf(piece.held) : { ...piece.held, content: piece.text };
  takeStreamedResult(state, out, piece, block, undefined);
}

/** Whether a user line only repeats what a content block has told. */
export function isRepeatedResult(call: Call | undefined, block: JsonObject): boolean {
  return call?.streamedResult !== undefined && call.streamedResult === lookOf(block.content);
}

/** What a result looks like from afar; the same one looks the same. */
function lookOf(content: Json | undefined): string {
  const text = contentOf(content).text;
  return `${text.length} ${text.slice(0, COMPARED_CHARS)}`;
}

/** The `tool_result_meta` of one result. */
export function metaOf(line: JsonObject, id: Json | undefined): JsonObject {
  for (const meta of listOf(line.tool_result_meta)) if (objectOf(meta).id === id) return objectOf(meta);
  return {};
}
