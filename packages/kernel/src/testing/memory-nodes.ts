/**
 * The register of nodes for a MemoryStore that several kernels share: for simulations and tests, and the reference for
 * other stores. Its clock is the one that it is given, as a database's is its own.
 */

import type { NodeList, NodeRegister } from "../ports/store.ts";

export class MemoryNodes implements NodeRegister {
  readonly #now: () => number;
  readonly #leases = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  async beat(node: string, leaseMs: number): Promise<NodeList> {
    const now = this.#now();
    this.#leases.set(node, now + leaseMs);
    const all = [...this.#leases];
    return {
      alive: all.filter(([, until]) => until > now).map(([id]) => id),
      dead: all.filter(([, until]) => until <= now).map(([id]) => id),
    };
  }

  async remove(node: string): Promise<void> {
    this.#leases.delete(node);
  }
}
