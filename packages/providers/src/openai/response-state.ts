/**
 * The open parts of one response: its items, the text parts and calls in them. Held by responses.ts, changed by the
 * files beside it. It keeps no finished text, only its length, and differences in later events.
 */

import type { BlockKey, Json, JsonObject } from "@blockyard/kernel";
import { isObject } from "../framing/json.ts";
import { objectOf, wholeOf, wordsOf } from "../read.ts";
import type { ItemCall } from "./item.ts";
import type { Turn } from "./turn.ts";

/** A text or thinking block of an item, open until its part or its item is done. */
export interface Part {
  readonly key: BlockKey;
  /** Characters so far: an authoritative text of another length replaces them. */
  chars: number;
  annotations: readonly Json[];
  /** For reasoning: which summary or content part was last written to. */
  section: number;
  /** The whole text, where the event that says it says something else than the deltas did. */
  whole?: string;
}

export interface OpenCall {
  readonly key: BlockKey;
  readonly call: ItemCall;
  text: string;
  /** The input as it stood in the item when it was added: shown if nothing streams. */
  first: string;
  input: Json | undefined;
  isRunning: boolean;
  isEnded: boolean;
  /** The whole input is not what streamed: the end of the call tells it. */
  isRewritten: boolean;
  /** A result block that streams below it. */
  hasResult: boolean;
}

export interface Item {
  readonly type: string;
  readonly id: string;
  /** Open parts, and the names of those that have ended. */
  readonly parts: Map<string, Part>;
  readonly ended: Set<string>;
  call: OpenCall | undefined;
  /** For an output item: the call whose result it streams. */
  answered: OpenCall | undefined;
  /** The open block of an item whose type nobody knows. */
  unknown: BlockKey | undefined;
  isDone: boolean;
}

export interface Response {
  readonly turn: Turn;
  readonly items: Map<number, Item>;
  /** Calls that run, here or there, by their block. */
  readonly calls: Map<BlockKey, OpenCall>;
  /** The items of a body that came before its response was over: shown if nothing more comes. */
  unfinished: readonly Json[];
  /** The highest sequence number so far; and up to which one a stream that has begun again says nothing new. */
  lastNumber: number;
  repeatsTo: number;
  /** Sound has come, and the words that it says. */
  hasAudio: boolean;
  hasTranscript: boolean;
}

export function newItem(type: string, id: Json | undefined): Item {
  return {
    type,
    id: wordsOf(id) ?? "",
    parts: new Map(),
    ended: new Set(),
    call: undefined,
    answered: undefined,
    unknown: undefined,
    isDone: false,
  };
}

export function indexIn(response: Response, event: JsonObject): number {
  const index = wholeOf(event.output_index);
  if (index !== undefined && index >= 0) return index;
  const id = event.item_id ?? objectOf(event.item).id;
  return indexOfId(response, id) ?? nextIndex(response, isObject(event.item) || wordsOf(id) !== undefined);
}

/** An event that names no item, as those of audio do, goes on with the last one. */
function nextIndex(response: Response, isNamed: boolean): number {
  const last = isNamed ? undefined : [...response.items].at(-1);
  return last === undefined || last[1].isDone ? response.items.size : last[0];
}

export function indexOfId(response: Response, native: Json | undefined): number | undefined {
  const id = wordsOf(native);
  if (id === undefined) return undefined;
  for (const [index, known] of response.items) if (known.id === id) return index;
  return undefined;
}

/** The item that an event belongs to; one is made for events whose item was never added. */
export function itemOf(response: Response, event: JsonObject, type: string): Item {
  const index = indexIn(response, event);
  const known = response.items.get(index);
  if (known !== undefined) return known;
  const item = newItem(type, event.item_id);
  response.items.set(index, item);
  return item;
}
