/**
 * Agents that wait for their next turn, within bounds: each for a while, and only so many of them. A conversation has one, and beside it
 * those that still run something in the background, which wait longer.
 */

import type { ConversationId, Env } from "@blockyard/kernel";
import type { Child } from "../../processes/child.ts";
import { bounds } from "./limits.ts";

interface Waiting {
  readonly child: Child;
  /** It runs something in the background. */
  readonly isBusy?: boolean;
  /** Its background work is over for the conversation too. */
  readonly left?: Promise<unknown> | undefined;
}

interface Place<T> {
  readonly conversation: ConversationId;
  readonly agent: T;
  /** When it began to wait. */
  readonly sinceMs: number;
  readonly cancel: () => void;
}

export class IdleAgents<T extends Waiting> {
  readonly #env: Env;
  readonly #idleMs: number;
  /** Longest waiting first. */
  #places: readonly Place<T>[] = [];
  /** Those asked to end. */
  readonly #ending = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(env: Env, idleMs: number = bounds.idleMs) {
    this.#env = env;
    this.#idleMs = idleMs;
  }

  get size(): number {
    return this.#places.length;
  }

  /** A waiting one restarts its wait: it has begun something by itself. Not one that was taken by then. */
  renew(agent: T): void {
    const known = this.#places.find((place) => place.agent === agent);
    if (known) this.put(known.conversation, agent);
  }

  /** Its tasks have changed: it waits for the new ones, but no longer than a running one counted from its first wait. */
  changed(agent: T): void {
    const known = this.#places.find((place) => place.agent === agent);
    if (known) this.#put(known.conversation, agent, known.sinceMs);
  }

  /** It waits from now on; one that already waits restarts. */
  put(conversation: ConversationId, agent: T): void {
    this.#put(conversation, agent, this.#env.monotonic());
  }

  #put(conversation: ConversationId, agent: T, sinceMs: number): void {
    if (this.#isClosed) return this.#end(agent);
    const isNew = !this.#leave(agent);
    for (const other of this.of(conversation)) if (!other.isBusy) this.#drop(other);
    const mostMs = Math.max(bounds.busyMs - (this.#env.monotonic() - sinceMs), 0);
    const waitMs = agent.isBusy ? mostMs : Math.min(this.#idleMs, mostMs);
    const cancel = this.#env.after(waitMs, () => this.#drop(agent));
    this.#places = [...this.#places, { conversation, agent, sinceMs, cancel }].sort(
      (a, b) => a.sinceMs - b.sinceMs,
    );
    if (isNew) void agent.child.ended.then(() => this.#drop(agent));
    const like = this.#places.filter((place) => place.agent.isBusy === agent.isBusy);
    const most = agent.isBusy ? bounds.busyAgents : bounds.idleAgents;
    if (like.length > most && like[0]) this.#drop(like[0].agent);
  }

  /** A conversation's agents, longest waiting first. */
  of(conversation: ConversationId): readonly T[] {
    return this.#places.flatMap((place) => (place.conversation === conversation ? [place.agent] : []));
  }

  /** A conversation's agent, for its next turn. One that does not fit ends, unless it has tasks. */
  take(conversation: ConversationId, fits: (agent: T) => boolean): T | undefined {
    const all = this.of(conversation);
    const found = all.findLast((agent) => !agent.child.hasExited && fits(agent));
    for (const agent of all)
      if (agent !== found && (agent.child.hasExited || !agent.isBusy)) this.#drop(agent);
    if (found !== undefined) this.#leave(found);
    return found;
  }

  /** Ends those of one conversation, or all for good; none is left afterwards. */
  async close(conversation?: ConversationId): Promise<void> {
    if (conversation === undefined) this.#isClosed = true;
    for (const place of this.#places)
      if (conversation === undefined || place.conversation === conversation) this.#drop(place.agent);
    await Promise.all(this.#ending);
  }

  #drop(agent: T): void {
    if (this.#leave(agent)) this.#end(agent);
  }

  /** Stops its wait; returns whether it waited. */
  #leave(agent: T): boolean {
    const known = this.#places.find((place) => place.agent === agent);
    known?.cancel();
    this.#places = this.#places.filter((place) => place !== known);
    return known !== undefined;
  }

  /** Nothing of it continues: it is not asked to finish anything. */
  #end(agent: T): void {
    agent.child.kill();
    const ended = agent.child.ended.then(() => agent.left).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}
