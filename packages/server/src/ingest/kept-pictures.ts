/**
 * Stores pictures that agents show once, as blobs by their hash, before their events are written: so a conversation
 * full of screenshots opens as fast as any other, and a picture in a call and in its result is stored once. Its size
 * stays with the block, so that a page can reserve space before it loads.
 *
 * Small pictures, and formats that no browser shows, stay in the block.
 */

import { createHash } from "node:crypto";
import {
  type BlockEvent,
  changePictures,
  isProblem,
  type JsonObject,
  jsonText,
  type Kernel,
  patiently,
  pictureSize,
} from "@blockyard/kernel";
import { INLINE_PICTURE_CHARS } from "./limits.ts";

const SHOWN = /^image\/(png|jpeg|gif|webp|avif)$/;
const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/i;

/** The part of the kernel that is needed for it. */
type PictureKeeper = Pick<Kernel, "env" | "store">;

export async function keepPictures(
  kernel: PictureKeeper,
  events: readonly BlockEvent[],
): Promise<readonly BlockEvent[]> {
  if (!events.some(bringsPictures)) return events;
  const kept: BlockEvent[] = [];
  for (const event of events) {
    if (!("metadata" in event) || event.metadata === undefined) kept.push(event);
    else kept.push({ ...event, metadata: await keepPicturesIn(kernel, event.metadata) });
  }
  return kept;
}

export function keepPicturesIn(kernel: PictureKeeper, metadata: JsonObject): Promise<JsonObject> {
  return changePictures(metadata, (picture) => keep(kernel, picture));
}

function bringsPictures(event: BlockEvent): boolean {
  if (!("metadata" in event) || event.metadata === undefined) return false;
  return event.metadata.images !== undefined || event.metadata.data !== undefined;
}

async function keep({ env, store }: PictureKeeper, picture: JsonObject): Promise<JsonObject> {
  const { data, ...rest } = picture;
  if (typeof data !== "string" || data.length <= INLINE_PICTURE_CHARS) return picture;
  const url = DATA_URL.exec(data);
  const mediaType = jsonText(url?.[1] ?? rest["mediaType"] ?? "image/png").toLowerCase();
  if (!SHOWN.test(mediaType)) return picture;
  const text = url ? data.slice(url[0].length) : data;
  const bytes = Buffer.from(text, "base64");
  if (unpadded(bytes.toString("base64")) !== unpadded(text.replace(/\s/g, ""))) return picture;
  const blob = createHash("sha256").update(bytes).digest("hex");
  // If the store stays unavailable, the picture stays in its block, which waits for the store as well.
  const refused = await patiently(env, () => store.putBlob(blob, mediaType, bytes));
  return isProblem(refused) ? picture : { ...pictureSize(bytes), ...rest, mediaType, blob };
}

/** Two at most, as base64 has them: a search for any number takes hours on a text of only padding. */
function unpadded(base64: string): string {
  return base64.replace(/={1,2}$/, "");
}
