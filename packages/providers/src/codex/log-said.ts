/**
 * What was said in a rollout log: prompts, answers, reasoning, and the notices between them. Instructions that Codex
 * writes in the user's name are not shown.
 */

import type { BlockKey, JsonObject } from "@blockyard/kernel";
import { wholeBlock } from "../call.ts";
import { type PlaceOf, placesIn } from "../cited-text.ts";
import { isObject } from "../framing/json.ts";
import { given, listOf, objectOf, textOf, wordsOf } from "../read.ts";
import { isRetry, noticeBlock, readFailure } from "./failure.ts";
import {
  type LogIndex,
  type LogRecord,
  messageText,
  promptOf,
  reasoningParts,
  strangePart,
} from "./log-index.ts";
import { at, keyOf, PROVIDER, type Reading, showUnknown, spoke } from "./log-reading.ts";
import { startTurn } from "./log-turns.ts";
import { imageOf } from "./outcome.ts";

export function readMessage(reading: Reading, record: LogRecord): void {
  const { payload, ordinal } = record;
  const text = messageText(payload);
  if (payload.role === "assistant") {
    if (reading.index.summaries.has(ordinal)) return;
    showAnswer(reading, record, text);
    const strange = strangePart(payload);
    if (strange !== undefined) showUnknown(reading, record, `response_item/message/${strange}`);
    return;
  }
  if (payload.role !== "user") return; // developer, system: instructions
  if (isPrompt(reading.index, payload, text))
    return showPrompt(reading, record, text, listOf(payload.content));
  // Older versions hand an image that the model asked to see to it as a message.
  if (text === "" && reading.lastImageCall !== undefined) showImages(reading, record, reading.lastImageCall);
}

