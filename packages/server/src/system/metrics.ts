/**
 * Figures for operations, in Prometheus' text form. Every name is in the table below: one that is not cannot be counted,
 * and the page that lists them (docs/security.md) is checked against it.
 */

export const METRICS = {
  blockyard_ops_total: { type: "counter", help: "Changes committed since the start." },
  blockyard_calls_total: { type: "counter", help: "Tool calls, over all transports." },
  blockyard_problems_total: { type: "counter", help: "Tool calls that returned a problem." },
  blockyard_refused_total: { type: "counter", help: "Requests, upgrades and calls that were refused." },
  blockyard_faults_total: { type: "counter", help: "Internal errors; see the log." },
  blockyard_sockets: { type: "gauge", help: "Open WebSockets." },
  blockyard_turns_running: { type: "gauge", help: "Running turns." },
  blockyard_calls_waiting: { type: "gauge", help: "Calls by agents and viewers that are queued or running." },
  process_start_time_seconds: { type: "gauge", help: "When the server started, in seconds since 1970." },
  process_resident_memory_bytes: { type: "gauge", help: "Memory that the process holds." },
  nodejs_heap_used_bytes: { type: "gauge", help: "Memory that JavaScript uses." },
  nodejs_eventloop_delay_p99_seconds: {
    type: "gauge",
    help: "Event loop delay, 99th percentile since the last scrape.",
  },
} as const;

type Name = keyof typeof METRICS;
type CounterName = { [N in Name]: (typeof METRICS)[N]["type"] extends "counter" ? N : never }[Name];
type GaugeName = Exclude<Name, CounterName>;

export class Metrics {
  readonly #counters = new Map<CounterName, number>();

  count(name: CounterName, by = 1): void {
    this.#counters.set(name, (this.#counters.get(name) ?? 0) + by);
  }

  text(gauges: Readonly<Record<GaugeName, number>>): string {
    const lines: string[] = [];
    for (const name of Object.keys(METRICS) as Name[]) {
      const { type, help } = METRICS[name];
      const value =
        type === "counter" ? (this.#counters.get(name as CounterName) ?? 0) : gauges[name as GaugeName];
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name} ${value}`);
    }
    return `${lines.join("\n")}\n`;
  }
}
