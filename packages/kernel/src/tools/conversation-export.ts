/**
 * conversation.export: a conversation as lines of JSON, one at a time: its record, its turns, its blocks with their
 * texts in order of creation, and a last line that says that it is complete. Lossless: a view has every field of its
 * record.
 */

import { z } from "zod";
import { toBase64 } from "../model/base64.ts";
import { withMetadata } from "../model/block.ts";
import type { Conversation } from "../model/conversation.ts";
import type { JsonObject } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import { changePictures } from "../model/pictures.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import type { Kernel } from "../write/kernel.ts";
import { StreamProblem } from "./block-subscribe.ts";
import type { AnswerOf } from "./calls.ts";
import { conversationField, type Signal, type Streamed, streamTool } from "./tool.ts";
import {
  conversationSchema,
  conversationView,
  snapshotSchema,
  snapshotView,
  turnSchema,
  turnView,
} from "./view.ts";

const line = z.discriminatedUnion("type", [
  conversationSchema.extend({ type: z.literal("conversation"), epoch: z.string() }),
  turnSchema.extend({ type: z.literal("turn") }),
  snapshotSchema.extend({ type: z.literal("block") }),
  z.object({ type: z.literal("end"), blocks: z.number().int(), seq: z.number().int() }),
]);

export type ExportLine = AnswerOf<typeof line>;

export const conversationExport = streamTool({
  name: "conversation.export",
  description:
    "Export a conversation as lines of JSON: {type: conversation}, {type: turn}…, {type: block} with content…, {type: end}. " +
    "Without the last line the export is incomplete.",
  input: z.strictObject({ conversation: conversationField }),
  output: line,
  access: "read",
  async run(call, { conversation }): Promise<Streamed<ExportLine> | Problem> {
    const record = await call.kernel.conversation(conversation);
    if (isProblem(record)) return record;
    return { stream: exportLines(call.kernel, record, call.signal) };
  },
});

/** Throws a StreamProblem where the store fails in the middle. */
export async function* exportLines(
  kernel: Kernel,
  record: Conversation,
  signal?: Signal,
): AsyncGenerator<ExportLine> {
  const conversation = record.id;
  yield { type: "conversation", epoch: kernel.store.epoch, ...conversationView(record) };
  for (const turn of unwrap(await kernel.turns(conversation))) yield { type: "turn", ...turnView(turn) };
  let after = 0;
  let count = 0;
  let seq = record.seq;
  for (;;) {
    const page = unwrap(
      await kernel.blocks({ conversation, after, order: "first", limit: limits.exportedBlocks }),
    );
    for (const { id } of page) {
      if (signal?.aborted) return;
      const whole = unwrap(await kernel.whole(id));
      const metadata = await changePictures(whole.metadata, (picture) => withData(kernel, picture));
      yield { type: "block", ...snapshotView(withMetadata(whole, metadata)) };
      after = whole.born;
      seq = Math.max(seq, whole.seq);
      count++;
    }
    if (page.length < limits.exportedBlocks) break;
  }
  yield { type: "end", blocks: count, seq };
}

/** An export leads nowhere: pictures that are blobs here are in it. */
async function withData(kernel: Kernel, picture: JsonObject): Promise<JsonObject> {
  const { blob, ...rest } = picture;
  const kept = typeof blob === "string" ? await kernel.store.blob(blob) : undefined;
  return kept ? { ...rest, mediaType: kept.mediaType, data: toBase64(kept.bytes) } : picture;
}

function unwrap<T>(value: T | Problem): T {
  if (isProblem(value)) throw new StreamProblem(value);
  return value;
}
