/** Dictionaries: built from chunks as they were packed, and sufficient to read back what needs them. */

import { zstdDecompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { Dictionaries, type DictionaryRows } from "./dictionary.ts";

class Rows implements DictionaryRows {
  readonly bodies = new Map<number, Uint8Array>();

  lastDictionary(): number {
    return this.bodies.size;
  }

  dictionary(id: number): Uint8Array | undefined {
    return this.bodies.get(id);
  }

  addDictionary(id: number, body: Uint8Array): void {
    this.bodies.set(id, body);
  }
}

it("[S26] a dictionary is built from the original chunks, though their memory has been reused", () => {
  const rows = new Rows();
  const dictionaries = new Dictionaries(rows);
  const scratch = Buffer.alloc(4_096);
  const words = (n: number) => `chunk ${n} says ${"something that comes again ".repeat(60)}`;
  const pack = (text: string) => {
    scratch.write(text);
    return dictionaries.pack(scratch.subarray(0, text.length), false);
  };
  for (let n = 0; n < 60; n++) pack(words(n));
  const id = dictionaries.make();
  expect(id).toBe(1);
  dictionaries.use(1);
  const dictionary = zstdDecompressSync(rows.bodies.get(1) as Uint8Array).toString();
  for (let n = 52; n < 60; n++) expect(dictionary).toContain(`chunk ${n} says`);
  const packed = pack(words(99));
  expect(packed.dictionary).toBe(1);
  expect(packed.body.length).toBeLessThan(100);
  expect(Buffer.from(new Dictionaries(rows).unpack(packed)).toString()).toBe(words(99));
});
