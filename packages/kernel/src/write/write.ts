/**
 * A write: as a caller requests it, and as it waits in a queue. Plain data; the queue processes it.
 */

import type { AgentId, BlockId } from "../model/ids.ts";
import type { Problem } from "../model/problem.ts";
import type { Draft } from "./draft.ts";

export interface Write<T = unknown> {
  readonly agent: AgentId;
  /** A repeated key returns the first answer instead of writing again. Keys are per agent. */
  readonly key?: string;
  /** Creates the conversation if it does not exist. */
  readonly create?: boolean;
  /** Allowed in a deleted conversation, because it restores it. */
  readonly restores?: boolean;
  readonly plan: (draft: Draft) => T | Problem;
  /** Waits up to `holdMs` for an unknown outcome: it has no key, so it cannot be repeated safely. */
  readonly patient?: boolean;
  /** Written after what the agent has streamed into these blocks; refused while that cannot be written. */
  readonly behind?: readonly BlockId[];
}

/** A piece of an agent's stream. */
export interface Streamed {
  readonly block: BlockId;
  readonly agent: AgentId;
  readonly text: string;
  /** Why it cannot be written: an earlier piece of the stream was refused. */
  readonly refused: Problem | undefined;
}

/** A write that is queued or in flight. */
export interface Queued {
  readonly agent: AgentId;
  readonly key: string | undefined;
  readonly create: boolean;
  readonly restores?: boolean;
  readonly patient: boolean;
  /** It was part of a commit with an unknown outcome. */
  isInDoubt: boolean;
  /** Set for a piece of a stream, which may take the fast path. */
  readonly streamed: Streamed | undefined;
  plan(draft: Draft): unknown;
  settle(answer: unknown): void;
  /** The result of its plan, valid once its batch is committed. */
  answer: unknown;
  /** It has no key, or there is no stored answer for it. */
  isNew: boolean;
  /** Other nodes' commits were already read for it. */
  isFresh: boolean;
  /** The texts that its plan needed so far. Rolling a plan back invalidates the texts it changed, so all are loaded again. */
  texts: Set<BlockId> | undefined;
}

/** `key`: with the agent's name in front. */
export function queuedOf<T>(
  { agent, plan, create = false, restores = false, patient = false }: Write<T>,
  key: string | undefined,
  done: (answer: T | Problem) => void,
): Queued {
  return {
    agent,
    key,
    create,
    restores,
    patient,
    isInDoubt: false,
    plan,
    settle: (given) => done(given as T | Problem),
    answer: undefined,
    isNew: key === undefined,
    isFresh: false,
    texts: undefined,
    streamed: undefined,
  };
}
