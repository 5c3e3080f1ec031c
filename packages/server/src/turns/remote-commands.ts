/**
 * Commands that other nodes have written to the record of a turn that runs here (remote-turns.ts writes them): stop it, or an
 * answer to what it asks. Each is carried out once, however often its record is read.
 */

import {
  type AgentId,
  type BlockId,
  type ConversationId,
  isProblem,
  type Kernel,
  type Turn,
} from "@blockyard/kernel";
import type { Run, TurnStart } from "./run.ts";
import type { Given } from "./write-answer.ts";

/** A turn that runs here, with the ids of the commands that it has had. */
export interface Commanded {
  readonly start: TurnStart;
  readonly run: Run;
  readonly taken: Set<string>;
}

interface RemoteCommandsOptions {
  readonly kernel: Kernel;
  readonly liveIn: (conversation: ConversationId) => Commanded | undefined;
  /** A command to stop: the messages that wait here are not sent. */
  readonly hold: (conversation: ConversationId) => void;
  readonly answer: (by: AgentId, block: BlockId, ask: string, given: Given) => void;
}

export class RemoteCommands {
  readonly #options: RemoteCommandsOptions;

  constructor(options: RemoteCommandsOptions) {
    this.#options = options;
  }

  /** A turn's record as another node may have left it. */
  take(conversation: ConversationId, turn: Turn): void {
    const live = this.#options.liveIn(conversation);
    if (live?.start.id !== turn.id) return;
    // This node was taken for dead: what the agent still says belongs to no turn.
    if (turn.status !== "running" && turn.node !== undefined) live.run.kill("interrupted");
    for (const { id, by, answer } of turn.orders ?? []) {
      if (live.taken.has(id)) continue;
      live.taken.add(id);
      if (answer === undefined) {
        this.#options.hold(conversation);
        live.run.stop("cancelled");
      } else {
        const { block, ask, ...given } = answer;
        this.#options.answer(by, block, ask, given);
      }
    }
  }

  /** Commands that came before there was anything to give them to. */
  async catchUp(conversation: ConversationId): Promise<void> {
    const turns = await this.#options.kernel.turns(conversation);
    if (!isProblem(turns)) for (const turn of turns) this.take(conversation, turn);
  }
}
