/** Sizes from the first bytes of pictures, and from bytes that only look like a picture. */
import { expect, it } from "vitest";
import { pictureSize } from "./picture-size.ts";

const letters = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
const PNG = [0x89, ...letters("PNG"), 13, 10, 26, 10, 0, 0, 0, 13, ...letters("IHDR")];
const WEBP = [...letters("RIFF"), 0, 0, 0, 0, ...letters("WEBP")];
const FRAME = [0xff, 0xc0, 0, 11, 8, 0, 100, 1, 44];
/** As a camera writes it when held rotated. */
const exif = (orientation: number) => [
  ...[0xff, 0xe1, 0, 34, ...letters("Exif"), 0, 0, ...letters("MM"), 0, 42, 0, 0, 0, 8, 0, 1],
  ...[0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0],
];

it.each([
  ["a PNG", [...PNG, 0, 0, 1, 44, 0, 0, 0, 100], { width: 300, height: 100 }],
  ["a GIF", [...letters("GIF89a"), 44, 1, 100, 0], { width: 300, height: 100 }],
  ["a JPEG", [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 1, ...FRAME], { width: 300, height: 100 }],
  [
    "a WebP",
    [...WEBP, ...letters("VP8X"), 10, 0, 0, 0, 0, 0, 0, 0, 43, 1, 0, 99, 0, 0],
    { width: 300, height: 100 },
  ],
  ["a JPEG of a camera", [0xff, 0xd8, ...exif(1), ...FRAME], { width: 300, height: 100 }],
  ["a JPEG of a camera that was turned", [0xff, 0xd8, ...exif(6), ...FRAME], { width: 100, height: 300 }],
  [
    "a JPEG whose camera says nothing",
    [0xff, 0xd8, 0xff, 0xe1, 0, 4, 1, 1, ...FRAME],
    { width: 300, height: 100 },
  ],
  ["a PNG without a side", [...PNG, 0, 0, 0, 0, 0, 0, 0, 100], undefined],
  ["a PNG with a side of two thousand million", [...PNG, 0x7f, 0, 0, 0, 0, 0, 0, 100], undefined],
  ["a JPEG that ends", [0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff], undefined],
  ["anything else", [1, 2, 3, 4], undefined],
])("[V1] the size of %s", (_, bytes, size) => {
  expect(pictureSize(Uint8Array.from([...bytes, ...new Array<number>(40).fill(0)]))).toEqual(size);
});

it("[V1] of nothing there is no size", () => {
  expect(pictureSize(new Uint8Array())).toBeUndefined();
});
