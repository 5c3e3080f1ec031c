/** Sizes of pictures that a page has as data, and how large they are drawn. */
import { describe, expect, it } from "vitest";
import { fitted, sizeInData } from "./picture-size.ts";

const dataOf = (...bytes: readonly number[]) =>
  `data:image/png;base64,${btoa(String.fromCharCode(...bytes, ...new Array(40).fill(0)))}`;
const letters = (text: string) => [...text].map((letter) => letter.charCodeAt(0));
const PNG = [0x89, ...letters("PNG"), 13, 10, 26, 10, 0, 0, 0, 13, ...letters("IHDR")];

describe("the size of a picture", () => {
  it("[V1] is read from its data", () => {
    const head = [...PNG, 0, 0, 1, 44, 0, 0, 0, 100];
    expect(sizeInData(dataOf(...head))).toEqual({ width: 300, height: 100 });
  });

  it("[V1] is unknown without data", () => {
    for (const url of [
      "",
      "data:image/png;base64,",
      "data:image/png;base64,!!!!",
      "blob:x",
      "data:image/svg+xml,x",
    ])
      expect(sizeInData(url)).toBeUndefined();
  });

  it("is scaled down to fit, in both directions alike", () => {
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
