/**
 * A run: the work of a turn, by a child process or our own loop. turns.ts starts it, stops it, answers it and waits for its end, and
 * knows nothing else about it.
 *
 * Invariant: `ended` resolves exactly once and never rejects. By then all output of the run is written, and nothing of it
 * is still running.
 */

import type {
  AgentId,
  Ask,
  AskAnswer,
  BlockId,
  ConversationId,
  Json,
  Problem,
  Reason,
} from "@blockyard/kernel";
import type { Allowance } from "../access/allowance.ts";
import type { Attachment, When } from "./contract.ts";
import type { Message } from "./message.ts";
import type { Mode, SandboxChoice } from "./mode.ts";

export interface TurnRequest {
  readonly conversation: ConversationId;
  readonly provider: string;
  readonly prompt: string;
  /** Who wrote the prompt, if not the requester. */
  readonly author?: AgentId;
  readonly model?: string;
  /** How hard the model thinks, where the agent lets that be chosen. */
  readonly effort?: string;
  /** Continue from this block instead of the head; null: from none, as a new beginning. */
  readonly parent?: BlockId | null;
  /** Resume the provider's own session, if the conversation has one (the default), or start a new one. */
  readonly fresh?: boolean;
  readonly allow?: readonly Allowance[];
  readonly attachments?: readonly Attachment[];
  /** While a turn runs: send it into that turn, where the agent takes messages while it works. Default: after it. */
  readonly when?: When;
  /** How freely the agent works; the conversation's mode by default. */
  readonly mode?: Mode;
  /** How the agent confines its commands; as its mode does by default. */
  readonly sandbox?: SandboxChoice;
  /** If it stops at a usage limit, it continues by itself when that resets. */
  readonly goesOn?: boolean;
  /** The folder to work in, a whole path. */
  readonly cwd?: string;
}

/** A turn that is about to run: its name, its requester, and the block with the prompt. */
export interface TurnStart {
  readonly id: string;
  readonly request: TurnRequest;
  readonly by: AgentId;
  readonly prompt: BlockId;
  /** The agent has begun it by itself, after a requested turn: `prompt` is the block before it. */
  readonly isOwn?: true;
}

export interface RunEnd {
  /** Called if the run itself did not end the turn. */
  readonly error: string;
  /** Why it was stopped, if it was. */
  readonly reason?: Reason | undefined;
  /** Nothing is shown of `error` where the run has ended its turn already. */
  readonly isExpected: boolean;
}

/** The owner's answer, as it goes to the agent. */
export interface Answer {
  readonly ask: string;
  readonly allow: boolean;
  /** The ask as it was shown. */
  readonly shown: Ask;
  /** What was shown when it asked, as the agent sent it. */
  readonly input: Json;
  /** The message to the agent if it is denied. */
  readonly message: string;
  /** A rule has answered: the owner has not seen it. */
  readonly byRule?: boolean | undefined;
  /** The owner's text, if any. */
  readonly said?: string | undefined;
  readonly answer?: AskAnswer | undefined;
  /** The plan as its block reads now. */
  readonly plan?: string | undefined;
}

/** Something that an agent runs in the background. */
export interface AgentTask {
  readonly id: string;
  readonly description: string;
}

export interface Run {
  readonly ended: Promise<RunEnd>;
  /** It stopped at the account's usage limit; `resetsAt` if it states when that is over. */
  readonly limit?: { readonly resetsAt?: number | undefined } | undefined;
  /** Its current mode, if it reports one. */
  readonly mode?: Mode | undefined;
  /** Interrupts it: asks it to end, then makes it. */
  stop(reason: Reason): void;
  /** At once: the server is stopping. */
  kill(reason: Reason): void;
  /** The call on which it waits for this answer. */
  asks(ask: string): BlockId | undefined;
  answer(answer: Answer): void;
  /** A message while it works. A problem: it was not sent, and waits for the next turn. */
  send?(message: Message): Promise<Problem | undefined>;
  /** Whether a sent message could be taken back: the agent has not read it, and will not. */
  takeBack?(message: string): Promise<boolean>;
  setMode?(mode: Mode): Promise<Problem | undefined>;
  setModel?(model: string): Promise<Problem | undefined>;
  setEffort?(effort: string): Promise<Problem | undefined>;
  /** Its background tasks. */
  tasks?(): Promise<readonly AgentTask[]>;
  /** Ends what runs in the background, by the name that `tasks` and `offers` give. */
  stopTask?(task: string): Promise<Problem | undefined>;
}
