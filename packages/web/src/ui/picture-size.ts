/** How large a picture is drawn: known before it is decoded, so that its room is there from the first frame. */

import { type PictureSize, pictureSize } from "@blockyard/kernel";
import { MEASURED_BASE64_CHARS } from "./limits.ts";

/** @param url A `data:` address in base64. */
export function sizeInData(url: string): PictureSize | undefined {
  const found = /^data:image\/[\w.+-]+;base64,/.exec(url);
  if (!found) return undefined;
  const from = found[0].length;
  const length = Math.min(MEASURED_BASE64_CHARS, (url.length - from) & ~3);
  try {
    return pictureSize(Uint8Array.from(atob(url.slice(from, from + length)), (sign) => sign.charCodeAt(0)));
  } catch {
    // No base64: as for any other picture.
    return undefined;
  }
}

/** The displayed size: no larger than the room for a picture. */
export function fitted({ width, height }: PictureSize, most: PictureSize): PictureSize {
  const share = Math.min(1, most.width / width, most.height / height);
  return { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) };
}
