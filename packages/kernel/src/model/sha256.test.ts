/** SHA-256 against the platform's, at every length around a block's end, and names that follow from texts. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { derivedName } from "../ports/env.ts";
import { legacyName } from "../ports/legacy-name.ts";
import { sha256 } from "./sha256.ts";

it("[K78] names that follow from a text are cut from its SHA-256", () => {
  for (let length = 0; length <= 300; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 255);
    expect(Buffer.from(sha256(bytes)).toString("hex")).toBe(createHash("sha256").update(bytes).digest("hex"));
  }
  const alphabet = "abcdefghijkmnpqrstuvwxyz23456789";
  for (const text of ["", "files:/home/ann/shop", "export:e:c:1", "ü\u{1f600}".repeat(999)]) {
    const bits = [...createHash("sha256").update(text).digest()]
      .map((byte) => byte.toString(2).padStart(8, "0"))
      .join("");
    const expected = Array.from(
      { length: 24 },
      (_, i) => alphabet[Number.parseInt(bits.slice(i * 5, i * 5 + 5), 2)],
    );
    expect(derivedName(text, 24)).toBe(expected.join(""));
  }
});

it("[K78] earlier names stay findable: an earlier version's names are derived the same way", () => {
  expect(legacyName("files:/home/ann/shop", 16)).toBe("yj6ypbz6nueqyg66");
  expect(legacyName("log:claude:abc", 16)).toBe("42mcmtf7ya8akert");
});
