/** The owner as a program that calls tools. It sees nothing but what the scenario looks at anyway. */
import type { Lab, LabBlock } from "../clis/lab.ts";
import type { MatrixAgent } from "./agents.ts";
import type { Begun, Given, How, Owner } from "./owner.ts";

export class HttpOwner implements Owner {
  readonly lacks = {};
  readonly #lab: Lab;
  readonly #agent: MatrixAgent;

  constructor(lab: Lab, agent: MatrixAgent) {
    this.#lab = lab;
    this.#agent = agent;
  }

  async begin(prompt: string, how: How): Promise<Begun> {
    const conversation = await this.#lab.conversation();
    return { conversation, turn: await this.start(conversation, prompt, how) };
  }

  async start(conversation: string, prompt: string, how: How): Promise<string> {
    const { cli } = this.#agent;
    const asked = { conversation, provider: cli, prompt, ...how };
    const { turn } = (await this.#lab.server.do("turn.start", asked)) as { turn: string };
    return turn;
  }

  async refused(prompt: string, how: How): Promise<string> {
    const conversation = await this.#lab.conversation();
    const asked = { conversation, provider: this.#agent.cli, prompt, ...how };
    const { status, body } = await this.#lab.server.call("turn.start", asked);
    if (status < 400) throw new Error(`it was taken: ${JSON.stringify(body)}`);
    return String(body.message);
  }

  async answer({ block_id, metadata }: LabBlock, given: Given): Promise<void> {
    await this.#lab.server.do("turn.answer", { block_id, ask_id: metadata.ask.id, ...given });
  }

  async answerLate(ask: LabBlock, given: Given): Promise<boolean> {
    await this.answer(ask, given);
    return true;
  }

  async send(conversation: string, prompt: string): Promise<void> {
    const sent = { conversation, provider: this.#agent.cli, prompt, when: "next" };
    await this.#lab.server.do("turn.start", sent);
  }

  async stop(conversation: string): Promise<void> {
    await this.#lab.server.do("turn.stop", { conversation });
  }

  async setMode(conversation: string, mode: string): Promise<void> {
    await this.#lab.server.do("agent.change", { conversation, mode });
  }

  async editPlan({ metadata }: LabBlock, line: string): Promise<void> {
    const block_id: string = metadata.ask.plan;
    const read = await this.#lab.server.do("block.read", { block_id, line_numbers: false });
    const lines = (read.content as string).trimEnd().split("\n");
    const at = { start_line: lines.length - 1, end_line: lines.length };
    const operations = [{ op: "replace", ...at, content: `${lines.at(-1)}\n${line}` }];
    await this.#lab.server.do("block.edit", { block_id, operations });
  }

  async stopTask(conversation: string): Promise<void> {
    const task = await this.#lab.wait("its task", async () => {
      const { status, body } = await this.#lab.server.call("agent.offers", { conversation });
      return status === 200 ? (body.tasks as { id: string }[] | undefined)?.[0] : undefined;
    });
    await this.#lab.server.do("agent.change", { conversation, stop_task: task.id });
  }

  async commands(conversation: string): Promise<readonly string[]> {
    const { commands } = await this.#lab.server.do("agent.offers", { conversation });
    return (commands as { name: string }[]).map(({ name }) => name);
  }

  async serverGone(): Promise<void> {}
  async serverBack(): Promise<void> {}
  async sawEnd(): Promise<void> {}

  async shown(): Promise<string> {
    return "";
  }

  async close(): Promise<void> {}
}
