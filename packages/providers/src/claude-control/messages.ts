/**
 * Messages of the host: each becomes a block where the agent has read it. `command_lifecycle` says when, for messages with an id;
 * one without an id is read when a turn starts, or with the result of the tool that runs.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { type Out, trim } from "../claude/state.ts";
import { userLine } from "../claude/user.ts";
import { bounds } from "../limits.ts";
import { listOf, objectOf, textOf, wordsOf } from "../read.ts";
import type { Process, Sent } from "./process.ts";

export function sent(peer: Process, out: Out, line: JsonObject): void {
  const message = objectOf(line.message);
  if (message.role !== "user") return; // no message: the CLI ends at such a line
  const id = wordsOf(line.uuid);
  if (id !== undefined && peer.seen.has(id)) return; // the CLI drops it too
  remember(peer, id);
  const waits = { id, line };
  if (peer.waiting.length >= bounds.openCalls) unread(peer, out, peer.waiting.shift() as Sent);
  peer.waiting.push(waits);
  if (id === undefined && !peer.isBusy) read(peer, out, waits);
}

/** The place of a message with an id. */
export function lifecycle(peer: Process, out: Out, line: JsonObject): void {
  const id = textOf(line.command_uuid);
  const waits = peer.waiting.find((each) => each.id === id);
  if (waits === undefined) return;
  if (line.state === "started" || line.state === "completed") read(peer, out, waits);
  else if (line.state === "cancelled" || line.state === "discarded") unread(peer, out, waits);
}

/** The agent begins a turn or its next step: it has read the waiting messages without an id. */
export function taken(peer: Process, out: Out, at: "turn" | "step"): void {
  for (const waits of peer.waiting.filter(({ id }) => id === undefined)) read(peer, out, waits);
  if (at === "turn") peer.isBusy = true;
}

/** The process is gone: it will not read the unread messages. */
export function lost(peer: Process, out: Out): void {
  for (const waits of [...peer.waiting]) unread(peer, out, waits);
}

/** Whether a line repeats the host's input. */
export function isSent({ seen }: Process, line: JsonObject): boolean {
  const id = wordsOf(line.uuid);
  return (id !== undefined && seen.has(id)) || seen.has(wordsKey(line));
}

function read(peer: Process, out: Out, waits: Sent): void {
  peer.waiting = peer.waiting.filter((each) => each !== waits);
  peer.isBusy = waits.line.shouldQuery !== false || peer.isBusy;
  remember(peer, wordsKey(waits.line));
  const pasted = listOf(waits.line.pasted_content).filter((each) => typeof each === "string");
  userLine(peer.claude, out, { ...withPasted(waits.line, pasted), parent_tool_use_id: null });
}

/** Text that comes with a message belongs to it. */
function withPasted(line: JsonObject, pasted: readonly unknown[]): JsonObject {
  const message = objectOf(line.message);
  if (Array.isArray(message.content))
    return { ...line, message: { ...message, content: message.content.map(asWords) } };
  if (pasted.length === 0 || typeof message.content !== "string") return line;
  return { ...line, message: { ...message, content: [message.content, ...pasted].join("\n") } };
}

/** A result that the host makes up is its message, and the result of no call. */
function asWords(value: Json): Json {
  const block = objectOf(value);
  if (block.type !== "tool_result") return value;
  return { type: "text", text: textOf(block.content) ?? JSON.stringify(block.content ?? null) };
}

/** Sent, and never read: its block says so. */
function unread(peer: Process, out: Out, waits: Sent): void {
  peer.waiting = peer.waiting.filter((each) => each !== waits);
  const events: Out = [];
  userLine(peer.claude, events, waits.line);
  for (const event of events)
    out.push(event.type === "block-end" ? { ...event, status: "error", reason: "cancelled" } : event);
}

function remember({ seen }: Process, name: string | undefined): void {
  if (name === undefined) return;
  seen.add(name);
  trim(seen, bounds.openCalls);
}

function wordsKey(line: JsonObject): string {
  return `words ${JSON.stringify(objectOf(line.message).content ?? null)}`;
}
