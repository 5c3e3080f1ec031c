/** Pictures: recognized by their bytes, stored once, refused with a message. */

import { MemoryStore } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { PICTURE_BYTES } from "./limits.ts";
import { keepPicture } from "./pictures.ts";

const bytes = (hex: string, more = "") => Buffer.concat([Buffer.from(hex, "hex"), Buffer.from(more)]);
const PNG = bytes("89504e470d0a1a0a", "rest");

it.each([
  ["image/png", PNG],
  ["image/jpeg", bytes("ffd8ffe0", "rest")],
  ["image/gif", Buffer.from("GIF89a rest")],
  ["image/gif", Buffer.from("GIF87a rest")],
  ["image/webp", bytes("52494646ffffff0057454250", "VP8 ")],
])("[D10] accepts %s, whatever its name", async (mediaType, picture) => {
  const store = new MemoryStore("pictures");
  const kept = await keepPicture(store, picture);
  expect(kept).toMatchObject({ media_type: mediaType, bytes: picture.length });
  const found = await store.blob((kept as { blob: string }).blob);
  expect(found?.mediaType).toBe(mediaType);
  expect(Buffer.from(found?.bytes ?? []).equals(picture)).toBe(true);
  expect(await keepPicture(store, picture)).toEqual(kept);
});

it.each([
  ["nothing", Buffer.alloc(0), "invalid"],
  ["a page", Buffer.from("<svg onload=alert(1)>"), "invalid"],
  ["a page behind a sign that is not at the beginning", Buffer.from(" GIF89a"), "invalid"],
  ["a program", bytes("7f454c46"), "invalid"],
  ["too much", Buffer.concat([PNG, Buffer.alloc(PICTURE_BYTES)]), "too_large"],
])("[D10] refuses %s", async (_name, given, problem) => {
  const store = new MemoryStore("pictures");
  expect(await keepPicture(store, given)).toMatchObject({ problem });
});
