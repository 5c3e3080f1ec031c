/**
 * The state of the Anthropic adapter: the open message, and calls that have not ended. And the place of its blocks:
 * their keys, and their common metadata.
 */

import type { BlockKey, Json, JsonObject } from "@blockyard/kernel";
import { wholeOf } from "../read.ts";
import type { ContentPlace, OpenContent } from "./content.ts";
import type { Call } from "./server-results.ts";
import type { PartedMessage } from "./text-part.ts";

export interface AnthropicOptions {
  /** The caller runs the tools that the model calls, and ends those calls. */
  readonly runsTools?: boolean;
}

export interface Message extends PartedMessage {
  readonly turn: string;
  readonly id: string;
  /** Of the next block: another model may go on with the message. */
  model: string | undefined;
  /** Calls of another model for advice: its tokens are not the message's. */
  readonly advice: BlockKey[];
  /** Blocks between start and stop, by the API's index. */
  readonly open: Map<number, OpenContent>;
  /** Indexes of blocks with unknown types: their deltas belong to no block of ours. */
  readonly strange: Set<number>;
  /** The call that stopped last: it starts when it is known that the message was not cut in it. */
  last: { readonly key: string; readonly isRemote: boolean } | undefined;
  native: JsonObject | undefined;
  stopReason: string | undefined;
  stopDetails: Json | undefined;
}

export interface AnthropicState {
  readonly run: string;
  messages: number;
  strays: number;
  message: Message | undefined;
  /** Calls whose input is whole and that have not ended, by their block: an id may come twice. */
  readonly running: Map<string, Call>;
}

export const PROVIDER = "anthropic";

export function indexOf(event: JsonObject): number | undefined {
  const index = wholeOf(event.index);
  return index === undefined || index < 0 ? undefined : index;
}

/** Events without an index belong to the last opened block. */
export function lastIndex(message: Message): number {
  return [...message.open.keys()].at(-1) ?? message.blocks;
}

export function placeOf(message: Message, index: number): ContentPlace {
  return { key: blockKey(message), metadata: { ...placeMetadata(message), index } };
}

export function placeMetadata(message: Message): JsonObject {
  return {
    provider: PROVIDER,
    messageId: message.id,
    turn: message.turn,
    ...(message.model === undefined ? {} : { model: message.model }),
  };
}

export function blockKey(message: Message): string {
  return `${message.turn}/${message.blocks}`;
}

export function placeFor(message: Message): { readonly key: string; readonly provider: string } {
  const key = blockKey(message);
  message.blocks++;
  return { key, provider: PROVIDER };
}

export function stray(state: AnthropicState): { readonly key: string; readonly provider: string } {
  return { key: `${state.run}/x${state.strays++}`, provider: PROVIDER };
}
