/** What both of OpenAI's APIs have in common: one answer is one turn, with numbered blocks, usage and at most one end. */

import type { BlockEvent, BlockKey, Json, JsonObject, Kind, Reason } from "@blockyard/kernel";
import { placesIn } from "../cited-text.ts";
import { isObject } from "../framing/json.ts";
import { given, numberOf, objectOf, textOf, wordsOf } from "../read.ts";
import { type UnknownPlace, unknownEvent } from "../unknown.ts";
import { openaiUsage } from "../usage.ts";

export const PROVIDER = "openai";

export interface Turn {
  readonly name: string;
  /** The API's id of the answer. */
  id: string;
  model: string | undefined;
  blocks: number;
  usage: JsonObject | undefined;
}

/** Numbers turns and blocks of one run, so that both APIs can share a stream. */
export interface Count {
  readonly run: string;
  turns: number;
  strays: number;
}

export function startTurn(count: Count, answer: JsonObject): [Turn, BlockEvent] {
  const name = `${count.run}/${count.turns++}`;
  const model = wordsOf(answer.model);
  const created = numberOf(answer.created_at) ?? numberOf(answer.created);
  const turn: Turn = { name, id: wordsOf(answer.id) ?? name, model, blocks: 0, usage: undefined };
  const at = created === undefined || created <= 0 ? undefined : created * 1000;
  return [turn, { type: "turn-start", turn: name, provider: PROVIDER, ...given({ model, at }) }];
}

interface TurnEnd {
  readonly status: "done" | "error";
  readonly reason?: Reason | undefined;
  readonly stopReason?: string | undefined;
  readonly error?: string | undefined;
  readonly costUsd?: number | undefined;
}

export function endTurn(turn: Turn, end: TurnEnd): readonly BlockEvent[] {
  const native = turn.usage;
  const usage = native === undefined ? undefined : openaiUsage(native);
  const events: BlockEvent[] = [];
  const { model } = turn;
  if (usage !== undefined && native !== undefined) {
    events.push({
      type: "message-usage",
      messageId: turn.id,
      turn: turn.name,
      ...given({ model }),
      usage,
      native,
    });
  }
  events.push({
    type: "turn-end",
    turn: turn.name,
    status: end.status,
    ...given({
      reason: end.reason,
      stopReason: end.stopReason,
      error: end.error,
      usage,
      costUsd: end.costUsd,
      models: model === undefined ? undefined : [model],
      native: native === undefined ? undefined : { usage: native },
    }),
  });
  return events;
}

export function nextKey(turn: Turn): BlockKey {
  return `${turn.name}/${turn.blocks++}`;
}

/** What every block of the turn carries; for the block whose key was taken last. */
export function blockMetadata(turn: Turn, own: JsonObject = {}): JsonObject {
  const index = Math.max(0, turn.blocks - 1);
  return {
    provider: PROVIDER,
    messageId: turn.id,
    index,
    turn: turn.name,
    ...given({ model: turn.model }),
    ...own,
  };
}

export function startBlock(
  turn: Turn,
  kind: Kind,
  own: JsonObject = {},
): Extract<BlockEvent, { type: "block-start" }> {
  const role = own.notice === undefined || own.notice === "refusal" ? "model" : "system";
  return { type: "block-start", key: nextKey(turn), kind, role, metadata: blockMetadata(turn, own) };
}

/** A block that is there at once. */
export function wholeBlock(
  turn: Turn,
  kind: Kind,
  text: string,
  own: JsonObject,
  parent?: BlockKey,
): readonly BlockEvent[] {
  const start = startBlock(turn, kind, own);
  return [
    { ...start, text, ...given({ parent }), ...(parent === undefined ? {} : { role: "tool" as const }) },
    { type: "block-end", key: start.key, status: "done" },
  ];
}

export function unknownIn(turn: Turn, event: Json, type?: string): readonly BlockEvent[] {
  return unknownEvent({ key: nextKey(turn), provider: PROVIDER }, event, type);
}

export function strayPlace(count: Count): UnknownPlace {
  return { key: `${count.run}/x${count.strays++}`, provider: PROVIDER };
}

const RETRYABLE = /rate_limit|overloaded|server_error|timeout|unavailable|^5\d\d$|^429$/;

/** The error that an event or a body carries, as a block; and its message. */
export function errorBlock(
  turn: Turn,
  event: JsonObject,
): { readonly events: readonly BlockEvent[]; readonly message: string } {
  const error = isObject(event.error) ? event.error : event;
  const named = error.code ?? error.status_code ?? error.type;
  const code = typeof named === "number" ? String(named) : wordsOf(named);
  const message = messageOf(event);
  const start = startBlock(turn, "error", {
    ...given({ code, retryable: code === undefined ? undefined : RETRYABLE.test(code) }),
    details: event,
  });
  return {
    message,
    events: [
      { ...start, role: "system", text: message },
      { type: "block-end", key: start.key, status: "error", reason: "failed" },
    ],
  };
}

/** The sentence of an error, or all of it. */
export function messageOf(event: JsonObject): string {
  const error = isObject(event.error) ? event.error : event;
  const said = wordsOf(error.message) ?? wordsOf(error.detail) ?? wordsOf(error.status_msg);
  return said ?? textOf(event.error) ?? JSON.stringify(event);
}

/** Whether an event of neither API reports a failure: gateways and servers have forms of their own. */
export function isFailure(event: JsonObject): boolean {
  if (event.type === "error" || event.object === "error") return true;
  if (isObject(event.error) || typeof event.error === "string") return true;
  const isRefused = (numberOf(objectOf(event.base_resp).status_code) ?? 0) !== 0;
  return (
    isRefused || (event.type === undefined && (wordsOf(event.message) ?? wordsOf(event.detail)) !== undefined)
  );
}

/** url_citation and its relatives, as a reader needs them; at their places, where the text is known. */
export function citationsOf(annotations: readonly Json[], text: string | undefined): JsonObject {
  if (annotations.length === 0) return {};
  const placeOf = placesIn(text ?? "");
  const citations = annotations.filter(isObject).map((annotation) => {
    const cited = isObject(annotation.url_citation) ? annotation.url_citation : annotation;
    const file = wordsOf(cited.file_id);
    return given({
      url: wordsOf(cited.url) ?? (file === undefined ? "" : `file:${file}`),
      title: wordsOf(cited.title) ?? wordsOf(cited.filename),
      snippet: wordsOf(cited.content) ?? wordsOf(cited.snippet),
      ...placeOf(cited),
    }) as JsonObject;
  });
  return citations.length === 0 ? {} : { citations, extra: { annotations } };
}
