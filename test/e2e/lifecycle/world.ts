/**
 * One real server, without its transports, for turns that go wrong: SQLite store, kernel, turns, tools, and the fake agent in
 * place of Claude Code. It listens to every commit, so that what is checked is what everybody was told, not only what
 * stands there in the end.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Block, isEnded, isProblem, Kernel, type Op, type Turn } from "@blockyard/kernel";
import { ProcessTracker } from "../../../packages/server/src/processes/process-tracker.ts";
import { openSqliteStore, type SqliteStore } from "../../../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../../../packages/server/src/system/env.ts";
import { claudeDriver } from "../../../packages/server/src/turns/drivers/claude/driver.ts";
import { Turns } from "../../../packages/server/src/turns/turns.ts";

/** What the fake agent is told to do. */
export interface Plan {
  readonly recording: string;
  /** How many lines of it are printed. */
  readonly lines: number;
  readonly act:
    | "exit0"
    | "exit1"
    | "kill"
    | "freeze"
    | "stay"
    | "closeOutput"
    | "leavePipes"
    | "leaveBehind"
    | "flood"
    | "garbage"
    | "asks"
    | "ask";
  /** Where `ask` writes the answers that it gets. */
  readonly answers?: string;
  /** Where it writes what it was told, in whole. */
  readonly heard?: string;
  /** It does not hear SIGINT and SIGTERM. */
  readonly deaf?: boolean;
}

export const FAKE = fileURLToPath(new URL("../agents/fake-claude.mjs", import.meta.url));

/** Five shell calls one after the other, then a text and the result. */
export const RECORDING = fileURLToPath(
  new URL("../../../packages/providers/fixtures/claude/bash.jsonl", import.meta.url),
);

const LINES = readFileSync(RECORDING, "utf8").trimEnd().split("\n");

/** Where the recording is cut. */
export const CUTS = {
  insideInput: firstLine((line) => line.includes('"partial_json":"noth') || line.includes("ing-here REA")),
  callRunning: lastLine((line) => line.includes("message_stop"), 3),
  beforeResult: LINES.length - 1,
  whole: LINES.length,
};

function firstLine(fits: (line: string) => boolean): number {
  const at = LINES.findIndex(fits);
  if (at < 0) throw new Error("the recording has no such line");
  return at + 1;
}

function lastLine(fits: (line: string) => boolean, count: number): number {
  const found = LINES.flatMap((line, at) => (fits(line) ? [at] : []))[count - 1];
  if (found === undefined) throw new Error("the recording has no such line");
  return found + 1;
}

/** An environment built from nothing, with the Node that runs us. */
export function bareEnv(home: string): Record<string, string> {
  const path = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);
  return { PATH: path, HOME: home, BLOCKYARD_CLAUDE: FAKE };
}

export interface WorldTimes {
  readonly silentMs: number;
  readonly lingerMs: number;
  readonly graceMs: number;
}

export class World {
  readonly home: string;
  readonly store: SqliteStore;
  readonly kernel: Kernel;
  readonly tracker: ProcessTracker;
  readonly turns: Turns;
  readonly ops: Op[] = [];

  static async open(times: WorldTimes): Promise<World> {
    const home = mkdtempSync(join(tmpdir(), "blockyard-life-"));
    return new World(home, await openSqliteStore(join(home, "blockyard.db")), times);
  }

  private constructor(home: string, store: SqliteStore, times: WorldTimes) {
    this.home = home;
    this.store = store;
    this.kernel = new Kernel(nodeEnv, store);
    this.tracker = new ProcessTracker(home);
    const options = { kernel: this.kernel, root: home, env: bareEnv(home), tracker: this.tracker };
    this.turns = new Turns({
      kernel: this.kernel,
      drivers: [claudeDriver({ ...options, ...times, idleMs: 0 })],
    });
    this.kernel.listen(({ ops }) => this.ops.push(...ops));
  }

  async begin(plan: Plan): Promise<string> {
    const conversation = await this.kernel.createConversation("ann", "life");
    if (isProblem(conversation)) throw new Error(conversation.message);
    const started = await this.turns.start("ann", {
      conversation,
      provider: "claude",
      prompt: JSON.stringify(plan),
    });
    if (isProblem(started)) throw new Error(started.message);
    return conversation;
  }

