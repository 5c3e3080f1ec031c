/**
 * What the owner does in a scenario, wherever they do it: over HTTP, on the page, or with `blockyard run`. What is looked at afterwards
 * (turns, blocks, what the model was asked) is the same for all of them; what the owner sees is each one's own.
 */
import type { LabBlock, LabTurn } from "../clis/lab.ts";

export const FROMS = ["http", "page", "run"] as const;
export type From = (typeof FROMS)[number];

/** How a turn is asked for. */
export interface How {
  readonly mode: string;
  readonly model?: string;
}

/** An answer to an ask, as `turn.answer` takes it. */
export interface Given {
  readonly allow: boolean;
  readonly message?: string;
  readonly answer?: {
    readonly suggestion?: string;
    readonly questions?: Readonly<
      Record<string, { readonly chosen: readonly string[]; readonly text?: string }>
    >;
    readonly content?: Readonly<Record<string, string | readonly string[]>>;
  };
}

export interface Begun {
  readonly conversation: string;
  readonly turn: string;
}

export interface Owner {
  /** By scenario, why it cannot be played from here. */
  readonly lacks: Readonly<Record<string, string>>;
  /** The first prompt of a new conversation. */
  begin(prompt: string, how: How): Promise<Begun>;
  /** The next prompt; its turn. */
  start(conversation: string, prompt: string, how: How): Promise<string>;
  /** A first prompt that is refused, with the reason, before anything is written. */
  refused(prompt: string, how: How): Promise<string>;
  answer(ask: LabBlock, given: Given): Promise<void>;
  /** An answer to what was asked before a restart; false where that cannot be given from here. */
  answerLate(ask: LabBlock, given: Given): Promise<boolean>;
  /** A message into the turn that runs. */
  send(conversation: string, prompt: string): Promise<void>;
  stop(conversation: string): Promise<void>;
  setMode(conversation: string, mode: string): Promise<void>;
  /** Writes a line at the end of the plan that waits. */
  editPlan(ask: LabBlock, line: string): Promise<void>;
  stopTask(conversation: string): Promise<void>;
  /** The agent's slash commands. */
  commands(conversation: string): Promise<readonly string[]>;
  /** The server was killed: what is seen of it. Then it is back. */
  serverGone(): Promise<void>;
  serverBack(): Promise<void>;
  /** A turn has ended: throws where that is not seen here. */
  sawEnd(conversation: string, end: LabTurn): Promise<void>;
  /** What is in front of the owner, for a scenario that failed. */
  shown(): Promise<string>;
  close(): Promise<void>;
}
