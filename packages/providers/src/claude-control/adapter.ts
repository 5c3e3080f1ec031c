/**
 * Claude Code over its control protocol: both directions of its traffic (see traffic.ts), of one process or of several
 * consecutive ones (`run`). Its output is read like the plain stream; its host's lines add the messages, each where the
 * agent read it, and the answers to its requests. Blocks, sessions and turns are those of `claude`.
 *
 * The host's other requests to the CLI (modes, models, settings, state) make no block; a refusal by the CLI makes a
 * notice.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { Adapter, Before } from "../adapter.ts";
import { claudeAdapter, take } from "../claude/adapter.ts";
import { controlResponse } from "../claude/control.ts";
import { addNotice } from "../claude/notice.ts";
import { lineKey, type Out, PROVIDER } from "../claude/state.ts";
import { isObject } from "../framing/json.ts";
import { STDERR_CHARS } from "../limits.ts";
import { objectOf, textOf, wordsOf } from "../read.ts";
import { readTraffic, type Traffic } from "../traffic.ts";
import { isSent, lifecycle, lost, sent, taken } from "./messages.ts";
import { type Control, newProcess, type Process, processOf } from "./process.ts";

export const claudeControlAdapter: Adapter<Control> = {
  provider: PROVIDER,
  start: (run: string, before: Before = {}) => ({ run, before, processes: new Map(), costs: new Map() }),
  step(state, event) {
    const out: Out = [];
    const peer = processOf(state, isObject(event) ? event.run : undefined);
    const traffic = readTraffic(event);
    if (traffic !== undefined) line(state, peer, out, traffic);
    else if (isObject(event) && typeof event.dir === "string") record(state, peer, out, event);
    else heard(state, peer, out, event);
    return [state, out];
  },
  noise(state, text) {
    const out: Out = [];
    printed(processOf(state, undefined), out, text);
    return [state, out];
  },
  end(state) {
    const out: Out = [];
    for (const peer of state.processes.values()) endProcess(peer, out);
    return out;
  },
};

function line(state: Control, peer: Process, out: Out, traffic: Traffic): void {
  const { dir, message } = traffic;
  if (message === undefined) {
    // What the host writes and nobody can read is nothing of the conversation; half a line is what a cut leaves.
    if (dir === "out" && !traffic.isCut) printed(peer, out, traffic.line);
    return;
  }
  if (dir === "out") heard(state, peer, out, message);
  else if (isObject(message)) told(peer, out, message);
}

/** How a recording tells of its process: it is started, writes to stderr, ends. */
function record(state: Control, peer: Process, out: Out, event: JsonObject): void {
  const text = textOf(event.line) ?? "";
  if (event.dir === "err") peer.stderr = `${peer.stderr}${text}\n`.slice(-STDERR_CHARS);
  // One that has not ended is only told of again.
  if (event.dir === "start" && peer.isEnded) {
    endProcess(peer, out);
    state.processes.set(peer.name, newProcess(state, peer.name, peer.earlier + 1));
  }
  if (event.dir !== "exit") return;
  const said = peer.stderr.trim();
  const isFailed = /"code":[1-9]/.test(text) && !/"code":143/.test(text);
  if (isFailed && !peer.hasResult && said !== "") addError(peer, out, said);
  endProcess(peer, out);
  lost(peer, out);
}

function addError({ claude }: Process, out: Out, text: string): void {
  const key = lineKey(claude, undefined);
  out.push({ type: "block-start", key, kind: "error", role: "system", metadata: { code: "exit" }, text });
  out.push({ type: "block-end", key, status: "error", reason: "failed" });
}

/** A line that is no message: some options of the CLI make it print words. */
function printed({ claude }: Process, out: Out, text: string): void {
  addNotice(claude, out, {}, { notice: "output", text });
}

/** Also for one that has ended: what is heard of it later ends as well. */
function endProcess(peer: Process, out: Out): void {
  peer.isEnded = true;
  out.push(...claudeAdapter.end(peer.claude));
}

/** What the CLI printed. */
function heard(state: Control, peer: Process, out: Out, message: Json): void {
  // A line is one message: only a plain stream may come as an array.
  if (!isObject(message)) return take(peer.claude, out, message);
  const { type, subtype } = message;
  if (type === "command_lifecycle") return lifecycle(peer, out, message);
  if (type === "user" && message.isReplay === true && isSent(peer, message)) return;
  if (type === "control_response" && isQuiet(peer, message)) return;
  if (type === "system" && subtype === "init") {
    beginSession(state, peer, message);
    taken(peer, out, "turn");
  }
  const [, events] = claudeAdapter.step(peer.claude, message);
  out.push(...events);
  if (type === "result") {
    peer.hasResult = true;
    peer.isBusy = false;
    keepCost(state, peer);
  }
  if (type === "user" && message.parent_tool_use_id == null && hasResult(message)) taken(peer, out, "step");
}

function hasResult(line: JsonObject): boolean {
  const { content } = objectOf(line.message);
  return Array.isArray(content) && content.some((block) => objectOf(block).type === "tool_result");
}

/** Answers to requests of the host: only where what was asked for was refused, and somebody would miss it. */
function isQuiet({ asked }: Process, message: JsonObject): boolean {
  const response = objectOf(message.response);
  const id = textOf(response.request_id) ?? "";
  const subtype = asked.get(id);
  if (subtype === undefined) return false;
  asked.delete(id);
  return response.subtype !== "error" || !TELLING.has(subtype);
}

/** Requests that change what the agent does. */
const TELLING = new Set([
  "set_model",
  "set_permission_mode",
  "interrupt",
  "rewind_conversation",
  "rewind_files",
  "set_cwd",
]);

/** What the host wrote. */
function told(peer: Process, out: Out, message: JsonObject): void {
  switch (message.type) {
    case "user":
      return sent(peer, out, message);
    case "control_response":
      return controlResponse(peer.claude, out, withoutError(message));
    case "control_request": {
      const id = textOf(message.request_id);
      if (id !== undefined) peer.asked.set(id, textOf(objectOf(message.request).subtype) ?? "");
      return;
    }
    default:
      return;
  }
}

/** An error that the host answers to something else than an ask is between the two programs. */
function withoutError(message: JsonObject): JsonObject {
  const response = objectOf(message.response);
  if (response.subtype !== "error") return message;
  const { error: _error, ...rest } = response;
  return { ...message, response: rest };
}

/** A session that an earlier process had counts on from there. */
function beginSession({ costs }: Control, { claude }: Process, message: JsonObject): void {
  const id = wordsOf(message.session_id);
  const known = id === undefined ? undefined : costs.get(id);
  if (known === undefined || claude.totalCost !== undefined) return;
  claude.totalCost = known.costUsd;
  claude.totalApiMs = known.apiMs;
  claude.modelUsage = known.models;
}

function keepCost({ costs }: Control, { claude }: Process): void {
  const { sessionId, totalCost, totalApiMs, modelUsage } = claude;
  if (sessionId === undefined || totalCost === undefined) return;
  costs.set(sessionId, { costUsd: totalCost, apiMs: totalApiMs, models: modelUsage });
}
