/**
 * What a fuzz harness is, and how seeds are run. A harness is a file test/fuzz/<name>.fuzz.ts that exports `fuzz`.
 * One seed is one whole run and decides everything in it, so a failure is repeated by its number alone.
 *
 * A harness names in `sometimes` what must happen now and then for its runs to mean anything (a conflict, a
 * reconnect, an undo of something deleted). A batch of seeds in which one of these never happened has failed:
 * it tested less than it says.
 */

export interface FuzzOutcome {
  readonly ok: boolean;
  /** The error, for a person. */
  readonly detail?: string;
  /** How often things happened in this run. */
  readonly hits: Readonly<Record<string, number>>;
}

export interface Fuzz {
  readonly name: string;
  readonly sometimes: readonly string[];
  run(seed: number): Promise<FuzzOutcome>;
}

export interface FuzzReport {
  readonly name: string;
  readonly seeds: number;
  readonly failures: readonly { readonly seed: number; readonly detail: string }[];
  readonly hits: Readonly<Record<string, number>>;
  /** Those of `sometimes` that never happened. */
  readonly neverHit: readonly string[];
}

/** Runs `count` seeds from `from` on. For tests: `expect(await runSeeds(fuzz, 1, 50)).toMatchObject(clean)`. */
export async function runSeeds(fuzz: Fuzz, from: number, count: number): Promise<FuzzReport> {
  const batch = new Batch(fuzz);
  for (let seed = from; seed < from + count; seed++) await batch.run(seed);
  return batch.report();
}

/** The part of a report that every good batch has. */
export const clean = { failures: [], neverHit: [] };

/** Collects the outcomes of the seeds of one harness. */
export class Batch {
  readonly fuzz: Fuzz;
  seeds = 0;
  readonly failures: { seed: number; detail: string }[] = [];
  readonly #hits = new Map<string, number>();

  constructor(fuzz: Fuzz) {
    this.fuzz = fuzz;
  }

  async run(seed: number): Promise<FuzzOutcome> {
    const outcome = await this.#outcome(seed);
    this.seeds++;
    for (const [name, times] of Object.entries(outcome.hits)) {
      this.#hits.set(name, (this.#hits.get(name) ?? 0) + times);
    }
    if (!outcome.ok) this.failures.push({ seed, detail: outcome.detail ?? "no detail" });
    return outcome;
  }

  report(): FuzzReport {
    return {
      name: this.fuzz.name,
      seeds: this.seeds,
      failures: this.failures,
      hits: Object.fromEntries(this.#hits),
      neverHit: this.fuzz.sometimes.filter((name) => (this.#hits.get(name) ?? 0) === 0),
    };
  }

  /** A harness that throws has found something too, if only in itself. */
  async #outcome(seed: number): Promise<FuzzOutcome> {
    try {
      return await this.fuzz.run(seed);
    } catch (error) {
      return {
        ok: false,
        detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
        hits: {},
      };
    }
  }
}
