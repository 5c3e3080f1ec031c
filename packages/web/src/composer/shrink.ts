/** Pictures that are too large to be sent as they are, made smaller: models look at no more than this many pixels anyway. */
import { PICTURE_BYTES } from "./limits.ts";

const LONGEST_PX = 2_000;
const QUALITY = 0.85;

/** The picture itself if it is small enough. */
export async function shrunk(picture: File): Promise<Blob> {
  if (picture.size <= PICTURE_BYTES) return picture;
  const bitmap = await createImageBitmap(picture).catch(() => undefined);
  if (!bitmap) throw new Error("not a picture that this browser can read");
  const scale = Math.min(1, LONGEST_PX / Math.max(bitmap.width, bitmap.height));
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(bitmap.width * scale)),
    Math.max(1, Math.round(bitmap.height * scale)),
  );
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const smaller = await canvas.convertToBlob({ type: "image/jpeg", quality: QUALITY });
  if (smaller.size > PICTURE_BYTES) throw new Error("the picture is too large");
  return smaller;
}
