/** `blockyard run`: starts a turn, shows it as it happens, and puts the agent's requests to the person at the terminal. */

import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isProblem, type Problem } from "@blockyard/kernel";
import type { ToolAnswer, ToolInput } from "../contract/index.ts";
import { visibleName } from "../processes/visible.ts";
import { withTrust } from "./ask-trust.ts";
import { type BlockSource, known } from "./block-source.ts";
import { CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { type FollowOptions, followTurn } from "./follow-turn.ts";
import { READ_LOOK_MS } from "./limits.ts";
import { wholeId } from "./named-id.ts";
import { printNote } from "./terminal.ts";
import { asked } from "./terminal-ask.ts";

export interface TurnOptions {
  readonly provider: string;
  readonly prompt: string;
  /** The conversation to continue; undefined: a new one. */
  readonly given: string | undefined;
  readonly title: string;
  readonly cwd: string | undefined;
  readonly trusts: boolean;
  readonly request: Pick<ToolInput<"turn.start">, "model" | "effort" | "mode" | "when" | "fresh" | "allow">;
  readonly shown: FollowOptions;
}

/** The exit code. */
export async function runTurn(home: string | undefined, turn: TurnOptions): Promise<number> {
  const { provider, prompt, given, title, cwd, trusts, shown } = turn;
  const client = await openClient({ home, create: true, agents: true });
  try {
    const named = given === undefined ? undefined : await wholeId(client, given);
    const since = named === undefined ? 0 : await seqOf(client, named);
    // A new conversation is created with the turn: a failed start leaves nothing.
    const where = named === undefined ? titled(title) : { conversation: named };
    const request = { ...where, provider, prompt, ...turn.request };
    const started = known(await withTrust(client, trusts, asked, () => startIn(client, cwd, request)));
    const { conversation } = started;
    if (!shown.isJson) printNote(`${provider} is working in ${started.cwd} (conversation ${conversation})\n`);
    const followed = {
      conversation,
      since,
      turn: started.turn,
      prompt: started.block_id,
      folder: started.cwd,
      allowing: allowingText(provider),
    };
    const isSteered = turn.request.when === "next" && started.queued;
    const delivered = isSteered ? await untilRead(client, followed, provider) : "begun";
    if (delivered !== "begun") return delivered;
    return await followTurn(client, { ...followed, waits: started.queued }, shown);
  } finally {
    await client.close();
  }
}

/** If nobody can be asked: how to let the agent do it the next time. */
function allowingText(provider: string): string {
  const own = "--allow WHAT (without approval: read, write or bash)";
  const agents = "--mode MODE (what the agent may do without asking)";
  const option = provider === "anthropic" || provider === "openai" ? own : agents;
  return `To be asked, run it in a terminal. To allow it beforehand, add --yes (approves everything) or ${option}.`;
}

function titled(title: string): { readonly title?: string } {
  const line = title.trim().split("\n", 1)[0] ?? "";
  return line === "" ? {} : { title: line.slice(0, 120).toWellFormed() };
}

/** Starts the turn; if its folder needs trust, asks the user here, or names the option that answers it. */
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

/** The folders to choose from, if that is the problem. */
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

/** A message on its way to an agent. */
interface Sent {
  readonly conversation: string;
  readonly turn: string;
  /** The block with the message. */
  readonly prompt: string;
}

/** Not every agent takes messages while it works. */
export async function whenRead(client: BlockSource, provider: string): Promise<string> {
  const listed = await client.call("agent.list", {});
  const agents = isProblem(listed) ? [] : listed.agents;
  const steering = agents.find((agent) => agent.provider === provider)?.abilities.steering;
  return steering === "turn"
    ? "The agent takes no messages while it works. It gets this one after the running turn."
    : "The agent reads it at its next step.";
}

/**
 * A message that was sent into a running turn, until the agent has read it: then the exit code. If the agent did not
 * take it, its own turn begins when that one has ended, and is followed.
 */
async function untilRead(
  client: BlockSource,
  { conversation, turn, prompt }: Sent,
  provider: string,
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
  printNote(await whenRead(client, provider));
  try {
    for (;;) {
      const { status, metadata } = known(await client.call("block.read", { block_id: prompt }));
      const isHeld = status !== "error" && metadata.queued?.held !== undefined;
      // The turn was stopped: the message will not be sent later.
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
      await sleep(READ_LOOK_MS);
    }
  } finally {
    process.off("SIGINT", stop);
  }
}
