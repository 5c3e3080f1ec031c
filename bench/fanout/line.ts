/**
 * The lines of the load, and a viewer's checks: each line states its agent, its number and when it was sent. So a
 * viewer sees what was lost, doubled, out of order or late, over any transport.
 */
import { createHistogram, type RecordableHistogram } from "node:perf_hooks";

/** A piece ends with a newline, which is sent at once, or with this, which waits for more until it is old enough. */
export const TAIL = ";";

export function lineOf(
  agent: number,
  number: number,
  sentMs: number,
  chars: number,
  end: "\n" | typeof TAIL = "\n",
): string {
  const head = `${agent}:${number}:${sentMs.toFixed(3)} `;
  return `${head.padEnd(chars - 1, "x")}${end}`;
}

/** How late pieces were, in any number of them: kept as counts, to three figures. */
export class Lateness {
  readonly #histogram: RecordableHistogram = createHistogram({ figures: 3, highest: 3_600_000_000 });

  add(ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(ms * 1_000)));
  }

  get count(): number {
    return this.#histogram.count;
  }

  /** In milliseconds; not a number where nothing came. */
  quantileMs(share: number): number {
    return this.count === 0 ? Number.NaN : this.#histogram.percentile(share * 100) / 1_000;
  }

  forget(): void {
    this.#histogram.reset();
  }
}

/** One viewer's view of every agent. */
export class Seen {
  doubled = 0;
  reordered = 0;
  readonly #lateness: Lateness;
  readonly #next = new Map<number, number>();
  /** Skipped numbers; those still here in the end are lost. */
  readonly #missing = new Map<number, Set<number>>();

  constructor(lateness: Lateness) {
    this.#lateness = lateness;
  }

  get lost(): number {
    return [...this.#missing.values()].reduce((sum, numbers) => sum + numbers.size, 0);
  }

  /** Pieces as they come. */
  lines(text: string, nowMs: number): void {
    for (const line of text.split(/[\n;]/)) {
      if (line === "") continue;
      const [agent, number, sentMs] = line.slice(0, 60).split(/[: ]/, 3).map(Number) as [
        number,
        number,
        number,
      ];
      const next = this.#next.get(agent) ?? 0;
      if (number < next) this.#late(agent, number);
      else {
        this.#pass(agent, next, number);
        this.#lateness.add(nowMs - sentMs);
      }
    }
  }

  /** A block sent anew, as a slow viewer gets it: its content was delivered; it must contain everything up to its end. */
  whole(text: string, nowMs: number): void {
    const lines = text.split(/[\n;]/).filter((line) => line !== "");
    lines.forEach((line, index) => {
      const [agent, number] = line.slice(0, 60).split(/[: ]/, 2).map(Number) as [number, number];
      if (number !== index) this.#passOver(agent, index);
      if (number >= (this.#next.get(agent) ?? 0)) this.lines(line, nowMs);
    });
  }

  /** How many pieces of each agent have arrived. */
  count(agent: number): number {
    return this.#next.get(agent) ?? 0;
  }

  #pass(agent: number, next: number, number: number): void {
    for (let missed = next; missed < number; missed++) this.#passOver(agent, missed);
    this.#next.set(agent, number + 1);
  }

  #passOver(agent: number, number: number): void {
    const missing = this.#missing.get(agent) ?? new Set();
    this.#missing.set(agent, missing.add(number));
  }

  #late(agent: number, number: number): void {
    if (this.#missing.get(agent)?.delete(number)) this.reordered++;
    else this.doubled++;
  }
}
