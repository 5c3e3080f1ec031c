/**
 * Quotas of an agent or viewer: requests, and storage. The owner has none. All tokens of one name share them; the
 * counts are lost when the server stops.
 *
 * Requests use a token bucket, so a burst is fine and a flood is not. Storage is counted at the commit, whichever way
 * it came, and checked before more is accepted.
 */

import { type Env, limits, type Op, type Problem, problem } from "@blockyard/kernel";
import type { Caller } from "./auth.ts";
import { BYTES_PER_REQUEST, MAX_ACCOUNTS, OP_CHARS, TURNED_AWAY_REQUESTS } from "./limits.ts";

interface Account {
  /** The rest of the bucket, and its time. */
  left: number;
  atMs: number;
  /** The counted hour, and what was stored in it. */
  hourMs: number;
  blocks: number;
  chars: number;
}

const HOUR_MS = 3_600_000;

export class Quotas {
  readonly #env: Env;
  readonly #accounts = new Map<string, Account>();

  constructor(env: Env) {
    this.#env = env;
  }

  /** Takes a request from the caller's bucket; returns how long it has to wait, if it may not send it now. */
  take(caller: Caller): number {
    const waitMs = this.#waitMs(caller);
    if (waitMs === 0) this.charge(caller, 0);
    return waitMs;
  }

  /** Takes a received message, even over the limit: returns how long until the next should be read. */
  charge(caller: Caller, bytes: number): number {
    if (caller.role === "owner") return 0;
    this.#account(caller.agent).left -= 1 + bytes / BYTES_PER_REQUEST;
    return this.#waitMs(caller);
  }

  /** How long until an agent or viewer may send its next request. */
  waits(agent: string): number {
    return this.#waitMs({ agent, role: "agent" });
  }

  /** A call was answered that it came too early. */
  turnedAway(caller: Caller): void {
    if (caller.role !== "owner") this.#account(caller.agent).left -= TURNED_AWAY_REQUESTS;
  }

  #waitMs({ agent, role }: Pick<Caller, "agent" | "role">): number {
    if (role === "owner") return 0;
    const account = this.#account(agent);
    const now = this.#env.monotonic();
    const perMs = limits.requestsPerMinute / 60_000;
    account.left = Math.min(limits.requestBurst, account.left + (now - account.atMs) * perMs);
    account.atMs = now;
    return account.left < 0 ? Math.ceil(-account.left / perMs) : 0;
  }

  /** Counts what an agent has stored. */
  stored(ops: readonly Op[]): void {
    for (const { agent, seq, body } of ops) {
      const account = this.#hour(agent);
      account.chars += OP_CHARS;
      // A conversation counts as a block, and a turn or an editor's update by its length, whatever it contains.
      if (seq === 1) account.blocks++;
      if (body.type === "turn") account.chars += JSON.stringify(body.turn).length;
      if (body.type === "splice") account.chars += body.update.length;
      if (body.type === "conversation") account.chars += JSON.stringify(body.patch).length;
      if (body.type === "create") account.blocks++;
      if (body.type === "create" || body.type === "append") account.chars += body.text.length;
      if (body.type === "splice") for (const { ins } of body.splices) account.chars += ins.length;
      if ("metadata" in body && body.metadata) account.chars += JSON.stringify(body.metadata).length;
    }
  }

  /** Counts a file that an agent has opened: the disk writes its block, but the agent requested it. */
  opened(agent: string, chars: number): void {
    const account = this.#hour(agent);
    account.blocks++;
    account.chars += OP_CHARS + chars;
  }

  /** Counts what an agent has stored outside of ops: pictures, and its raw stream. */
  kept({ agent, role }: Caller, bytes: number): void {
    if (role !== "owner") this.#hour(agent).chars += bytes;
  }

  /** Why a caller may store nothing more for now. */
  mayStore({ agent, role }: Caller): Problem | undefined {
    if (role === "owner") return undefined;
    const { blocks, chars, hourMs } = this.#hour(agent);
    const retry_ms = Math.ceil(hourMs + HOUR_MS - this.#env.monotonic());
    if (blocks >= limits.blocksPerHour)
      return problem("busy", `${agent} has created ${limits.blocksPerHour} blocks within an hour; wait`, {
        retry_ms,
        max_blocks: limits.blocksPerHour,
      });
    if (chars >= limits.storedCharsPerHour)
      return problem(
        "busy",
        `${agent} has stored ${limits.storedCharsPerHour} characters within an hour; wait`,
        {
          retry_ms,
          max_chars: limits.storedCharsPerHour,
        },
      );
    return undefined;
  }

  #hour(agent: string): Account {
    const account = this.#account(agent);
    const now = this.#env.monotonic();
    if (now - account.hourMs >= HOUR_MS) Object.assign(account, { hourMs: now, blocks: 0, chars: 0 });
    return account;
  }

  #account(agent: string): Account {
    const known = this.#accounts.get(agent);
    if (known) return known;
    if (this.#accounts.size >= MAX_ACCOUNTS) this.#accounts.clear();
    const now = this.#env.monotonic();
    const made = { left: limits.requestBurst, atMs: now, hourMs: now, blocks: 0, chars: 0 };
    this.#accounts.set(agent, made);
    return made;
  }
}
