/**
 * A conversation of this kernel as a file in one of the formats: what the export route sends.
 */

import {
  type ConversationId,
  exportLines,
  isProblem,
  type Kernel,
  type Problem,
  type Store,
} from "@blockyard/kernel";
import type { Download } from "../faces/http.ts";
import { exportAs, FORMAT_FILES, type Format } from "./export.ts";

export async function exportFile(
  kernel: Kernel,
  conversation: ConversationId,
  format: Format,
  redact: boolean,
): Promise<Download | Problem> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  const { ending, mediaType } = FORMAT_FILES[format];
  const body = exportAs(format, {
    lines: () => exportLines(kernel, record),
    raw: () => rawRuns(kernel.store, conversation),
    redact: redact ? () => undefined : undefined,
  });
  return { name: `${conversation}.${ending}`, mediaType, body };
}

/** What the provider said, run after run, as it came. */
export async function* rawRuns(store: Store, conversation: ConversationId): AsyncGenerator<Uint8Array> {
  for (const run of await store.rawRuns(conversation)) yield await store.raw({ conversation, run });
}
