/**
 * What is open of one response: its items, the text parts and calls in them. Held by responses.ts, changed by the files
 * beside it. Nothing that was said is kept here, only how much.
 */

import type { BlockKey, Json, JsonObject } from "@blockyard/kernel";
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
  isDone: boolean;
}

export interface Response {
  readonly turn: Turn;
  readonly items: Map<number, Item>;
  /** Calls that run, here or there, by their block. */
  readonly calls: Map<BlockKey, OpenCall>;
}

export function newItem(type: string, id: Json | undefined): Item {
  return {
    type,
    id: wordsOf(id) ?? "",
    parts: new Map(),
    ended: new Set(),
    call: undefined,
    answered: undefined,
    isDone: false,
  };
}

export function indexIn(response: Response, event: JsonObject): number {
  const index = wholeOf(event.output_index);
  if (index !== undefined && index >= 0) return index;
  return indexOfId(response, event.item_id ?? objectOf(event.item).id) ?? response.items.size;
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
