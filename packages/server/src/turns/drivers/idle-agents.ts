/**
 * Agents that wait for their next turn, one per conversation, within bounds: each for a while, and only so many of them.
 */

import type { ConversationId, Env } from "@blockyard/kernel";
import type { Child } from "../../processes/child.ts";
import { bounds } from "./limits.ts";

interface Waiting {
  readonly child: Child;
}

export class IdleAgents<T extends Waiting> {
  readonly #env: Env;
  readonly #idleMs: number;
  /** The one that has waited longest first. */
  readonly #agents = new Map<ConversationId, { readonly agent: T; readonly cancel: () => void }>();
  /** Those that were told to end. */
  readonly #ending = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(env: Env, idleMs: number = bounds.idleMs) {
    this.#env = env;
    this.#idleMs = idleMs;
  }

  get size(): number {
    return this.#agents.size;
  }

  put(conversation: ConversationId, agent: T): void {
    if (this.#isClosed) return this.#end(agent);
    this.#drop(conversation);
    const cancel = this.#env.after(this.#idleMs, () => this.#drop(conversation));
    this.#agents.set(conversation, { agent, cancel });
    void agent.child.ended.then(() => {
      if (this.#agents.get(conversation)?.agent === agent) this.#drop(conversation);
    });
    const [oldest] = this.#agents.keys();
    if (this.#agents.size > bounds.idleAgents && oldest !== undefined) this.#drop(oldest);
  }

  peek(conversation: ConversationId): T | undefined {
    return this.#agents.get(conversation)?.agent;
  }

  /** The agent of a conversation, for its next turn. One that does not fit ends. */
  take(conversation: ConversationId, fits: (agent: T) => boolean): T | undefined {
    const known = this.#agents.get(conversation);
    if (known === undefined) return undefined;
    if (known.agent.child.hasExited || !fits(known.agent)) {
      this.#drop(conversation);
      return undefined;
    }
    known.cancel();
    this.#agents.delete(conversation);
    return known.agent;
  }

  /** Ends one, or all for good; by then none of them is left. */
  async close(conversation?: ConversationId): Promise<void> {
    if (conversation === undefined) this.#isClosed = true;
    for (const each of conversation === undefined ? [...this.#agents.keys()] : [conversation])
      this.#drop(each);
    await Promise.all(this.#ending);
  }

  #drop(conversation: ConversationId): void {
    const known = this.#agents.get(conversation);
    if (known === undefined) return;
    known.cancel();
    this.#agents.delete(conversation);
    this.#end(known.agent);
  }

  /** Nothing of it goes on: it is not asked to finish anything. */
  #end({ child }: T): void {
    child.kill();
    const ended = child.ended.finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }
}
