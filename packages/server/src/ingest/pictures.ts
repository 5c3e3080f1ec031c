/**
 * Pictures that people give: kept once, as blobs by their hash, and known by what their bytes are, not by what they are
 * called. Only kinds that browsers show and models take.
 */

import { createHash } from "node:crypto";
import type { Store } from "@blockyard/kernel";
import { type Problem, problem } from "@blockyard/kernel/plain";
import { PICTURE_BYTES } from "./limits.ts";

const SIGNS: readonly (readonly [string, (bytes: Buffer) => boolean])[] = [
  ["image/png", (bytes) => bytes.subarray(0, 8).equals(Buffer.from("89504e470d0a1a0a", "hex"))],
  ["image/jpeg", (bytes) => bytes.subarray(0, 3).equals(Buffer.from("ffd8ff", "hex"))],
  ["image/gif", (bytes) => /^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6))],
  ["image/webp", (bytes) => /^RIFF[\s\S]{4}WEBP$/.test(bytes.toString("latin1", 0, 12))],
];

interface KeptPicture {
  readonly blob: string;
  readonly media_type: string;
  readonly bytes: number;
}

export async function keepPicture(store: Store, given: Uint8Array): Promise<KeptPicture | Problem> {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (bytes.length > PICTURE_BYTES)
    return problem(
      "too_large",
      `a picture is limited to ${PICTURE_BYTES} bytes; this one has ${bytes.length}`,
      {
        bytes: bytes.length,
        max_bytes: PICTURE_BYTES,
      },
    );
  const mediaType = mediaTypeOf(bytes);
  if (mediaType === undefined)
    return problem("invalid", "not a supported picture: use PNG, JPEG, GIF or WebP");
  const blob = createHash("sha256").update(bytes).digest("hex");
  await store.putBlob(blob, mediaType, bytes);
  return { blob, media_type: mediaType, bytes: bytes.length };
}

/** What its bytes say that it is; undefined for what models do not take. */
export function mediaTypeOf(bytes: Buffer): string | undefined {
  return SIGNS.find(([, fits]) => fits(bytes))?.[0];
}
