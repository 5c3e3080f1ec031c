/** What `blockyard run` does: starts a turn, shows it as it happens, and asks whoever sits there what the agent asks. */

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { askOf, type BlockSnapshot, isProblem, type Problem, plural, type TurnView } from "@blockyard/kernel";
import type { ToolAnswer, ToolInput } from "../contract/index.ts";
import { visibleName } from "../processes/visible.ts";
import { withTrust } from "./ask-trust.ts";
import { type BlockSource, known } from "./block-source.ts";
import { turnText } from "./block-text.ts";
import { CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { Follower } from "./follow.ts";
import { wholeId } from "./named-id.ts";
import { print, printJson, printNote, styleFor, terminalWidth } from "./terminal.ts";
import { answerAsk, asked } from "./terminal-ask.ts";
import { asTyped } from "./typed-command.ts";

/** How often it is looked whether an agent has read a message. */
const READ_MS = 200;

export interface TurnOptions {
  readonly provider: string;
  readonly prompt: string;
  /** The conversation to go on in; undefined: a new one. */
  readonly given: string | undefined;
  readonly title: string;
  readonly cwd: string | undefined;
  readonly trusts: boolean;
  readonly request: Pick<ToolInput<"turn.start">, "model" | "mode" | "when" | "fresh" | "allow">;
  readonly shown: FollowOptions;
}

/** The exit code. */
export async function runTurn(home: string | undefined, turn: TurnOptions): Promise<number> {
  const { provider, prompt, given, title, cwd, trusts, shown } = turn;
  const client = await openClient({ home, create: true });
  try {
    const named = given && (await wholeId(client, given));
    const conversation = named ?? (await newConversation(client, title));
    const since = await seqOf(client, conversation);
    const request = { conversation, provider, prompt, ...turn.request };
    const start = () => startIn(client, cwd, request);
    const answer = await withTrust(client, trusts, asked, start);
    // One that was made for a turn that could not start is in nobody's list.
    if (isProblem(answer) && given === undefined)
      await client.call("conversation.update", { conversation, archived: true });
    const started = known(answer);
    if (!shown.isJson) printNote(`${provider} is working in ${started.cwd} (conversation ${conversation})\n`);
    const followed = { conversation, since, turn: started.turn, prompt: started.block_id };
    const isSteered = turn.request.when === "next" && started.queued;
    const delivered = isSteered ? await untilRead(client, followed) : "begun";
    if (delivered !== "begun") return delivered;
    return await follow(client, { ...followed, waits: started.queued }, shown);
  } finally {
    await client.close();
  }
}

async function newConversation(client: BlockSource, title: string): Promise<string> {
  const line = title.trim().split("\n", 1)[0] ?? "";
  const made = known(await client.call("conversation.create", { title: line.slice(0, 120).toWellFormed() }));
  return made.conversation;
}

/** Starts the turn; where its folder has to be asked for, asks whoever sits here, or says which option answers it. */
async function startIn(
  client: BlockSource,
  cwd: string | undefined,
  request: ToolInput<"turn.start">,
): Promise<ToolAnswer<"turn.start"> | Problem> {
  const chosen = cwd === undefined ? {} : { cwd: resolve(cwd) };
  const answer = await client.call("turn.start", { ...request, default_cwd: process.cwd(), ...chosen });
  const question = isProblem(answer) ? folderQuestion(answer) : undefined;
  if (!question) return answer;
  const { problem, folders } = question;
  if (!process.stdin.isTTY)
    throw new CommandError(
      `${problem.message.replace(/: pass the folder.*/, "")}. Choose the folder: ${folders.map((each) => `--cwd ${each}`).join(", or ")}`,
    );
  printNote(problem.message.replace(/: pass the folder.*/, "."));
  const lines = folders.map((each, i) => `  ${i + 1}  ${visibleName(each)}`).join("\n");
  const said = await asked(`${lines}\nWhich folder? [1-${folders.length}, empty to cancel] `);
  const folder = folders[Number(said) - 1];
  if (folder === undefined) throw new CommandError("not started");
  return client.call("turn.start", { ...request, cwd: folder });
}

/** The folders between which somebody has to choose, where that is the problem. */
export function folderQuestion(
  problem: Problem,
): { readonly problem: Problem; readonly folders: readonly string[] } | undefined {
  const { ask, cwd, root, missing } = problem.details ?? {};
  if (ask !== "cwd" || typeof cwd !== "string" || typeof root !== "string") return undefined;
  const here = process.cwd();
  const all = [...(missing === true ? [] : [cwd]), ...(here === cwd ? [] : [here]), root];
  return { problem, folders: [...new Set(all)] };
}

async function seqOf(client: BlockSource, conversation: string): Promise<number> {
  const read = known(await client.call("conversation.read", { conversation, blocks: 0 }));
  return read.conversation.seq;
}

interface Followed {
  readonly conversation: string;
  readonly since: number;
  readonly turn: string;
  /** The block with the prompt, or with the message that waits. */
  readonly prompt: string;
  readonly waits: boolean;
}

interface FollowOptions {
  readonly isJson: boolean;
  readonly isFull: boolean;
  readonly allowsAll: boolean;
}

/**
 * A message that was sent into a running turn, until the agent has read it: then the exit code. Where the agent did not take it, its own
 * turn begins when that one has ended, and is followed.
 */
async function untilRead(
  client: BlockSource,
  { conversation, turn, prompt }: Omit<Followed, "waits">,
): Promise<number | "begun"> {
  let isStopped = false;
  const stop = async () => {
    if (isStopped) process.exit(EXIT.interrupted);
    isStopped = true;
    const taken = await client.call("turn.stop", { conversation, turn });
    if (!isProblem(taken)) return;
    printNote(`blockyard: ${taken.message}`);
    process.exit(EXIT.interrupted);
  };
  process.on("SIGINT", stop);
  printNote("The agent reads it at its next step.");
  try {
    for (;;) {
      const { status, metadata } = known(await client.call("block.read", { block_id: prompt }));
      const isHeld = status !== "error" && metadata.queued?.held !== undefined;
      // The turn was stopped: nobody sends it later.
      if (isHeld) await client.call("turn.stop", { conversation, turn });
      if (isHeld || status === "error") {
        printNote("The message was not sent.");
        return isStopped ? EXIT.interrupted : EXIT.failed;
      }
      if (status === "done") {
        const { turns } = known(await client.call("conversation.read", { conversation, blocks: 0 }));
        if (turns.some((each) => each.turn === turn)) return "begun";
        printNote("The agent has read the message.");
        return EXIT.done;
      }
      await sleep(READ_MS);
    }
  } finally {
    process.off("SIGINT", stop);
  }
}

async function follow(
  client: BlockSource,
  { conversation, since, turn, prompt, waits }: Followed,
  options: FollowOptions,
): Promise<number> {
  const { isJson, isFull, allowsAll } = options;
  const text = { style: styleFor(process.stdout), width: terminalWidth(), isFull };
  /** It waited, and was taken out of the queue: its turn will never begin. */
  let isDropped = false;
  /** What the agent asked for and was not given. */
  let denied = 0;
  /** What another turn asks is answered by whoever started that. */
  const isOwn = ({ metadata }: BlockSnapshot) => metadata.turn === undefined || metadata.turn === turn;
  const follower = new Follower(client, conversation, since, {
    text,
    show: (shown) => (isJson ? Promise.resolve() : print(shown)),
    ended: async (block) => {
      isDropped ||= block.block_id === prompt && block.status === "error";
      const state = askOf(block.metadata)?.state;
      if (isOwn(block) && (state === "denied" || state === "expired")) denied++;
      if (isJson) await printJson({ ...block, type: "block" });
    },
    asked: async (block) => (isOwn(block) ? answerAsk(client, block, allowsAll) : undefined),
    held: async (block) => {
      if (block.block_id !== prompt || isDropped) return;
      isDropped = true;
      await client.call("turn.stop", { conversation, turn });
    },
  });
  let isStopped = false;
  const stop = () => {
    if (isStopped) process.exit(EXIT.interrupted);
    isStopped = true;
    printNote("\nStopping the turn. Press Ctrl-C again to quit now.");
    void client.call("turn.stop", { conversation, turn });
  };
  process.on("SIGINT", stop);
  // Said when it can be taken back: whoever reads it may press Ctrl-C at once.
  if (waits) printNote("Another turn is running in this conversation. This one is queued.");
  try {
    for (;;) {
      const isQuiet = await follower.step();
      if (isQuiet && isDropped) {
        printNote("The message was not sent.");
        return isStopped ? EXIT.interrupted : EXIT.failed;
      }
      const ended = isQuiet ? await endOf(client, conversation, turn) : undefined;
      if (!ended) continue;
      while (!(await follower.step(0)));
      if (isJson) await printJson({ type: "turn", conversation, ...ended });
      else await print(`\n${turnText(ended, text)}`);
      if (!isJson && denied > 0)
        printNote(
          `${plural(denied, "request")} ${denied === 1 ? "was" : "were"} denied: the agent's work may be incomplete.`,
        );
      if (!isJson) printNote(asTyped(`blockyard show ${conversation}`));
      if (isStopped) return EXIT.interrupted;
      return ended.status === "done" && denied === 0 ? EXIT.done : EXIT.failed;
    }
  } catch (error) {
    await follower.endLine();
    throw error;
  } finally {
    process.off("SIGINT", stop);
  }
}

async function endOf(client: BlockSource, conversation: string, id: string): Promise<TurnView | undefined> {
  const read = known(await client.call("conversation.read", { conversation, blocks: 0 }));
  const found = read.turns.find(({ turn }) => turn === id);
  return found?.status === "running" ? undefined : found;
}
