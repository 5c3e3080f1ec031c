/**
 * Follows one turn in a terminal until its end: shows its output, and puts its requests to the person at the terminal.
 * For the command that started it, and for one that joins it.
 */

import { askOf, type BlockSnapshot, plural, type TurnView } from "@blockyard/kernel";
import { type BlockSource, known } from "./block-source.ts";
import { turnText } from "./block-text.ts";
import { CommandError, EXIT } from "./command.ts";
import { Follower } from "./follow.ts";
import { lineWidth, print, printJson, printNote, styleFor, terminalWidth } from "./terminal.ts";
import { answerAsk } from "./terminal-ask.ts";
import { asTyped } from "./typed-command.ts";

interface Followed {
  readonly conversation: string;
  /** Blocks that were born before are not told. */
  readonly since: number;
  readonly turn: string;
  /** The block with the prompt, or with the message that waits, where this command has sent it. */
  readonly prompt?: string;
  readonly waits?: boolean;
  /** What it has written before, and is shown first. */
  readonly before?: readonly BlockSnapshot[];
  /** What Ctrl-C does instead of stopping it: the agent works on. */
  readonly leave?: () => never;
  /** How to allow beforehand what nobody can be asked here. */
  readonly allowing?: string;
  /** Where its agent works. */
  readonly folder?: string | undefined;
}

export interface FollowOptions {
  readonly isJson: boolean;
  readonly isFull: boolean;
  readonly allowsAll: boolean;
  /** Answers nothing: somebody else does. */
  readonly isWatching?: boolean;
}

/** The exit code. */
export async function followTurn(
  client: BlockSource,
  { conversation, since, turn, prompt, waits, before = [], leave, folder, allowing }: Followed,
  options: FollowOptions,
): Promise<number> {
  const { isJson, isFull, allowsAll, isWatching } = options;
  const text = { style: styleFor(process.stdout), width: terminalWidth(), lineWidth: lineWidth(), isFull };
  /** It waited, and was taken out of the queue: its turn will never begin. */
  let isDropped = false;
  /** What the agent asked for and was not given. */
  let denied = 0;
  /** What it asked for and nobody answered while it worked. */
  let unanswered = 0;
  /** How to allow what nobody could be asked. */
  let how: string | undefined;
  const errors: BlockSnapshot[] = [];
  /** What another turn asks is answered by whoever started that. */
  const isOwn = ({ metadata }: BlockSnapshot) => metadata.turn === undefined || metadata.turn === turn;
  const follower = new Follower(client, conversation, since, {
    ...{ text, folder },
    show: (shown) => (isJson ? Promise.resolve() : print(shown)),
    ended: async (block) => {
      isDropped ||= block.block_id === prompt && block.status === "error";
      if (block.kind === "error") errors.push(block);
      const state = askOf(block.metadata)?.state;
      if (isOwn(block) && state === "denied") denied++;
      if (isOwn(block) && state === "expired") unanswered++;
      if (isJson) await printJson({ ...block, type: "block" });
    },
    asked: async (block) => {
      if (!isOwn(block) || isWatching === true) return false;
      if (!allowsAll && process.stdin.isTTY !== true) how = allowing;
      await answerAsk(client, block, allowsAll);
      return true;
    },
    held: async (block) => {
      if (block.block_id !== prompt || isDropped) return;
      isDropped = true;
      await client.call("turn.stop", { conversation, turn });
    },
  });
  const interrupt = untilInterrupted(client, { conversation, turn }, leave);
  // Said when it can be taken back: whoever reads it may press Ctrl-C at once.
  if (waits) printNote("Another turn is running in this conversation. This one is queued.");
  try {
    await follower.begin(before);
    for (;;) {
      const isQuiet = await follower.step();
      if (isQuiet && isDropped) {
        printNote("The message was not sent.");
        return interrupt.isStopped ? EXIT.interrupted : EXIT.failed;
      }
      const ended = isQuiet ? await endOf(client, conversation, turn) : undefined;
      if (!ended) continue;
      while (!(await follower.step(0)));
      if (isJson) await printJson({ type: "turn", conversation, ...ended });
      else
        await conclude(turnText(ended, text, errors), afterwards(conversation, { denied, unanswered, how }));
      if (interrupt.isStopped) return EXIT.interrupted;
      return ended.status === "done" && denied + unanswered === 0 ? EXIT.done : EXIT.failed;
    }
  } catch (error) {
    await follower.endLine();
    throw withNext(error, conversation);
  } finally {
    interrupt.end();
  }
}

/** Ctrl-C stops the turn, and a second one this command. */
function untilInterrupted(
  client: BlockSource,
  stopped: { readonly conversation: string; readonly turn: string },
  leave: Followed["leave"],
): { readonly isStopped: boolean; end(): void } {
  const state = { isStopped: false, end: () => void process.off("SIGINT", stop) };
  function stop(): void {
    leave?.();
    if (state.isStopped) process.exit(EXIT.interrupted);
    state.isStopped = true;
    printNote("\nStopping the turn. Press Ctrl-C again to quit now.");
    void client.call("turn.stop", stopped);
  }
  process.on("SIGINT", stop);
  return state;
}

async function conclude(facts: string, next: string): Promise<void> {
  await print(`\n${facts}`);
  printNote(next);
}

/** The server went away, or would not go on: what to do when it is back. */
function withNext(error: unknown, conversation: string): unknown {
  if (!(error instanceof CommandError)) return error;
  return new CommandError(
    `${error.message}\nThen continue here: blockyard attach ${conversation}`,
    error.code,
  );
}

interface NotGiven {
  readonly denied: number;
  readonly unanswered: number;
  /** How to allow what nobody could be asked. */
  readonly how: string | undefined;
}

export function afterwards(conversation: string, { denied, unanswered, how }: NotGiven): string {
  const were = (count: number) => `${plural(count, "request")} ${count === 1 ? "was" : "were"}`;
  const parts = [
    ...(denied === 0 ? [] : [`${were(denied)} denied`]),
    ...(unanswered === 0 ? [] : [`${were(unanswered)} not answered`]),
  ];
  const doubt = parts.length === 0 ? "" : `${parts.join(", ")}: the agent's work may be incomplete.\n`;
  const hint = parts.length === 0 || how === undefined ? "" : `${how}\n`;
  return `${doubt}${hint}${asTyped(`blockyard show ${conversation}`)}`;
}

async function endOf(client: BlockSource, conversation: string, id: string): Promise<TurnView | undefined> {
  const { turns, conversation: whole } = known(
    await client.call("conversation.read", { conversation, blocks: 0 }),
  );
  const isOne = ({ turn }: TurnView) => turn === id;
  // The newest are read; behind many that the agent has begun by itself it is found among all.
  const isOlder = whole.turns > turns.length && !turns.some(isOne);
  const found = (isOlder ? known(await client.call("turn.list", { conversation })).turns : turns).find(isOne);
  return found?.status === "running" ? undefined : found;
}
