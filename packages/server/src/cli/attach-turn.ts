/**
 * Follows a conversation whose turns somebody else has started: each is shown from its beginning, as far as its last
 * blocks reach, until nothing is running. Requests from before a restart come first; the answer starts the turn that is
 * followed then.
 */

import { askOf, type BlockSnapshot, type TurnView } from "@blockyard/kernel";
import { type BlockSource, known } from "./block-source.ts";
import { EXIT } from "./command.ts";
import { type FollowOptions, followTurn } from "./follow-turn.ts";
import { ATTACHED_BLOCKS } from "./limits.ts";
import { printNote } from "./terminal.ts";
import { answerAsk } from "./terminal-ask.ts";
import { asTyped } from "./typed-command.ts";

interface Now {
  readonly seq: number;
  readonly folder: string | undefined;
  readonly running: TurnView | undefined;
  readonly last: TurnView | undefined;
  readonly blocks: readonly BlockSnapshot[];
}

/** The exit code: that of the last turn which was seen. */
export async function follow(
  client: BlockSource,
  conversation: string,
  options: FollowOptions,
): Promise<number> {
  const isWatching = !options.allowsAll && process.stdin.isTTY !== true;
  let code: number = EXIT.nothing;
  for (let isOwn = false; ; ) {
    const { seq, folder, running, last, blocks } = await stateOf(client, conversation);
    if (running !== undefined) {
      if (!isOwn && !options.isJson) printNote(joined(running, isWatching));
      const before = blocks.filter(({ metadata }) => metadata.turn === running.turn);
      const followed = { conversation, since: seq, turn: running.turn, before, folder };
      const leave = { leave: () => leaveIt(conversation) };
      code = await followTurn(client, { ...followed, ...(isOwn ? {} : leave) }, { ...options, isWatching });
      if (code === EXIT.interrupted) return code;
      continue;
    }
    const late = blocks.find((block) => isLate(block, last));
    if (late === undefined || isOwn) return code === EXIT.nothing ? nothingRuns(conversation) : code;
    if (isWatching) {
      printNote("A request from before a restart needs an answer. Run this in a terminal, or with --yes.");
      return EXIT.failed;
    }
    printNote("The agent asked this before the server was restarted.");
    await answerAsk(client, late, options.allowsAll);
    isOwn = true;
  }
}

function joined({ provider }: TurnView, isWatching: boolean): string {
  const asks = isWatching ? " Its requests cannot be answered here." : "";
  return `${provider} is working. Press Ctrl-C to leave; it keeps working.${asks}\n`;
}

function leaveIt(conversation: string): never {
  printNote(asTyped(`\nThe agent keeps working. Stop it: blockyard attach ${conversation} --stop`));
  process.exit(EXIT.interrupted);
}

function nothingRuns(conversation: string): number {
  const next = asTyped(`blockyard run <agent> "…" -c ${conversation}`);
  printNote(`Nothing is running in this conversation, and nothing needs an answer. Continue it: ${next}`);
  return EXIT.nothing;
}

/** Asked by a turn that a restart has cut off; the server knows whether it can still be answered. */
function isLate({ metadata }: BlockSnapshot, last: TurnView | undefined): boolean {
  const state = askOf(metadata)?.state;
  return (
    last?.reason === "interrupted" &&
    metadata.turn === last.turn &&
    (state === "expired" || state === "asked")
  );
}

async function stateOf(client: BlockSource, conversation: string): Promise<Now> {
  const read = known(await client.call("conversation.read", { conversation, blocks: ATTACHED_BLOCKS }));
  const blocks: BlockSnapshot[] = [];
  let rest = read.blocks.map(({ block_id }) => ({ block_id, version: 0 }));
  while (rest.length > 0) {
    const answer = known(await client.call("block.sync", { versions: rest }));
    blocks.push(...answer.new_blocks);
    const got = new Set(answer.new_blocks.map(({ block_id }) => block_id));
    rest = answer.more && got.size > 0 ? rest.filter(({ block_id }) => !got.has(block_id)) : [];
  }
  const running = read.turns.findLast(({ status }) => status === "running");
  const { seq, metadata } = read.conversation;
  return { seq, folder: metadata.cwd, running, last: read.turns.at(-1), blocks };
}
