/**
 * A sub-agent with its own session (only for clients that declare support): one call in the session that started it,
 * with the prompt as its input and the reply as its result; what the sub-agent says and does is below that call.
 */

import type { JsonObject } from "@blockyard/kernel";
import { endCall, startCall } from "../call.ts";
import { outputRow } from "../outcome.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { closeCalls } from "./call.ts";
import { nextKey, type Out, type Session, type State, sessionNamed } from "./state.ts";
import { closeText } from "./text.ts";
import { currentTurn } from "./turn-state.ts";

const TOOL = "subagent";

/** `subagent_update`: it was started, or its state has changed. */
export function updateSubagent(state: State, out: Out, parent: Session, update: JsonObject): void {
  const id = wordsOf(update.sessionId);
  if (id === undefined) return;
  const child = sessionNamed(state, id);
  if (child === undefined) return;
  if (child.parent === undefined) openSubagent(state, out, parent, child, update);
  const is = objectOf(update.state);
  if (is.state === "running" || !parent.subagents.has(id)) return;
  if (wordsOf(is.state) !== undefined) parent.subagents.set(id, wordsOf(is.stopReason) ?? "");
}

function openSubagent(state: State, out: Out, parent: Session, child: Session, update: JsonObject): void {
  closeText(out, parent);
  const turn = currentTurn(state, out, parent);
  if (turn !== undefined) turn.isEmpty = false;
  const key = nextKey(state, parent, "call");
  child.parent = key;
  parent.subagents.set(child.id, undefined);
  const title = wordsOf(update.title);
  const input = given({ title, description: wordsOf(update.description) }) as JsonObject;
  const place = given({ parent: parent.parent, compactParams: title });
  out.push(...startCall({ key, toolUseId: child.id, toolName: TOOL, input, ...place }));
}

/** `session_message`: to the sub-agent, its prompt; from it, its reply, which ends it. */
export function passMessage(state: State, out: Out, session: Session, update: JsonObject): void {
  const from = textOf(update.senderSessionId) ?? "";
  if (from === session.id || !session.subagents.has(from)) return;
  const text = listOf(update.content)
    .flatMap((part) => textOf(objectOf(part).text) ?? [])
    .filter((part) => !part.startsWith("<tools-used"))
    .join("\n");
  endSubagent(state, out, session, from, text);
}

function endSubagent(state: State, out: Out, parent: Session, id: string, text: string): void {
  const child = state.sessions.get(id);
  if (child?.parent === undefined) return;
  parent.subagents.delete(id);
  closeText(out, child);
  closeCalls(state, out, child, "interrupted");
  const result = { kind: "tool_result" as const, text, metadata: {} };
  const call = { key: child.parent, toolUseId: id, toolName: TOOL };
  out.push(...endCall(call, { result, failed: false, shortResult: outputRow(text) }));
}

/** The turn has ended: so have its sub-agents. */
export function closeSubagents(state: State, out: Out, parent: Session, isCut: boolean): void {
  for (const [id, stopReason] of [...parent.subagents]) {
    const child = state.sessions.get(id);
    if (child?.parent === undefined) continue;
    closeSubagents(state, out, child, isCut);
    closeText(out, child, isCut ? "interrupted" : undefined);
    closeCalls(state, out, child, "interrupted");
    parent.subagents.delete(id);
    const failed = stopReason === undefined;
    const reason = failed ? ("interrupted" as const) : undefined;
    out.push(...endCall({ key: child.parent, toolUseId: id, toolName: TOOL }, { failed, reason }));
  }
}
