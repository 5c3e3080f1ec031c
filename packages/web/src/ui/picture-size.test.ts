/**
 * Sizes from the beginnings of pictures, and from what only looks like one.
 */
import { describe, expect, it } from "vitest";
import { fitted, sizeInData } from "./picture-size.ts";

const dataOf = (...bytes: readonly number[]) =>
  `data:image/png;base64,${btoa(String.fromCharCode(...bytes, ...new Array(40).fill(0)))}`;
const letters = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
const PNG = [0x89, ...letters("PNG"), 13, 10, 26, 10, 0, 0, 0, 13, ...letters("IHDR")];
const WEBP = [...letters("RIFF"), 0, 0, 0, 0, ...letters("WEBP")];

describe("the size of a picture", () => {
  it.each([
    ["a PNG", [...PNG, 0, 0, 1, 44, 0, 0, 0, 100], { width: 300, height: 100 }],
    ["a GIF", [...letters("GIF89a"), 44, 1, 100, 0], { width: 300, height: 100 }],
    [
      "a JPEG",
      [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, 0xff, 0xc0, 0, 11, 8, 0, 100, 1, 44],
      { width: 300, height: 100 },
    ],
    [
      "a WebP",
      [...WEBP, ...letters("VP8X"), 10, 0, 0, 0, 0, 0, 0, 0, 43, 1, 0, 99, 0, 0],
      { width: 300, height: 100 },
    ],
    ["a PNG without a side", [...PNG, 0, 0, 0, 0, 0, 0, 0, 100], undefined],
    ["a PNG with a side of two thousand million", [...PNG, 0x7f, 0, 0, 0, 0, 0, 0, 100], undefined],
    [
      "a JPEG that may be turned",
      [0xff, 0xd8, 0xff, 0xe1, 0, 4, 1, 1, 0xff, 0xc0, 0, 11, 8, 0, 100, 1, 44],
      undefined,
    ],
    ["a JPEG that ends", [0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff], undefined],
    ["anything else", [1, 2, 3, 4], undefined],
  ])("[V1] of %s", (_, bytes, size) => {
    expect(sizeInData(dataOf(...bytes))).toEqual(size);
  });

  it("[V1] is not known of what has no data", () => {
    for (const url of [
      "",
      "data:image/png;base64,",
      "data:image/png;base64,!!!!",
      "blob:x",
      "data:image/svg+xml,x",
    ])
      expect(sizeInData(url)).toBeUndefined();
  });

  it("is made less to fit, in both directions alike", () => {
    expect(fitted({ width: 1_280, height: 320 }, { width: 640, height: 480 })).toEqual({
      width: 640,
      height: 160,
    });
    expect(fitted({ width: 20, height: 10 }, { width: 640, height: 480 })).toEqual({ width: 20, height: 10 });
    expect(fitted({ width: 1, height: 9_999 }, { width: 640, height: 480 })).toEqual({
      width: 1,
      height: 480,
    });
  });
});
