/**
 * Deleted conversations. Deleting marks the record with an op, so that every node that plans a write sees it; from then on the
 * conversation is hidden. Within its undo time it can be restored unchanged. After that it is removed from the store for good,
 * and its id is never used again.
 *
 * Invariant: every marked record has an entry in the store's `DeletionLog`. That log is short, and reading it finds everything that
 * is hidden or due for removal, even if a process was killed halfway.
 */

import type { Conversation, Deleted } from "../model/conversation.ts";
import type { AgentId, ConversationId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { everySession } from "../model/past-sessions.ts";
import { isProblem, type Problem, problem } from "../model/problem.ts";
import type { Env } from "../ports/env.ts";
import type { Store } from "../ports/store.ts";
import type { Write } from "./write.ts";

interface Host {
  readonly env: Env;
  readonly store: Store;
  write<T>(conversation: ConversationId, write: Write<T>): Promise<T | Problem>;
  /** The kernel's state of a conversation may be outdated: another node has written. */
  wake(conversation: ConversationId): Promise<void>;
  emitRecord(record: Conversation): void;
  /** Drops all state of a removed conversation. */
  forget(conversation: ConversationId): void;
}

export class Deletions {
  readonly #host: Host;
  readonly #hidden = new Map<ConversationId, Deleted>();
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #cancelSweep: (() => void) | undefined;
  #sweeping: Promise<readonly ConversationId[]> | undefined;
  #isClosed = false;
  /** Called for each conversation that was removed. */
  onRemoved: ((conversation: ConversationId, deleted: Deleted) => void) | undefined;
  onFault: (error: unknown) => void = () => undefined;

  constructor(host: Host) {
    this.#host = host;
  }

  /** For queries over several conversations: those that must not be found. */
  get except(): { readonly except?: readonly ConversationId[] } {
    return this.#hidden.size === 0 ? {} : { except: [...this.#hidden.keys()] };
  }

  /** Why a conversation cannot be read, if it is hidden. */
  refusal(id: ConversationId): Problem | undefined {
    const deleted = this.#hidden.get(id);
    return deleted && deletedProblem(id, deleted);
  }

  /** Resolves when conversations hidden by an earlier run are known. */
  async ready(): Promise<void> {
    if (this.#isLoaded) return;
    this.#loading ??= this.look().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  get isReady(): boolean {
    return this.#isLoaded;
  }

  /** A record was committed, here or on another node. */
  onCommit({ id, deleted }: Conversation): void {
    if (deleted) {
      this.#hidden.set(id, deleted);
      this.#sweepAt(deleted.until);
    } else if (this.#hidden.size > 0) this.#hidden.delete(id);
  }

  /** Reads what other nodes, or an earlier run, deleted and restored. */
  async look(): Promise<void> {
    const { store } = this.#host;
    const waiting = new Set((await store.deletions.waiting()).map(({ conversation }) => conversation));
    for (const id of waiting) if (!this.#hidden.has(id)) await this.#compare(id);
    for (const id of [...this.#hidden.keys()]) if (!waiting.has(id)) await this.#compare(id);
    this.#isLoaded = true;
  }

  async #compare(id: ConversationId): Promise<void> {
    const record = await this.#host.store.conversation(id);
    if (record === undefined) return this.#forget(id);
    const wasHidden = this.#hidden.has(id);
    this.onCommit(record);
    if (!this.#isLoaded || wasHidden === (record.deleted !== undefined)) return;
    await this.#host.wake(id);
    this.#host.emitRecord(record);
  }

  async delete(id: ConversationId, by: AgentId, key?: string): Promise<Deleted | Problem> {
    const { store, env } = this.#host;
    const at = env.now();
    const deleted = { at, by, until: at + limits.deletedUndoMs };
    await store.deletions.note({ conversation: id, at, by });
    const answer = await this.#host.write(id, {
      agent: by,
      ...(key === undefined ? {} : { key }),
      plan: (draft) => {
        const { running } = draft.record;
        if (running.length > 0) return runningProblem(id, running);
        draft.conversation({ deleted });
        return { ...deleted };
      },
    });
    if (isProblem(answer) && !this.#hidden.has(id)) await store.deletions.withdraw(id);
    return answer;
  }

  async restore(id: ConversationId, by: AgentId): Promise<Conversation | Problem> {
    const answer = await this.#host.write(id, {
      agent: by,
      restores: true,
      plan: (draft) => {
        if (draft.record.deleted === undefined)
          return problem("nothing", `conversation ${id} is not deleted`, { conversation: id });
        draft.conversation({ deleted: null });
        return draft.record;
      },
    });
    if (!isProblem(answer)) await this.#host.store.deletions.withdraw(id);
    return answer;
  }

  /** Removes conversations whose undo time is over. Returns their ids. Call it now and then, on any node. */
  sweep(): Promise<readonly ConversationId[]> {
    this.#sweeping ??= this.#sweepOnce().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweepOnce(): Promise<readonly ConversationId[]> {
    const { store, env } = this.#host;
    const removed: ConversationId[] = [];
    for (const entry of await store.deletions.waiting()) {
      const { conversation: id, at } = entry;
      if (this.#isClosed) return removed;
      const record = await store.conversation(id);
      const deleted = record?.deleted;
      if (record === undefined || deleted === undefined) {
        if (env.now() - at > limits.staleDeletionMs) await store.deletions.withdraw(id);
        continue;
      }
      if (deleted.until > env.now()) {
        this.#sweepAt(deleted.until);
        continue;
      }
      // Before the removal, so that a concurrent import finds either the conversation or this entry.
      for (const [provider, session] of everySession(record))
        await store.deletions.note({
          ...entry,
          conversation: sessionName(provider, session),
          removedAt: env.now(),
        });
      if ((await store.deletions.remove(id, record.seq, env.now())) === "moved") continue;
      this.#forget(id);
      removed.push(id);
      this.onRemoved?.(id, deleted);
    }
    await store.deletions.clear();
    return removed;
  }

  /** Finishes the running sweep; the rest is left to the next start or to another node. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelSweep?.();
    await this.#sweeping?.catch(() => undefined);
  }

  #forget(id: ConversationId): void {
    this.#hidden.delete(id);
    this.#host.forget(id);
  }

  #sweepAt(until: number): void {
    if (this.#cancelSweep || this.#isClosed) return;
    const { env } = this.#host;
    this.#cancelSweep = env.after(Math.max(0, until - env.now()), () => {
      this.#cancelSweep = undefined;
      this.sweep().catch((error) => this.onFault(error));
    });
  }
}

/** When the conversation of a provider's session was deleted, if it was. */
export async function sessionDeletedAt(
  store: Store,
  provider: string,
  session: string,
): Promise<number | undefined> {
  return (await store.deletions.find(sessionName(provider, session)))?.at;
}

/** The log entry that remembers a session of a removed conversation. No conversation id contains a space. */
function sessionName(provider: string, session: string): string {
  return `session ${provider} ${session}`;
}

/** Why a write may not be planned. */
export function refusedWrite(
  isThere: boolean,
  record: Conversation,
  { create, restores }: { readonly create: boolean; readonly restores?: boolean },
): Problem | undefined {
  const { id, seq, deleted } = record;
  if (!isThere && seq === 0 && !create) return problem("not_found", `conversation ${id} does not exist`);
  return deleted && !restores ? deletedProblem(id, deleted) : undefined;
}

/** The problem for a missing conversation that was removed. */
export async function removedProblem(store: Store, id: ConversationId): Promise<Problem | undefined> {
  const deletion = await store.deletions.find(id);
  if (deletion?.removedAt === undefined) return undefined;
  const { at, removedAt } = deletion;
  return problem("gone", `conversation ${id} was deleted`, {
    conversation: id,
    deleted_at: at,
    removed_at: removedAt,
  });
}

export function deletedProblem(id: ConversationId, { at, until }: Deleted): Problem {
  return problem(
    "gone",
    `conversation ${id} was deleted; conversation.restore brings it back for a short time`,
    {
      conversation: id,
      deleted_at: at,
      restorable_until: until,
    },
  );
}

function runningProblem(id: ConversationId, turns: readonly string[]): Problem {
  return problem(
    "busy",
    `a turn is running in conversation ${id}: stop it first (turn.stop), then delete the conversation`,
    { conversation: id, turns },
  );
}
