/**
 * A run: what works in a turn, be it a child process or our own loop. Turns start it, stop it, answer it and wait for its
 * end; what it is inside is its own matter.
 *
 * Invariant: `ended` resolves exactly once and never rejects, and by then everything that the run said is written and
 * nothing of it is left running.
 */

import type { AgentId, BlockId, ConversationId, Json, Problem, Reason } from "@blockyard/kernel";
import type { Allowance } from "../access/allowance.ts";
import type { Attachment } from "./attachments.ts";

export interface TurnRequest {
  readonly conversation: ConversationId;
  readonly provider: string;
  readonly prompt: string;
  readonly model?: string;
  /** Go on from this block instead of the head. */
  readonly parent?: BlockId;
  /** Go on with the provider's own session, where the conversation has one (the default), or start afresh. */
  readonly fresh?: boolean;
  readonly allow?: readonly Allowance[];
  readonly attachments?: readonly Attachment[];
  /** The folder to work in, a whole path. */
  readonly cwd?: string;
}

/** A turn that is about to run: its name, who asked for it, and the block with the prompt. */
export interface TurnStart {
  readonly id: string;
  readonly request: TurnRequest;
  readonly by: AgentId;
  readonly prompt: BlockId;
}

export interface RunEnd {
  /** Told where the turn was not ended by the run itself. */
  readonly error: string;
  /** Why it was stopped, where it was. */
  readonly reason?: Reason | undefined;
  /** Nothing is shown of `error` where the run has ended its turn already. */
  readonly isExpected: boolean;
}

export interface Answer {
  readonly ask: string;
  readonly allow: boolean;
  /** What was shown when it was asked. */
  readonly input: Json;
  readonly message: string;
}

export interface Run {
  readonly ended: Promise<RunEnd>;
  /** Asks it to end, then makes it. */
  stop(reason: Reason): void;
  /** At once: the server goes. */
  kill(reason: Reason): void;
  /** The call on which it waits for this answer. */
  asks(ask: string): BlockId | undefined;
  answer(answer: Answer): void;
}

/** One provider of turns. */
export interface Runner {
  readonly provider: string;
  /** Why it cannot run, before anything is written; it names what to do about it. */
  check(request: TurnRequest): Problem | undefined;
  /** The only folder in which it can work, where it cannot work everywhere. */
  readonly folder?: string;
  begin(start: TurnStart): Promise<Run | Problem>;
}
