/**
 * One agent of the matrix at work: its lab, its owner, and the words that all scenarios share. What the owner does goes through the
 * owner; what came of it is looked at over HTTP, and seen where the owner is.
 */
import { findMarked } from "../../../packages/server/src/processes/child-mark.ts";
import { homeMark } from "../../../packages/server/src/processes/process-tracker.ts";
import type { Script } from "../../model/script.ts";
import type { Lab, LabBlock, LabTurn } from "../clis/lab.ts";
import type { MatrixAgent } from "./agents.ts";
import type { Begun, Given, How, Owner } from "./owner.ts";

export class TestHarness {
  readonly lab: Lab;
  readonly agent: MatrixAgent;

  readonly owner: Owner;

  constructor(lab: Lab, agent: MatrixAgent, owner: Owner) {
    this.lab = lab;
    this.agent = agent;
    this.owner = owner;
  }

  /** Begins a conversation, in the mode that asks, unless another one is named. */
  begin(prompt: string, script: Script, how: Partial<How> = {}): Promise<Begun> {
    this.lab.model.play(script);
    return this.owner.begin(prompt, { mode: this.agent.modes.ask, ...how });
  }

  start(conversation: string, prompt: string, script: Script, how: Partial<How> = {}): Promise<string> {
    this.lab.model.play(script);
    return this.owner.start(conversation, prompt, { mode: this.agent.modes.ask, ...how });
  }

  /** The end of a turn; with `allows`, everything that it asks for is allowed. */
  async over(conversation: string, turn: string, { allows = false } = {}): Promise<LabTurn> {
    const end = await this.lab.wait(`turn ${turn} to end`, async () => {
      if (allows) await this.allow(conversation);
      const found = (await this.lab.turns(conversation)).find((each) => each.turn === turn);
      return found?.status === "running" ? undefined : found;
    });
    await this.owner.sawEnd(conversation, end);
    return end;
  }

  /** Allows what is asked for now. */
  async allow(conversation: string): Promise<void> {
    for (const block of await this.blocks(conversation))
      if (block.metadata.ask?.state === "asked") await this.answer(block, { allow: true });
  }

  /** The server is killed, and started again when all of its agents have ended. */
  async killServer(): Promise<void> {
    await this.lab.server.kill();
    await this.owner.serverGone();
    await this.lab.wait("its agents to end", async () =>
      (await this.living()).length === 0 ? true : undefined,
    );
    await this.lab.startAgain();
    await this.owner.serverBack();
  }

  blocks(conversation: string): Promise<readonly LabBlock[]> {
    return this.lab.blocks(conversation);
  }

  find(conversation: string, what: string, isIt: (block: LabBlock) => boolean): Promise<LabBlock> {
    return this.lab.wait(what, async () => {
      const last = (await this.lab.turns(conversation)).at(-1);
      const found = (await this.blocks(conversation)).find(isIt);
      if (found === undefined && last !== undefined && last.status !== "running")
        throw new Error(`waited for ${what}, and the turn ended with ${JSON.stringify(last)}`);
      return found;
    });
  }

  asking(conversation: string): Promise<LabBlock> {
    return this.find(conversation, "it to ask", ({ metadata }) => metadata.ask?.state === "asked");
  }

  async asks(conversation: string): Promise<readonly LabBlock["metadata"][]> {
    return (await this.blocks(conversation)).flatMap(({ metadata }) => metadata.ask ?? []);
  }

  /** Answers, and waits until the agent has it. */
  async answer(ask: LabBlock, given: Given): Promise<void> {
    await this.owner.answer(ask, given);
    await this.lab.wait("the ask to be answered", async () => {
      const { metadata } = await this.lab.server.do("block.read", { block_id: ask.block_id });
      return metadata.ask?.id === ask.metadata.ask.id && metadata.ask.state === "asked" ? undefined : true;
    });
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
