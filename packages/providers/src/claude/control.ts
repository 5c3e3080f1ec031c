/**
 * The control protocol on the same stream: requests of the CLI to its host, and answers.
 *
 * A permission request belongs to its tool call, as `approval`, with the id that the host must answer to. What host
 * programs tell each other otherwise (modes, models, hooks, MCP messages) makes no block.
 */

import type { JsonObject } from "@blockyard/kernel";
import { bounds } from "../bounds.ts";
import { given, objectOf, textOf, wordsOf } from "../read.ts";
import { openCall, runCall } from "./call.ts";
import { addNotice } from "./notice.ts";
import { askedDiff } from "./outcome-change.ts";
import { type Approval, type Call, type Out, type State, scopeOf, trim } from "./state.ts";
import { currentTurn } from "./turn.ts";

const QUIET = new Set([
  "hook_callback",
  "mcp_message",
  "initialize",
  "interrupt",
  "set_permission_mode",
  "set_model",
]);

/** False where nobody knows the request. */
export function controlRequest(state: State, out: Out, line: JsonObject): boolean {
  const request = objectOf(line.request);
  const subtype = textOf(request.subtype) ?? "";
  if (subtype === "can_use_tool") {
    askPermission(state, out, line, request);
    return true;
  }
  if (subtype === "elicitation" || subtype === "request_user_dialog") {
    const text = wordsOf(request.message) ?? wordsOf(request.title) ?? wordsOf(request.prompt);
    addNotice(state, out, line, { notice: subtype, text, extra: { request: line.request_id ?? null } });
    return true;
  }
  return QUIET.has(subtype);
}

function askPermission(state: State, out: Out, line: JsonObject, request: JsonObject): void {
  const requestId = textOf(line.request_id) ?? "";
  const id = wordsOf(request.tool_use_id) ?? requestId;
  const scope = scopeOf(state, line);
  const turn = currentTurn(state, out, scope).ordinal;
  const call = openCall(state, out, { id, name: wordsOf(request.tool_name) ?? "unknown", scope, turn });
  if (call.isEnded) return;
  const input = request.input ?? {};
  if (!call.isRunning) runCall(state, out, call, input);
  const approval = given({
    id: requestId,
    state: "asked",
    title: wordsOf(request.description) ?? wordsOf(request.display_name) ?? wordsOf(request.decision_reason),
    input,
    diff: askedDiff(call.name, objectOf(input)),
    suggestions: request.permission_suggestions ?? undefined,
  }) as Approval;
  state.requests.set(requestId, call);
  trim(state.requests, bounds.openCalls);
  setApproval(out, call, approval);
}

function setApproval(out: Out, call: Call, approval: Approval): void {
  call.approval = approval;
  if (!call.isEnded) out.push({ type: "block-meta", key: call.key, metadata: { approval: { ...approval } } });
}

/** An answer of the host, where it is fed back into the stream, or of the CLI to a request of the host. */
export function controlResponse(state: State, out: Out, line: JsonObject): void {
  const response = objectOf(line.response);
  const requestId = textOf(response.request_id) ?? "";
  const call = state.requests.get(requestId);
  if (call !== undefined) {
    state.requests.delete(requestId);
    return answer(out, call, objectOf(response.response));
  }
  if (response.subtype !== "error") return;
  addNotice(state, out, line, {
    notice: "control_error",
    text: wordsOf(response.error),
    extra: { request: requestId },
  });
}

function answer(out: Out, call: Call, said: JsonObject): void {
  if (call.approval === undefined || call.isEnded) return;
  const message = wordsOf(said.message);
  const isAllowed = said.behavior === "allow";
  setApproval(out, call, {
    ...call.approval,
    state: isAllowed ? "allowed" : "denied",
    ...(message === undefined ? {} : { message }),
  });
}

export function cancelRequest(state: State, out: Out, line: JsonObject): void {
  const requestId = textOf(line.request_id) ?? "";
  const call = state.requests.get(requestId);
  state.requests.delete(requestId);
  if (call?.approval !== undefined && call.approval.state === "asked") {
    setApproval(out, call, { ...call.approval, state: "expired" });
  }
}