  /** Resolves after the turn's record says that it is over and nothing runs any more. */
  async over(conversation: string): Promise<void> {
    await this.until(async () => {
      const record = await this.kernel.conversation(conversation);
      return !isProblem(record) && record.running.length === 0 && this.turns.running === 0;
    });
  }

  /** Looks again after every commit, and now and then, for what no commit tells. */
  async until(fits: () => Promise<boolean>): Promise<void> {
    while (!(await fits())) {
      await new Promise<void>((resolve) => {
        const stop = this.kernel.listen(() => done());
        const timer = setTimeout(() => done(), 20);
        const done = () => {
          clearTimeout(timer);
          stop();
          resolve();
        };
      });
    }
  }

  async blocks(conversation: string): Promise<readonly Block[]> {
    const blocks = await this.kernel.blocks({ conversation, order: "first", limit: 100_000 });
    if (isProblem(blocks)) throw new Error(blocks.message);
    return blocks;
  }

  async close(): Promise<void> {
    await this.turns.close();
    await this.tracker.close();
    await this.kernel.close();
    await this.store.close();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** What must be true after every turn, however it went. Empty if it is. */
  async complaints(conversation: string): Promise<string[]> {
    const turns = await this.kernel.turns(conversation);
    if (isProblem(turns)) return [turns.message];
    return [
      ...(await this.#openBlocks(conversation)),
      ...this.#endsOfBlocks(conversation),
      ...this.#endsOfTurns(conversation, turns),
      ...(await this.#runnable(conversation)),
      ...(await this.#processes()),
    ];
  }

  async #openBlocks(conversation: string): Promise<string[]> {
    return (await this.blocks(conversation))
      .filter(({ status }) => !isEnded(status))
      .map(({ id, kind, status }) => `${kind} ${id} is still ${status}`);
  }

  /** Every block that is not made ended is ended exactly once. */
  #endsOfBlocks(conversation: string): string[] {
    const ends = new Map<string, number>();
    for (const { block, body, conversation: where } of this.ops) {
      if (where !== conversation || block === null) continue;
      const isEnd = (body.type === "status" || body.type === "create") && isEnded(body.status);
      ends.set(block, (ends.get(block) ?? 0) + (isEnd ? 1 : 0));
    }
    return [...ends].filter(([, count]) => count !== 1).map(([id, count]) => `${id} ended ${count} times`);
  }

  #endsOfTurns(conversation: string, turns: readonly Turn[]): string[] {
    const complaints = turns.filter(({ status }) => status === "running").map(({ id }) => `${id} runs on`);
    for (const { id } of turns) {
      const ends = this.ops.filter(
        ({ body, conversation: where }) =>
          where === conversation &&
          body.type === "turn" &&
          body.turn.id === id &&
          body.turn.status !== "running",
      );
      if (ends.length !== 1) complaints.push(`${id} ended ${ends.length} times`);
    }
    return complaints;
  }

  /** A call whose input did not arrive whole has no input that somebody could run. */
  async #runnable(conversation: string): Promise<string[]> {
    const complaints: string[] = [];
    for (const { id, kind, metadata } of await this.blocks(conversation)) {
      if (kind !== "tool_call") continue;
      const whole = await this.kernel.whole(id);
      const text = isProblem(whole) ? "" : whole.text;
      if (metadata["input"] !== undefined && !isJson(text))
        complaints.push(`${id} can be run from half an input`);
    }
    return complaints;
  }

  async #processes(): Promise<string[]> {
    const living = await this.tracker.living();
    // Every process is a zombie between its death and the moment we hear of it, also the reaper of an earlier world.
    const since = Date.now();
    await this.until(async () => zombies().length === 0 || Date.now() - since > ZOMBIE_MS);
    return [
      ...living.map((pid) => `process ${pid} is still alive: ${commandOf(pid)}`),
      ...zombies().map((pid) => `process ${pid} is a zombie`),
    ];
  }
}

const ZOMBIE_MS = 10_000;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "gone";
  }
}

/** Children of this process that ended and were not waited for. */
function zombies(): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const [state, parent, threads] = [fields[0], fields[1], fields[17]];
        // With more than one thread it is still ending: nobody could have waited for it yet.
        return state === "Z" && Number(parent) === process.pid && Number(threads) <= 1;
      } catch {
        return false;
      }
    });
}