/** The user's own text, separated from Codex's text in the user's role: only the former was shown as a prompt. */
function isPrompt(index: LogIndex, payload: JsonObject, text: string): boolean {
  const kinds = objectOf(payload.internal_chat_message_metadata_passthrough).content_item_kinds;
  if (listOf(kinds).some((kind) => typeof kind === "string" && kind.startsWith("user."))) return true;
  if (/^\s*<user_shell_command>/.test(text)) return true;
  if (index.prompts.size > 0) return index.prompts.has(text);
  return text !== "" && !/^\s*(<[a-z_]+[ >]|# AGENTS\.md instructions\b)/.test(text);
}

function showPrompt(reading: Reading, record: LogRecord, text: string, content: JsonObject[string]): void {
  if (!reading.index.hasTasks && (reading.turn === undefined || reading.turn.hasOutput))
    startTurn(reading, record, undefined);
  const key = keyOf(reading, textOf(record.payload.id) ?? `prompt-${record.ordinal}`);
  reading.lastPrompt = text;
  if (text !== "") {
    reading.out.push(...wholeBlock({ ...at(reading), key, kind: "text", role: "user", metadata: {}, text }));
  }
  listOf(content).forEach((part, i) => {
    const image = imageOf(objectOf(part));
    if (image === undefined) return;
    reading.out.push(
      ...wholeBlock({
        ...at(reading),
        key: `${key}/image-${i}`,
        kind: "image",
        role: "user",
        metadata: image,
        text: "",
      }),
    );
  });
}

function showImages(reading: Reading, record: LogRecord, parent: BlockKey): void {
  listOf(record.payload.content).forEach((part, i) => {
    const image = imageOf(objectOf(part));
    if (image === undefined) return;
    const key = keyOf(reading, `image-${record.ordinal}-${i}`);
    reading.out.push(
      ...wholeBlock({ ...at(reading), parent, key, kind: "image", role: "tool", metadata: image, text: "" }),
    );
  });
}

export function showAnswer(reading: Reading, record: LogRecord, text: string): void {
  const { payload } = record;
  const id = wordsOf(payload.id);
  const parts = listOf(payload.content);
  // Places are relative to one part.
  const placeOf = placesIn(parts.length === 1 && objectOf(parts[0]).text === text ? text : "");
  const citations = parts.flatMap((part) =>
    listOf(objectOf(part).annotations).flatMap((annotation) => citationOf(annotation, placeOf)),
  );
  const phase = wordsOf(payload.phase);
  const metadata = given({
    messageId: id,
    citations: citations.length > 0 ? citations : undefined,
    extra: phase === undefined ? undefined : { phase },
  });
  const key = keyOf(reading, id ?? `message-${firstOrdinal(reading, record)}`);
  spoke(reading);
  if (text !== "")
    reading.out.push(...wholeBlock({ ...at(reading), key, kind: "text", role: "model", metadata, text }));
}

/** A log that was read before its response items were written has named a text by the event that announced it. */
function firstOrdinal(reading: Reading, record: LogRecord): number {
  return reading.index.announced.get(record.ordinal) ?? record.ordinal;
}

function citationOf(annotation: JsonObject[string], placeOf: PlaceOf): readonly JsonObject[] {
  const { url, title } = objectOf(annotation);
  if (typeof url !== "string") return [];
  return [given({ url, title: wordsOf(title), ...placeOf(objectOf(annotation)) })];
}

/** Reasoning without a summary shows nothing, but its encrypted form must go back to the model unchanged. */
export function showReasoning(reading: Reading, record: LogRecord): void {
  const { payload } = record;
  const raw = listOf(payload.content)
    .map((part) => textOf(objectOf(part).text) ?? "")
    .join("\n");
  const summary = reasoningParts(payload).join("\n");
  const opaque = wordsOf(payload.encrypted_content);
  const text = summary === "" ? raw : summary;
  if (text === "" && opaque === undefined) return;
  const metadata = given({
    messageId: wordsOf(payload.id),
    opaque,
    redacted: text === "" ? true : undefined,
    extra: summary !== "" && raw !== "" ? { raw } : undefined,
  });
  const key = keyOf(reading, wordsOf(payload.id) ?? `reasoning-${firstOrdinal(reading, record)}`);
  spoke(reading);
  reading.out.push(...wholeBlock({ ...at(reading), key, kind: "thinking", role: "model", metadata, text }));
}

/** Runs `show` only if no response item says the same. */
export function confirm(reading: Reading, who: string, text: string, show: (text: string) => void): void {
  const key = `${who}\n${text}`;
  const left = reading.said.get(key) ?? 0;
  if (left > 0) reading.said.set(key, left - 1);
  else if (text !== "") show(text);
}

export function readPromptEvent(reading: Reading, record: LogRecord): void {
  const text = promptOf(record.payload) ?? "";
  const key = `user\n${text}`;
  const left = reading.said.get(key) ?? 0;
  if (left > 0) reading.said.set(key, left - 1);
  else if (text !== reading.lastPrompt) showPrompt(reading, bare(record), text, []);
}

/** A record whose own ids say nothing about the block. */
export function bare(record: LogRecord): LogRecord {
  return { ...record, payload: {} };
}

export function showThought(reading: Reading, record: LogRecord, text: string): void {
  const key = keyOf(reading, `reasoning-${record.ordinal}`);
  spoke(reading);
  reading.out.push(
    ...wholeBlock({ ...at(reading), key, kind: "thinking", role: "model", metadata: {}, text }),
  );
}

/** The record tells the summary, the event only that there was one: each compaction is shown once. */
export function showCompaction(reading: Reading, record: LogRecord, summary: string | undefined): void {
  const isRepeat = reading.compacted;
  reading.compacted = summary !== undefined;
  if (isRepeat && !summary) return;
  const text = (summary ?? "").replace(/^Another language model started[^\n]*\n/, "");
  const key = keyOf(reading, `compaction-${record.ordinal}`);
  const metadata = { notice: "compaction" };
  reading.out.push(...wholeBlock({ ...at(reading), key, kind: "text", role: "system", metadata, text }));
}

export function showReview(reading: Reading, record: LogRecord, payload: JsonObject): void {
  const hint = wordsOf(payload.user_facing_hint);
  const output = isObject(payload.review_output) ? payload.review_output : undefined;
  const isStart = /entered/i.test(textOf(payload.type) ?? "");
  const text = isStart ? `Review of ${hint ?? "changes"}` : "Review finished";
  const metadata = given({ notice: "review", extra: output === undefined ? undefined : { review: output } });
  const key = keyOf(reading, `review-${record.ordinal}`);
  reading.out.push(...wholeBlock({ ...at(reading), key, kind: "text", role: "system", metadata, text }));
  if (!isStart) return;
  // The reviewer is a thread of its own that no call has started.
  const reviewer = reading.nextReview();
  if (reviewer !== undefined) reading.showThread(reviewer, key);
}

export function showNotice(reading: Reading, record: LogRecord): void {
  const { payload } = record;
  const message = textOf(payload.message) ?? textOf(payload.summary) ?? JSON.stringify(payload);
  const isRetrying = payload.type === "stream_error" || isRetry(message);
  if (isRetrying && countRetry(reading, message)) return;
  const key = keyOf(reading, `notice-${record.ordinal}`);
  const [start, end] = noticeBlock(key, message, isRetrying ? "retry" : "warning", reading.at);
  if (start?.type === "block-start") reading.out.push({ ...start, ...given({ parent: reading.parent }) });
  if (end !== undefined) reading.out.push(end);
  if (isRetrying) reading.retry = { key, times: 1, events: reading.out.length };
}

/** Reconnections that follow each other are one line, as in the live stream: it counts them, and has the words of the last. */
function countRetry(reading: Reading, message: string): boolean {
  const { retry, out } = reading;
  if (retry === undefined || retry.events !== out.length) return false;
  retry.times++;
  out.pop();
  const { key, times } = retry;
  out.push({ type: "block-meta", key, metadata: { times } });
  out.push({
    ...{ type: "block-end", key, status: "done", text: readFailure(message).text },
    ...given({ at: reading.at }),
  });
  retry.events = out.length;
  return true;
}

export function showTitle(reading: Reading, payload: JsonObject): void {
  const title = wordsOf(payload.thread_name) ?? wordsOf(payload.name);
  if (title === undefined || reading.parent !== undefined) return;
  reading.out.push({
    type: "session",
    provider: PROVIDER,
    title,
    ...given({ sessionId: reading.index.thread }),
  });
}
