/**
 * Finds writes whose idempotency keys were used before, and answers them with the stored answer instead of applying them again.
 * The result holds until another node may have committed.
 */

import type { ConversationId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import type { Store } from "../ports/store.ts";
import { refusalOf } from "./outcome.ts";
import type { Queued } from "./write.ts";

/** Settles the writes that have a stored answer, and those whose key cannot be looked up. Returns the settled ones. */
export async function answerAgain(
  store: Store,
  conversation: ConversationId,
  waiting: readonly Queued[],
): Promise<ReadonlySet<Queued>> {
  const keyed = waiting.filter((write) => !write.isNew);
  const settled = new Set<Queued>();
  if (keyed.length === 0) return settled;
  if (store.answers) return answerAtOnce(store.answers(conversation, keysOf(keyed)), keyed);
  await Promise.all(
    keyed.map(async (write) => {
      try {
        const answer = await store.answer(conversation, write.key as string);
        write.isNew = true;
        if (answer === undefined) return;
        write.settle(answer);
      } catch (error) {
        write.settle(refusalOf(write, error));
      }
      settled.add(write);
    }),
  );
  return settled;
}

async function answerAtOnce(
  asked: Promise<ReadonlyMap<string, Json>>,
  keyed: readonly Queued[],
): Promise<ReadonlySet<Queued>> {
  try {
    return settleKnown(keyed, await asked);
  } catch (error) {
    for (const write of keyed) write.settle(refusalOf(write, error));
    return new Set(keyed);
  }
}

export function keysOf(waiting: readonly Queued[]): string[] {
  return waiting.flatMap(({ key }) => (key === undefined ? [] : [key]));
}

/** Settles the writes among `keyed` that have an answer. */
export function settleKnown(
  keyed: readonly Queued[],
  answers: ReadonlyMap<string, Json>,
): ReadonlySet<Queued> {
  const settled = new Set<Queued>();
  for (const write of keyed) {
    write.isNew = true;
    if (write.key === undefined || !answers.has(write.key)) continue;
    write.settle(answers.get(write.key));
    settled.add(write);
  }
  return settled;
}
