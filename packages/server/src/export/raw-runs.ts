/** A conversation as its provider said it: bytes, not blocks. */

import type { ConversationId, Store } from "@blockyard/kernel";

/** What the provider said, run after run, as it came. */
export async function* rawRuns(store: Store, conversation: ConversationId): AsyncGenerator<Uint8Array> {
  for (const run of await store.rawRuns(conversation)) yield await store.raw({ conversation, run });
}
