/** One agent of the matrix at work: its lab, and the words that all scenarios share. */
import { findMarked } from "../../../packages/server/src/processes/child-mark.ts";
import { homeMark } from "../../../packages/server/src/processes/process-tracker.ts";
import type { Script } from "../../model/script.ts";
import type { Lab, LabBlock, LabTurn } from "../clis/lab.ts";
import type { MatrixAgent } from "./agents.ts";

export class TestHarness {
  readonly lab: Lab;
  readonly agent: MatrixAgent;

  constructor(lab: Lab, agent: MatrixAgent) {
    this.lab = lab;
    this.agent = agent;
  }

  conversation(): Promise<string> {
    return this.lab.conversation();
  }

  /** Starts a turn in the mode that asks, unless another one is named. */
  async start(conversation: string, prompt: string, script: Script, more: object = {}): Promise<string> {
    const { turn } = await this.lab.start(conversation, prompt, script, {
      mode: this.agent.modes.ask,
      ...more,
    });
    return turn;
  }

  /** The end of a turn in which nothing more is answered. */
  over(conversation: string, turn: string): Promise<LabTurn> {
    return this.lab.wait(`turn ${turn} to end`, async () => {
      const { turns } = (await this.lab.server.do("turn.list", { conversation })) as { turns: LabTurn[] };
      const found = turns.find((each) => each.turn === turn);
      return found?.status === "running" ? undefined : found;
    });
  }

  blocks(conversation: string): Promise<readonly LabBlock[]> {
    return this.lab.blocks(conversation);
  }

  find(conversation: string, what: string, isIt: (block: LabBlock) => boolean): Promise<LabBlock> {
    return this.lab.wait(what, async () => (await this.blocks(conversation)).find(isIt));
  }

  asking(conversation: string): Promise<LabBlock> {
    return this.find(conversation, "it to ask", ({ metadata }) => metadata.ask?.state === "asked");
  }

  async asks(conversation: string): Promise<readonly LabBlock["metadata"][]> {
    return (await this.blocks(conversation)).flatMap(({ metadata }) => metadata.ask ?? []);
  }

  answer({ block_id, metadata }: LabBlock, given: object): Promise<unknown> {
    return this.lab.server.do("turn.answer", { block_id, ask_id: metadata.ask.id, ...given });
  }

  /** Everything that the model was ever asked, as text. */
  told(from = 0): string {
    return JSON.stringify(this.lab.model.asked.slice(from).map(({ body }) => body));
  }

  get requests(): number {
    return this.lab.model.asked.length;
  }

  /** Processes that the server has started and that live. */
  living(): Promise<readonly number[]> {
    return findMarked(homeMark(this.lab.home));
  }

  /** Nothing is left open, whatever happened. */
  async isClosed(conversation: string): Promise<void> {
    const open = (await this.blocks(conversation)).filter(
      ({ status, metadata }) => metadata.ask?.state === "asked" || !["done", "error"].includes(status),
    );
    if (open.length > 0) throw new Error(`left open: ${JSON.stringify(open).slice(0, 500)}`);
  }
}

export function check(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(what);
}
