/**
 * A conversation of this kernel as a file in one of the formats: what the export route sends. What has to be rendered or
 * searched for secrets is, in a thread; lines that go out as they are need none.
 */

import {
  type ConversationId,
  exportLines,
  isProblem,
  type Kernel,
  type Problem,
  StreamProblem,
} from "@blockyard/kernel";
import { resting } from "../system/streamed-answer.ts";
import { exportAs } from "./export.ts";
import type { ExportPool } from "./export-pool.ts";
import { FORMAT_FILES, type Format } from "./format.ts";
import { rawRuns } from "./raw-runs.ts";

export interface Download {
  readonly name: string;
  readonly mediaType: string;
  readonly body: AsyncIterable<string | Uint8Array>;
}

/** For whom, and where: without it an export is made in this thread. */
interface ExportPlace {
  readonly pool: ExportPool;
  readonly isOwners: boolean;
  /** Waited for between two lines. */
  readonly rest: () => Promise<void>;
}

export async function exportFile(
  kernel: Kernel,
  conversation: ConversationId,
  format: Format,
  redact: boolean,
  place?: ExportPlace,
): Promise<Download | Problem> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return record;
  const { ending, mediaType } = FORMAT_FILES[format];
  const paced = <T>(items: AsyncIterable<T>) => (place ? resting(items, place.rest) : items);
  const lines = () => paced(exportLines(kernel, record));
  const raw = () => paced(rawRuns(kernel.store, conversation));
  const isPlain = !redact && (format === "jsonl" || format === "raw");
  const made =
    isPlain || !place
      ? exportAs(format, { lines, raw, redact: redact ? () => undefined : undefined })
      : place.pool.make({ format, redact, lines, raw }, place.isOwners);
  const body = await begun(made);
  return isProblem(body) ? body : { name: `${conversation}.${ending}`, mediaType, body };
}

/** What goes wrong before the first piece can still be answered as a problem. */
async function begun<T>(pieces: AsyncGenerator<T>): Promise<AsyncGenerator<T> | Problem> {
  try {
    const first = await pieces.next();
    return (async function* () {
      try {
        if (!first.done) yield first.value;
        yield* pieces;
      } finally {
        await pieces.return(undefined);
      }
    })();
  } catch (error) {
    if (error instanceof StreamProblem) return error.problem;
    throw error;
  }
}
