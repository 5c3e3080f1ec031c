/**
 * The owner in a terminal: every prompt is a `blockyard run`, what it asks is answered by typing, and Ctrl-C stops it. In a second
 * terminal, `blockyard attach` changes it meanwhile, and answers what was asked before a restart.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serverFlags } from "../../../scripts/setup.mjs";
import type { Lab, LabBlock, LabTurn } from "../clis/lab.ts";
import { BARE_PATH, CACHED } from "../server.ts";
import type { MatrixAgent } from "./agents.ts";
import type { Begun, Given, How, Owner } from "./owner.ts";
import { Terminal } from "./terminal.ts";

const MAIN = fileURLToPath(new URL("../../../packages/server/src/main.ts", import.meta.url));
const PERMISSION = /Allow\? \[[^\]]*\] $/;
const CTRL_C = "\u0003";

export class RunOwner implements Owner {
  readonly lacks = {};
  readonly #lab: Lab;
  readonly #agent: MatrixAgent;
  #terminal: Terminal | undefined;
  /** The server went away while it was followed: its end was seen as that. */
  #isCut = false;

  constructor(lab: Lab, agent: MatrixAgent) {
    this.#lab = lab;
    this.#agent = agent;
  }

  async begin(prompt: string, how: How): Promise<Begun> {
    const terminal = await this.#run(prompt, how);
    const [, conversation = ""] = await terminal.shows(/\(conversation (\S+)\)/);
    return { conversation, turn: await this.#lab.newTurn(conversation, []) };
  }

  async start(conversation: string, prompt: string, how: How): Promise<string> {
    const before = await this.#lab.turns(conversation);
    await this.#run(prompt, how, "-c", conversation);
    return this.#lab.newTurn(conversation, before);
  }

  async refused(prompt: string, how: How): Promise<string> {
    const terminal = await this.#run(prompt, how);
    const code = await terminal.ended();
    this.#terminal = undefined;
    if (code !== 1) throw new Error(`it ended with ${code}: ${terminal.tail}`);
    return terminal.text;
  }

  async answer({ metadata }: LabBlock, given: Given): Promise<void> {
    const terminal = this.#shown;
    const { ask } = metadata;
    const { questions, content, suggestion } = given.answer ?? {};
    if (questions !== undefined) {
      for (const question of ask.questions)
        await this.#say(question, questions[question.id] ?? { chosen: [] });
      return;
    }
    if (content !== undefined) {
      await terminal.shows(/Answer\? \[[^\]]*\] $/);
      terminal.type("\r");
      for (const value of Object.values(content)) await this.#fill(value);
      return;
    }
    const { input } = await terminal.shows(PERMISSION);
    const taken = ask.suggestions?.find(({ id }: { id: string }) => id === suggestion);
    const line = taken ? numberOf(taken.label, input) : given.allow ? "y" : (given.message ?? "n");
    terminal.type(`${line}\r`);
  }

  async answerLate(ask: LabBlock, given: Given): Promise<boolean> {
    this.#terminal = this.#command("attach", ask.block_id.split("/", 1)[0] ?? "");
    await this.answer(ask, given);
    return true;
  }

  async send(conversation: string, prompt: string): Promise<void> {
    await this.#beside("run", this.#agent.cli, prompt, "--now", "-c", conversation);
  }

  async stop(): Promise<void> {
    this.#shown.type(CTRL_C);
    await this.#shown.shows(/Stopping the turn/);
  }

  async setMode(conversation: string, mode: string): Promise<void> {
    await this.#beside("attach", conversation, "--mode", mode);
  }

  async editPlan(_ask: LabBlock, line: string): Promise<void> {
    await this.#shown.shows(PERMISSION);
    writeFileSync(this.#addition, `${line}\n`);
    this.#shown.type("e\r");
    await this.#shown.shows(new RegExp(line));
  }

  async stopTask(conversation: string): Promise<void> {
    const listed = await this.#beside("attach", conversation, "--tasks");
    const [, id = ""] = /^(\S+) {2}\S/m.exec(listed) ?? [];
    await this.#beside("attach", conversation, "--stop-task", id);
  }

  /** In a terminal one has to know them. */
  async commands(): Promise<readonly string[]> {
    return [this.#agent.slash?.prompt.slice(1) ?? ""];
  }

  async serverGone(): Promise<void> {
    const terminal = this.#terminal;
    this.#terminal = undefined;
    if (terminal === undefined) return;
    const code = await terminal.ended();
    if (code !== 1 || !/^blockyard: .*does not answer[\s\S]*blockyard attach /m.test(terminal.text))
      throw new Error(`without its server it ended with ${code}: ${terminal.tail}`);
    this.#isCut = true;
  }

  async serverBack(): Promise<void> {}

  async sawEnd(conversation: string, { status, reason, error }: LabTurn): Promise<void> {
    const terminal = this.#terminal;
    this.#terminal = undefined;
    const isCut = this.#isCut;
    this.#isCut = false;
    if (isCut) return;
    if (terminal === undefined) throw new Error("nothing was run");
    const code = await terminal.ended();
    const asks = (await this.#lab.blocks(conversation)).flatMap(({ metadata }) => metadata.ask ?? []);
    const isDenied = terminal.text.includes("denied: the agent's work may be incomplete");
    const expected = reason === "cancelled" ? 130 : status === "done" && !isDenied ? 0 : 1;
    if (code !== expected)
      throw new Error(`the command ended with ${code}, not ${expected}: ${terminal.tail}`);
    if (asks.some(({ state }) => state === "denied") && !isDenied)
      throw new Error(`it does not say that something was denied: ${terminal.tail}`);
    if (!new RegExp(`blockyard show (--home \\S+ )?${conversation}`).test(terminal.text))
      throw new Error(`the end is not shown: ${terminal.tail}`);
    if (
      status === "error" &&
      reason !== "cancelled" &&
      !terminal.text.includes((error ?? "").split("\n", 1)[0] ?? "")
    )
      throw new Error(`why it ended is not shown: ${terminal.tail}`);
  }

  async shown(): Promise<string> {
    return this.#terminal?.tail ?? "";
  }

  async close(): Promise<void> {
    await this.#terminal?.close();
  }

  /** What the owner writes into a file in their editor. */
  get #addition(): string {
    return join(this.#lab.folder, "addition.txt");
  }

  /** An editor that nobody has to type into: it puts that behind the last line. */
  get #editor(): string {
    return `sed -i -e '$r ${this.#addition}'`;
  }

  get #shown(): Terminal {
    if (this.#terminal === undefined) throw new Error("nothing runs in the terminal");
    return this.#terminal;
  }

  async #say(
    question: { readonly options: readonly { readonly label: string }[] },
    { chosen, text }: { readonly chosen: readonly string[]; readonly text?: string },
  ): Promise<void> {
    await this.#shown.shows(/\n> $/);
    const numbers = chosen.map((label) => 1 + question.options.findIndex((option) => option.label === label));
    this.#shown.type(`${text ?? numbers.join(",")}\r`);
  }

  /** By the numbers that are shown for it. */
  async #fill(value: string | readonly string[]): Promise<void> {
    const { input = "" } = await this.#shown.shows(/\n> $/);
    const numbers = [value].flat().map((each) => numberOf(each, input));
    this.#shown.type(`${numbers.join(",")}\r`);
  }

  async #run(prompt: string, { mode, model }: How, ...more: readonly string[]): Promise<Terminal> {
    if (this.#terminal !== undefined) throw new Error(`it still runs: ${this.#terminal.tail}`);
    const chosen = model === undefined ? [] : ["--model", model];
    this.#terminal = this.#command("run", this.#agent.cli, prompt, "--mode", mode, ...chosen, ...more);
    return this.#terminal;
  }

  /** In a second terminal, until it has done its work: what it shows. */
  async #beside(...args: readonly string[]): Promise<string> {
    const terminal = this.#command(...args);
    const code = await terminal.ended();
    if (code !== 0) throw new Error(`the second command ended with ${code}: ${terminal.tail}`);
    return terminal.text;
  }

  #command(...args: readonly string[]): Terminal {
    const { work, home, env } = this.#lab;
    return new Terminal([process.execPath, ...serverFlags, MAIN, ...args, "--home", home], {
      cwd: work,
      env: { PATH: BARE_PATH, HOME: home, ...CACHED, ...env, EDITOR: this.#editor },
    });
  }
}

/** The number in front of an answer, as it is shown. */
function numberOf(label: string, shown: string): string {
  const row = shown
    .split("\n")
    .find((line) => /^ +\d+ {2}/.test(line) && line.replace(/^ +\d+ {2}/, "").startsWith(label));
  if (row === undefined) throw new Error(`${label} is not shown: ${shown.slice(-600)}`);
  return row.trim().split(" ", 1)[0] as string;
}
