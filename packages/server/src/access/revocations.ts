/**
 * Revocations by other nodes. Each node keeps its own sessions; a revocation is in the audit log, which the nodes
 * share, so it applies on every node as soon as that node reads it. While the database does not answer, the last read
 * counts.
 */

import type { AuditLog } from "@blockyard/kernel";
import { REVOCATION_ENTRIES, REVOCATION_LOOK_MS, SESSION_MS } from "./limits.ts";

export class Revocations {
  readonly #entries: AuditLog;
  readonly #ids = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(entries: AuditLog) {
    this.#entries = entries;
  }

  /** From now on, until it is closed. */
  async start(): Promise<void> {
    await this.look();
    this.#timer = setInterval(() => void this.look().catch(() => undefined), REVOCATION_LOOK_MS).unref();
  }

  has(session: string): boolean {
    return this.#ids.has(session);
  }

  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.#read();
    } finally {
      this.#isLooking = false;
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Newest first, up to what is known: numbers of entries that commit at the same time may come in another order. */
  async #read(): Promise<void> {
    const since = Date.now() - SESSION_MS;
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const query = {
        action: "session.revoke",
        since,
        before,
        order: "last",
        limit: REVOCATION_ENTRIES,
      } as const;
      const entries = await this.#entries.read(query);
      const fresh = entries.filter(({ details }) => !this.#ids.has(String(details["id"])));
      for (const { details } of fresh) this.#ids.add(String(details["id"]));
      if (entries.length < REVOCATION_ENTRIES || fresh.length === 0) return;
      before = (entries.at(-1) as { id: number }).id;
    }
  }
}
