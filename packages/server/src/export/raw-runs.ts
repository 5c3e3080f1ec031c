/** A conversation as its provider said it: bytes, not blocks. */

import type { ConversationId, Store } from "@blockyard/kernel";

/** The provider's output, run after run, unchanged. */
export async function* rawRuns(store: Store, conversation: ConversationId): AsyncGenerator<Uint8Array> {
  for (const run of await store.rawRuns(conversation)) yield await store.raw({ conversation, run });
}
