/**
 * Finds the pictures in a block's metadata: an `image` block is one, and a tool's call and result may have `images`. A picture
 * is data (base64, or a data URL), or names the blob that holds it.
 *
 * Other metadata names blobs under the same key, `blob`: files attached to a message, for example.
 *
 * It does not store blobs or choose their names.
 */

import type { Json, JsonObject } from "./json.ts";

/** The metadata with every picture replaced by what `change` makes of it; the same object where nothing changed. */
export async function changePictures(
  metadata: JsonObject,
  change: (picture: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { images } = metadata;
  if (Array.isArray(images)) {
    const changed: Json[] = [];
    for (const picture of images) changed.push(isPicture(picture) ? await change(picture) : picture);
    return changed.every((picture, at) => picture === images[at])
      ? metadata
      : { ...metadata, images: changed };
  }
  return isPicture(metadata) ? change(metadata) : metadata;
}

function isPicture(value: Json | undefined): value is JsonObject {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const { data, blob } = value as JsonObject;
  return typeof data === "string" || typeof blob === "string";
}

/** All blobs named anywhere in a block's metadata. */
export function blobsIn(metadata: Json): readonly string[] {
  const found: string[] = [];
  const walk = (value: Json): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      if (key === "blob" && typeof item === "string") found.push(item);
      else walk(item);
    }
  };
  walk(metadata);
  return found;
}
