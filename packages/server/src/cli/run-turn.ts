/** What `blockyard run` does: starts a turn, shows it as it happens, and asks whoever sits there what the agent asks. */

import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import {
  type Ask,
  type AskAnswer,
  askOf,
  type BlockSnapshot,
  isProblem,
  type Problem,
  plural,
  type TurnView,
} from "@blockyard/kernel";
import type { ToolAnswer, ToolInput } from "../contract/index.ts";
import { visible } from "../processes/visible.ts";
import { withTrust } from "./ask-trust.ts";
import { type BlockSource, known } from "./block-source.ts";
import { turnText } from "./block-text.ts";
import { CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { Follower } from "./follow.ts";
import { wholeId } from "./named-id.ts";
import { oneLine, print, printJson, printNote, safeText, styleFor, terminalWidth } from "./terminal.ts";
import { answersTo, suggestionIn, suggestionText } from "./terminal-answer.ts";

/** Of what asks for permission. */
const NAME_CHARS = 200;
export interface TurnOptions {
  readonly provider: string;
  readonly prompt: string;
  /** The conversation to go on in; undefined: a new one. */
  readonly given: string | undefined;
  readonly title: string;
  readonly cwd: string | undefined;
  readonly trusts: boolean;
  readonly request: Pick<ToolInput<"turn.start">, "model" | "fresh" | "allow">;
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
    const answer = await withTrust(client, trusts, ask, start);
    // One that was made for a turn that could not start is in nobody's list.
    if (isProblem(answer) && given === undefined)
      await client.call("conversation.update", { conversation, archived: true });
    const started = known(answer);
    if (!shown.isJson) printNote(`${provider} is working in ${started.cwd} (conversation ${conversation})\n`);
    return await follow(
      client,
      { conversation, since, turn: started.turn, prompt: started.block_id, waits: started.queued },
      shown,
    );
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
  const lines = folders.map((each, i) => `  ${i + 1}  ${each}`).join("\n");
  const said = await ask(`${safeText(lines)}\nWhich folder? [1-${folders.length}, empty to cancel] `);
  const folder = folders[Number(said) - 1];
  if (folder === undefined) throw new CommandError("not started");
  return client.call("turn.start", { ...request, cwd: folder });
}

/** Asks whoever sits here. */
function ask(question: string): Promise<string | undefined> {
  return typed(question, {
    input: process.stdin,
    output: process.stderr,
    interrupt: () => process.kill(process.pid, "SIGINT"),
  });
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
  const follower = new Follower(client, conversation, since, {
    text,
    show: (shown) => (isJson ? Promise.resolve() : print(shown)),
    ended: async (block) => {
      isDropped ||= block.block_id === prompt && block.status === "error";
      const state = askOf(block.metadata)?.state;
      if (state === "denied" || state === "expired") denied++;
      if (isJson) await printJson({ ...block, type: "block" });
    },
    asked: (block) => answer(client, block, allowsAll),
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
      if (!isJson) printNote(`blockyard show ${conversation}`);
      if (isStopped) return EXIT.interrupted;
      return ended.status === "done" && denied === 0 ? EXIT.done : EXIT.failed;
    }
  } finally {
    process.off("SIGINT", stop);
  }
}

async function endOf(client: BlockSource, conversation: string, id: string): Promise<TurnView | undefined> {
  const read = known(await client.call("conversation.read", { conversation, blocks: 0 }));
  const found = read.turns.find(({ turn }) => turn === id);
  return found?.status === "running" ? undefined : found;
}

/**
 * What somebody is asked to allow: who asks in one line, which no text can end, and below it every character of the input; above
 * that the change, where it is one, with its lines moved in, so that none of them looks like ours.
 */
export function askText({ metadata }: BlockSnapshot): string {
  const { title, input, subject } = askOf(metadata) as Ask;
  const what = visible(JSON.stringify(input ?? metadata.input ?? {}, null, 2));
  const change =
    subject?.type === "diff"
      ? `${visible(subject.diff.trimEnd()).replaceAll(/^/gm, "  ")}
Exact input:
`
      : "";
  return `${nameOf(title, metadata)} needs approval:
${change}${what}`;
}

function nameOf(title: string | undefined, metadata: BlockSnapshot["metadata"]): string {
  return oneLine(`${title ?? metadata.toolName}`, NAME_CHARS);
}

/** Asks the person who sits here; where nobody does, what was not allowed beforehand is denied. */
async function answer(client: BlockSource, block: BlockSnapshot, allowsAll: boolean): Promise<void> {
  const ask = askOf(block.metadata) as Ask;
  let allow = allowsAll;
  const isThere = process.stdin.isTTY === true;
  let message = "nobody was there to approve it";
  const interrupt = () => process.kill(process.pid, "SIGINT");
  const type = (text: string) => typed(text, { input: process.stdin, output: process.stderr, interrupt });
  let chosen: AskAnswer | undefined;
  if (isThere && ask.kind === "question") {
    printNote("");
    chosen = await answersTo(ask, type);
    if (chosen === undefined) return; // the turn is being stopped, and the request with it
    allow = true;
  } else if (!allowsAll && isThere) {
    printNote(`\n${askText(block)}${suggestionText(ask)}`);
    const hint = (ask.suggestions ?? []).length > 0 ? ", a number" : "";
    const said = await type(`Allow? [y/N${hint}, or the reason why not] `);
    if (said === undefined) return; // the turn is being stopped, and the request with it
    const taken = suggestionIn(ask, said);
    chosen = taken && { suggestion: taken.id };
    allow = taken === undefined ? /^y(es)?$/i.test(said) : taken.deny !== true;
    message = taken !== undefined || /^(no?)?$/i.test(said) ? "" : said;
  }
  const given = await client.call("turn.answer", {
    ...{ block_id: block.block_id, ask_id: ask.id, allow },
    ...(allow ? {} : { message }),
    ...(chosen === undefined ? {} : { answer: chosen }),
  });
  // A rule, or another window, was first.
  if (isProblem(given) && given.problem === "conflict") return;
  if (isProblem(given)) printNote(`blockyard: ${given.message}`);
  else if (!allow) {
    const why = isThere ? "" : " (no terminal to ask on; --yes approves everything)";
    printNote(`Denied: ${nameOf(ask.title, block.metadata)}${why}`);
  }
}

interface Keyboard {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** While somebody types, Ctrl-C is a key: it means what it means everywhere else. */
  interrupt(): void;
}

/** A line that somebody types: empty where they end the input instead, undefined where they interrupt. */
export function typed(question: string, { input, output, interrupt }: Keyboard): Promise<string | undefined> {
  const lines = createInterface({ input, output, terminal: true });
  return new Promise<string | undefined>((resolve) => {
    lines.on("SIGINT", () => {
      resolve(undefined);
      interrupt();
    });
    lines.on("close", () => resolve(""));
    lines.question(question).then(
      (line) => resolve(line.trim()),
      () => resolve(""), // Ctrl-D
    );
  }).finally(() => lines.close());
}
