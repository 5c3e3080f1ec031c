/**
 * The control protocol on the same stream: requests of the CLI to its host, and answers.
 *
 * A request is an `ask` on the tool call that it concerns, with the id that the host must answer to; the form of an MCP
 * server, which names no call, is on a separate notice. Other traffic between host programs (modes, models, hooks, MCP
 * messages) makes no block.
 */

import type { Ask, BlockKey, JsonObject } from "@blockyard/kernel";
import { bounds } from "../limits.ts";
import { objectOf, textOf, timeOf, wordsOf } from "../read.ts";
import { answeredAsk, formAsk, planIn, toolAsk } from "./ask.ts";
import { openCall, runCall } from "./call.ts";
import { addNotice } from "./notice.ts";
import { type Call, lineKey, type Out, type State, scopeOf, trim } from "./state.ts";
import { currentTurn } from "./turn.ts";

const QUIET = new Set([
  "hook_callback",
  "mcp_message",
  "initialize",
  "interrupt",
  "set_permission_mode",
  "set_model",
]);

const ASKS = new Set(["can_use_tool", "elicitation"]);

/** False where nobody knows the request. */
export function controlRequest(state: State, out: Out, line: JsonObject): boolean {
  const request = objectOf(line.request);
  const subtype = textOf(request.subtype) ?? "";
  const id = wordsOf(line.request_id);
  // What has no name cannot be answered: nobody is shown such a question.
  if (ASKS.has(subtype) && id === undefined) return false;
  if (id !== undefined && isAsking(state, id)) return true;
  if (subtype === "can_use_tool") {
    askPermission(state, out, line, request, id ?? "");
    return true;
  }
  if (subtype === "elicitation") {
    askForm(state, out, line, request, id ?? "");
    return true;
  }
  if (subtype === "request_user_dialog") {
    const text = wordsOf(request.message) ?? wordsOf(request.title) ?? wordsOf(request.prompt);
    addNotice(state, out, line, { notice: subtype, text, extra: { request: line.request_id ?? null } });
    return true;
  }
  return QUIET.has(subtype);
}

/** Whether a question of this name is open: the name said again means the same question. */
function isAsking({ requests, forms }: State, id: string): boolean {
  return forms.has(id) || requests.get(id)?.ask?.state === "asked";
}

function askPermission(
  state: State,
  out: Out,
  line: JsonObject,
  request: JsonObject,
  requestId: string,
): void {
  const id = wordsOf(request.tool_use_id) ?? requestId;
  const call = state.calls.get(id) ?? askingCall(state, out, line, request, id);
  if (call.isEnded) return;
  const input = request.input ?? {};
  if (!call.isRunning) runCall(state, out, call, input);
  expireAsk(state, out, call);
  const ask = toolAsk(
    requestId,
    request,
    state.cwd,
    `${call.key}/plan${call.plans === 0 ? "" : `-${call.plans}`}`,
  );
  if (ask.plan !== undefined) addPlan(out, call, ask.plan, planIn(request) ?? "");
  state.requests.set(requestId, call);
  trim(state.requests, bounds.openCalls);
  setAsk(out, call, ask);
}

/** Another question about the same call takes the place of one that nobody has answered. */
function expireAsk(state: State, out: Out, call: Call): void {
  if (call.ask?.state !== "asked") return;
  state.requests.delete(call.ask.id);
  setAsk(out, call, { ...call.ask, state: "expired" });
}

/** A call that nobody has told of yet: of the agent that asks, where that is a sub-agent. */
function askingCall(state: State, out: Out, line: JsonObject, request: JsonObject, id: string): Call {
  const above = state.tasks.get(textOf(request.agent_id) ?? "");
  const scope = above === undefined ? scopeOf(state, line) : { parent: above.key, label: undefined };
  const turn = currentTurn(state, out, scope).ordinal;
  return openCall(state, out, { id, name: wordsOf(request.tool_name) ?? "unknown", scope, turn });
}

/** A plan is Markdown for people to read and to edit: a text of its own. */
function addPlan(out: Out, call: Call, key: BlockKey, text: string): void {
  call.plans++;
  const { parent, label } = call.scope;
  out.push({
    type: "block-start",
    key,
    ...(parent === undefined ? {} : { parent }),
    kind: "text",
    role: "model",
    metadata: label === undefined ? {} : { label },
    text,
  });
  out.push({ type: "block-end", key, status: "done" });
}

function askForm(state: State, out: Out, line: JsonObject, request: JsonObject, id: string): void {
  const key = lineKey(state, line.uuid);
  const ask = formAsk(id, request);
  const at = timeOf(line.timestamp);
  state.forms.set(id, { key, ask });
  out.push({
    type: "block-start",
    key,
    kind: "text",
    role: "system",
    metadata: { notice: "elicitation", ask: { ...ask } as JsonObject },
    text: ask.form?.message ?? "",
    ...(at === undefined ? {} : { at }),
  });
  for (const oldest of state.forms.keys()) {
    if (state.forms.size <= bounds.openCalls) break;
    endForm(state, out, oldest, { state: "expired" });
  }
}

/** Ends the block of a form, with what became of it. */
export function endForm(state: State, out: Out, id: string, change: Partial<Ask>): boolean {
  const form = state.forms.get(id);
  if (form === undefined) return false;
  state.forms.delete(id);
  const ask = { ...form.ask, ...change } as JsonObject;
  const isExpired = change.state === "expired";
  out.push({
    type: "block-end",
    key: form.key,
    status: isExpired ? "error" : "done",
    ...(isExpired ? { reason: "interrupted" as const } : {}),
    metadata: { ask },
  });
  return true;
}

function setAsk(out: Out, call: Call, ask: Ask): void {
  call.ask = ask;
  if (!call.isEnded)
    out.push({ type: "block-meta", key: call.key, metadata: { ask: { ...ask } as JsonObject } });
}

/** An answer of the host, where it is fed back into the stream, or of the CLI to a request of the host. */
export function controlResponse(state: State, out: Out, line: JsonObject): void {
  const response = objectOf(line.response);
  const requestId = textOf(response.request_id) ?? "";
  const isError = response.subtype === "error";
  const said = objectOf(response.response);
  const call = state.requests.get(requestId);
  if (call !== undefined) {
    state.requests.delete(requestId);
    if (call.ask?.state === "asked" && !call.isEnded) setAsk(out, call, answeredAsk(call.ask, said, isError));
    return;
  }
  const form = state.forms.get(requestId);
  if (form !== undefined) {
    endForm(state, out, requestId, answeredAsk(form.ask, said, isError));
    return;
  }
  if (!isError) return;
  addNotice(state, out, line, {
    notice: "control_error",
    text: wordsOf(response.error),
    extra: { request: requestId },
  });
}

export function cancelRequest(state: State, out: Out, line: JsonObject): void {
  const requestId = textOf(line.request_id) ?? "";
  if (endForm(state, out, requestId, { state: "expired" })) return;
  const call = state.requests.get(requestId);
  state.requests.delete(requestId);
  if (call?.ask?.state === "asked") setAsk(out, call, { ...call.ask, state: "expired" });
}
