/**
 * The tools that only read and write blocks, called on a database that this process has opened. They need a fraction of what the
 * whole table does, and no agent, file or rule can come of them; so most commands need no more. A tool that is written to the audit
 * log, or that is not here, is the whole table's.
 */

import { inlineMatcher } from "@blockyard/kernel/search";
import { Cursors, callIn, coreTable, type Kernel } from "@blockyard/kernel/tools";

export class CoreCalls {
  readonly #kernel: Kernel;
  readonly #agent: string;
  readonly #cursors: Cursors;

  constructor(kernel: Kernel, agent: string) {
    this.#kernel = kernel;
    this.#agent = agent;
    this.#cursors = new Cursors(kernel);
  }

  has(tool: string): boolean {
    const found = coreTable.find(tool);
    return found !== undefined && found.sensitive === undefined;
  }

  async call(tool: string, input: unknown): Promise<unknown> {
    const kernel = this.#kernel;
    const matcher = inlineMatcher(() => kernel.env.monotonic()); // nobody else waits for this process
    const caller = { agent: this.#agent, role: "owner" } as const;
    return (
      (await callIn(coreTable, { kernel, caller, matcher, cursors: this.#cursors }, tool, input)) ?? null
    );
  }

  close(): void {
    this.#cursors.close();
  }
}
