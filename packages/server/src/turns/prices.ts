/**
 * The user's price table: `prices.json` in the data directory, read again when it changes. Blockyard ships no prices, since those
 * that it knew would be wrong tomorrow; without a table, or without a price for a model, a turn shows its tokens alone.
 *
 *     { "gpt-5.5": { "input": 1.25, "output": 10, "cacheRead": 0.125 }, "gpt-5*": { "input": 1, "output": 8 } }
 *
 * US dollars for a million tokens. A name that ends in `*` prices every model that begins so; the longest wins. A file that cannot be
 * read prices nothing, and `blockyard doctor` says why.
 */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Price, PriceTable } from "@blockyard/providers";
import { z } from "zod";
import { PRICES_BYTES } from "./limits.ts";

const PRICES_FILE = "prices.json";

const usd = z.number().finite().nonnegative();
const table = z.record(
  z.string().min(1),
  z.strictObject({ input: usd, output: usd, cacheRead: usd.optional(), cacheWrite: usd.optional() }),
);

interface ReadPrices {
  readonly table: PriceTable;
  /** Why there are none, though there is a file. */
  readonly problem?: string;
}

export class Prices {
  readonly #path: string;
  #stamp = "";
  #read: ReadPrices = { table: {} };

  constructor(home: string) {
    this.#path = join(home, PRICES_FILE);
  }

  get table(): PriceTable {
    return this.read().table;
  }

  read(): ReadPrices {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    const stamp = stat === undefined ? "" : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
    if (stamp === this.#stamp) return this.#read;
    this.#read = stat === undefined ? { table: {} } : readPrices(this.#path, stat.size);
    this.#stamp = stamp;
    return this.#read;
  }
}

function readPrices(path: string, bytes: number): ReadPrices {
  if (bytes > PRICES_BYTES) return { table: {}, problem: `${path} is larger than ${PRICES_BYTES} bytes` };
  try {
    const parsed = table.safeParse(JSON.parse(readFileSync(path, "utf8")));
    if (parsed.success) return { table: parsed.data as Readonly<Record<string, Price>> };
    const [first] = parsed.error.issues;
    return {
      table: {},
      problem: `${path}: ${first?.path.join(".") || "the table"}: ${first?.message ?? "not prices"}`,
    };
  } catch (error) {
    return { table: {}, problem: `${path}: ${error instanceof Error ? error.message : String(error)}` };
  }
}
