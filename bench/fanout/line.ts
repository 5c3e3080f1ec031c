/**
 * The lines that the load is made of, and what a viewer makes of them: each says which agent wrote it, its number and when
 * it was sent. So a viewer sees what was lost, doubled or late, whatever carried it.
 */

export function lineOf(agent: number, number: number, sentMs: number, chars: number): string {
  const head = `${agent}:${number}:${sentMs.toFixed(3)} `;
  return `${head.padEnd(chars - 1, "x")}\n`;
}

export class Seen {
  readonly latencies: number[] = [];
  lost = 0;
  doubled = 0;
  readonly #next = new Map<number, number>();

  /** Lines as they come. */
  lines(text: string, nowMs: number): void {
    for (const line of text.split("\n")) {
      if (line === "") continue;
      const [agent, number, sentMs] = line.slice(0, 60).split(/[: ]/, 3).map(Number) as [
        number,
        number,
        number,
      ];
      const next = this.#next.get(agent) ?? 0;
      if (number < next) this.doubled++;
      else {
        this.lost += number - next;
        this.#next.set(agent, number + 1);
        this.latencies.push(nowMs - sentMs);
      }
    }
  }

  /** A block anew, as a slow viewer gets it: what it holds was delivered; it must hold everything up to its end. */
  whole(text: string, nowMs: number): void {
    const lines = text.split("\n").filter((line) => line !== "");
    lines.forEach((line, index) => {
      const [agent, number] = line.slice(0, 60).split(/[: ]/, 2).map(Number) as [number, number];
      if (number !== index) this.lost++;
      if (number >= (this.#next.get(agent) ?? 0)) this.lines(line, nowMs);
    });
  }

  /** How many lines of each agent have arrived. */
  count(agent: number): number {
    return this.#next.get(agent) ?? 0;
  }
}
