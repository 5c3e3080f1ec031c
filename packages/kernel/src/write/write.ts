/** A write in flight: a caller's request, as it waits in a queue. Plain data; the queue processes it. */

import type { AgentId, BlockId } from "../model/ids.ts";
import type { Problem } from "../model/problem.ts";
import type { Draft } from "./draft.ts";

export interface Write<T = unknown> {
  readonly agent: AgentId;
  /** Sent again with the same key, a write is answered again and applied once. Keys are per agent. */
  readonly key?: string;
  /** Makes the conversation if it does not exist. */
  readonly create?: boolean;
  /** Is planned in a deleted conversation too: it restores it. */
  readonly restores?: boolean;
  readonly plan: (draft: Draft) => T | Problem;
  /** Told the answer before anything else is planned. */
  readonly settled?: (answer: T | Problem) => void;
  /** Has no key, and must not be done twice: it is answered when it is known what became of it, or after `holdMs`. */
  readonly patient?: boolean;
  /** What the agent has streamed into these blocks comes first; nothing is written while that cannot be. */
  readonly behind?: readonly BlockId[];
}

/** A piece of an agent's stream. */
export interface Streamed {
  readonly block: BlockId;
  readonly agent: AgentId;
  readonly text: string;
  /** Why it cannot be written: an earlier piece of the stream was not. */
  readonly refused: Problem | undefined;
}

/** A write that waits in a queue, or is under way. */
export interface Queued {
  readonly agent: AgentId;
  readonly key: string | undefined;
  readonly create: boolean;
  readonly restores?: boolean;
  readonly patient: boolean;
  /** It was in a commit of which it is not known whether it took effect. */
  isInDoubt: boolean;
  /** What it is, if it is a piece of a stream: it may go the short way. */
  readonly streamed: Streamed | undefined;
  plan(draft: Draft): unknown;
  settle(answer: unknown): void;
  /** What its plan came to, if the batch that it is in is committed. */
  answer: unknown;
  /** Its key is not among the stored answers. */
  isNew: boolean;
  /** What other nodes have committed was looked for on its behalf. */
  isFresh: boolean;
  /** The texts that its plan has asked for. A plan that is given up spoils those that it changed: it needs them all again. */
  texts: Set<BlockId> | undefined;
}

/** `key` with the agent's name in front. */
export function queuedOf<T>(
  { agent, plan, settled, create = false, restores = false, patient = false }: Write<T>,
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
    settle: (given) => {
      settled?.(given as T | Problem);
      done(given as T | Problem);
    },
    answer: undefined,
    isNew: key === undefined,
    isFresh: false,
    texts: undefined,
    streamed: undefined,
  };
}
