/**
 * Counters for operations, in Prometheus' text form.
 */

export class Metrics {
  readonly #counters = new Map<string, number>();

  count(name: string, by = 1): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + by);
  }

  text(gauges: Readonly<Record<string, number>>): string {
    const { rss, heapUsed } = process.memoryUsage();
    const all = { ...gauges, process_resident_memory_bytes: rss, nodejs_heap_used_bytes: heapUsed };
    const lines = [...this.#counters].map(([name, value]) => `# TYPE ${name} counter\n${name} ${value}`);
    for (const [name, value] of Object.entries(all)) lines.push(`# TYPE ${name} gauge\n${name} ${value}`);
    return `${lines.join("\n")}\n`;
  }
}
