/** `session/update`: one function per kind. An unknown kind becomes an `unknown` block. */

import type { JsonObject } from "@blockyard/kernel";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { unknownEvent } from "../unknown.ts";
import { patchCall, settleReplayed } from "./call.ts";
import { closeTodo, showPlan } from "./plan.ts";
import { changeSession, commandsIn, settingsIn } from "./session.ts";
import { nextKey, type Out, type Session, type State } from "./state.ts";
import { passMessage, updateSubagent } from "./subagent.ts";
import { closeText, sayChunk, sayNotice } from "./text.ts";
import { noteChunkUsage, noteUsage } from "./turn.ts";

type Taken = (state: State, out: Out, session: Session, update: JsonObject) => void;

const BY_KIND: ReadonlyMap<string, Taken> = new Map<string, Taken>([
  ["agent_message_chunk", takeMessage],
  ["agent_thought_chunk", (state, out, session, update) => sayChunk(state, out, session, "thinking", update)],
  ["user_message_chunk", takeUserMessage],
  ["tool_call", patchCall],
  ["tool_call_update", patchCall],
  ["plan", (state, out, session, update) => showPlan(state, out, session, listOf(update.entries))],
  ["plan_update", takePlan],
  ["plan_removed", (_state, out, session) => closeTodo(out, session)],
  ["available_commands_update", (...all) => changeSession(...first(all), commandsIn(all[3]))],
  [
    "current_mode_update",
    (...all) => changeSession(...first(all), given({ mode: wordsOf(all[3].currentModeId) })),
  ],
  ["config_option_update", (...all) => changeSession(...first(all), settingsIn(all[3]))],
  ["session_info_update", takeInfo],
  ["usage_update", noteUsage],
  ["notice", takeNotice],
  ["compaction_update", takeCompaction],
  ["compaction_summary_chunk", takeSummary],
  ["subagent_update", updateSubagent],
  ["session_message", passMessage],
  // The whole message comes too.
  ["session_message_chunk", () => undefined],
]);

/** These do not show in a conversation, so a replay that is passed over may still tell them. */
const FACTS = /_update$/;

export function takeUpdate(state: State, out: Out, session: Session, update: JsonObject): void {
  const kind = textOf(update.sessionUpdate) ?? "";
  const take = BY_KIND.get(kind);
  if (session.replay === "skipped" && (!FACTS.test(kind) || kind === "tool_call_update")) return;
  if (session.replay === "shown" && kind !== "tool_call_update") settleReplayed(state, out, session);
  if (take !== undefined) return take(state, out, session, update);
  closeText(out, session);
  const place = {
    key: nextKey(state, session, "unknown"),
    provider: state.options.provider,
    parent: session.parent,
  };
  out.push(...unknownEvent(place, update, `session/update/${kind}`));
}

function first(all: Parameters<Taken>): readonly [State, Out, Session] {
  return [all[0], all[1], all[2]];
}

function takeMessage(state: State, out: Out, session: Session, update: JsonObject): void {
  sayChunk(state, out, session, "text", update);
  noteChunkUsage(state, session, update);
}

/** Outside of a replay it repeats the prompt, which the client has sent itself. */
function takeUserMessage(state: State, out: Out, session: Session, update: JsonObject): void {
  if (session.replay === "shown") sayChunk(state, out, session, "user", update);
}

function takePlan(state: State, out: Out, session: Session, update: JsonObject): void {
  const plan = objectOf(update.plan);
  const words = wordsOf(plan.content) ?? wordsOf(plan.uri);
  if (words !== undefined) return sayNotice(state, out, session, "plan", words);
  showPlan(state, out, session, listOf(update.entries ?? plan.entries));
}

function takeInfo(state: State, out: Out, session: Session, update: JsonObject): void {
  const status = textOf(objectOf(objectOf(objectOf(update._meta).codex).threadStatus).type);
  if (status !== undefined) session.hasFailed = status === "systemError";
  const title = wordsOf(update.title);
  if (title !== undefined) changeSession(state, out, session, { title });
}

function takeNotice(state: State, out: Out, session: Session, update: JsonObject): void {
  const content = objectOf(update.content);
  const text = textOf(update.message) ?? textOf(update.text) ?? textOf(content.text) ?? textOf(update.title);
  sayNotice(state, out, session, wordsOf(update.level) ?? wordsOf(update.kind) ?? "notice", text ?? "");
}

/** It begins, it ends with or without a summary, and one agent says the end twice. */
function takeCompaction(state: State, out: Out, session: Session, update: JsonObject): void {
  if (update.status === "in_progress") {
    openCompaction(state, out, session);
    return;
  }
  const key = session.compaction;
  if (key === undefined) return;
  session.compaction = undefined;
  const summary = listOf(update.summary).flatMap((part) => textOf(objectOf(part).text) ?? []);
  const failed = update.status === "failed" || update.status === "cancelled";
  out.push({
    type: "block-end",
    key,
    ...(failed ? { status: "error", reason: "failed" } : { status: "done" }),
    ...(summary.length === 0 ? {} : { text: summary.join("\n") }),
  });
}

function takeSummary(state: State, out: Out, session: Session, update: JsonObject): void {
  const text = textOf(objectOf(update.content).text) ?? "";
  const key = openCompaction(state, out, session);
  if (text !== "") out.push({ type: "block-append", key, text });
}

function openCompaction(state: State, out: Out, session: Session): string {
  if (session.compaction !== undefined) return session.compaction;
  closeText(out, session);
  if (session.turn !== undefined) session.turn.isEmpty = false;
  const key = nextKey(state, session, "notice");
  session.compaction = key;
  const metadata = { notice: "compaction" };
  out.push({
    type: "block-start",
    key,
    ...given({ parent: session.parent }),
    kind: "text",
    role: "system",
    metadata,
  });
  return key;
}

/** The stream or the turn ends while it goes on. */
export function cutCompaction(out: Out, session: Session): void {
  if (session.compaction === undefined) return;
  out.push({ type: "block-end", key: session.compaction, status: "error", reason: "interrupted" });
  session.compaction = undefined;
}
