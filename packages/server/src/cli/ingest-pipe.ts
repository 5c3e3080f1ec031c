/** What `blockyard ingest` does with its input: passes it on, keeps a copy, and has it stored. */

import { createWriteStream, rmSync } from "node:fs";
import { join } from "node:path";
import { isProblem, type Json, type Problem, problem } from "@blockyard/kernel";
import { makeConfig, prepareHome } from "../config/config.ts";
import { HeadReader, providerOf, sessionIn } from "../ingest/stream-head.ts";
import { makeFolder } from "../system/folder.ts";
import type { BlockSource } from "./block-source.ts";
import { CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { Flow } from "./flow.ts";
import { KnownSessions } from "./log-import.ts";
import { wholeId } from "./named-id.ts";
import { print, printJson, printNote } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

export interface PipeOptions {
  readonly home: string | undefined;
  readonly conversation: string | undefined;
  readonly isNew: boolean;
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** What the server is told of the stream. */
  readonly query: Record<string, string>;
}

/** The exit code. */
export async function ingestPipe(options: PipeOptions): Promise<number> {
  const { home: chosen, conversation, isNew, isJson, isQuiet, query } = options;
  const { home } = makeConfig({ env: process.env, ...(chosen === undefined ? {} : { home: chosen }) });
  prepareHome(home);
  // The agent also gets Ctrl-C, and ends: its output so far is stored.
  process.once("SIGINT", () => process.once("SIGINT", () => process.exit(EXIT.interrupted)));
  const copy = new Copy(home);
  const flow = new Flow();
  const read = pass(flow, copy, !isJson);
  const answer = await keep(flow, chosen, conversation, isNew, query);
  flow.giveUp();
  await read;
  if (isProblem(answer) && answer.details?.["repeated"] === true) {
    await copy.remove();
    const hint = `Show it: blockyard show ${answer.details["conversation"]}. To store it once more: blockyard ingest --new`;
    throw new CommandError(`${answer.message}. ${hint}`);
  }
  if (isProblem(answer)) {
    const file = await copy.leave();
    const again =
      file === undefined
        ? ""
        : `\nThe whole stream is in ${file}. Try again: blockyard ${retryOf(answer)} ${file}`;
    throw new CommandError(`${answer.message}${again}`);
  }
  await copy.remove();
  if (isJson) await printJson(answer);
  else if (!isQuiet) {
    const stored = answer as { conversation: string; provider: string };
    printNote(
      asTyped(`blockyard: ${stored.provider} stream stored. Show it: blockyard show ${stored.conversation}`),
    );
  }
  return EXIT.done;
}

/** Errors that would not recur for the same reason. */
function retryOf({ message, details }: Problem): string {
  if (details?.["providers"] !== undefined) return "ingest --provider NAME <";
  return message.endsWith("use blockyard import") ? "import" : "ingest <";
}

/** Opens a client and feeds it. Never throws: the stream must continue. */
async function keep(
  flow: Flow,
  home: string | undefined,
  conversation: string | undefined,
  isNew: boolean,
  query: Record<string, string>,
): Promise<Json | Problem> {
  let client: BlockSource | undefined;
  try {
    client = await openClient({ home, create: true });
    const start = await flow.start(new HeadReader(query["provider"]));
    if (start.length === 0) return problem("invalid", "the stream was empty");
    const named = conversation && (await wholeId(client, conversation));
    if (named !== undefined || isNew)
      return await client.ingest({ ...query, ...(named && { conversation: named }) }, flow.body());
    const there = await goesOn(client, query["provider"], start);
    return await client.ingest({ ...query, ...there }, flow.body());
  } catch (error) {
    return problem("unavailable", (error as Error).message);
  } finally {
    await client?.close();
  }
}

/** Where the stream goes on, if a stream or a turn brought its session here, and which conversations may have it already. */
async function goesOn(
  client: BlockSource,
  name: string | undefined,
  start: Uint8Array,
): Promise<Readonly<Record<string, string>>> {
  const provider = providerOf(name, start);
  const session = isProblem(provider) ? undefined : sessionIn(provider, start);
  if (session === undefined) return {};
  const sessions = await KnownSessions.read(client);
  const holders = sessions.holdersOf(session.id);
  const conversation = sessions.conversationOf(session.provider, session.id) ?? holders[0];
  return conversation === undefined ? {} : { conversation, unless_in: holders.join(",") };
}

/** Reads standard input to its end: into the copy, out again, and to the server. */
async function pass(flow: Flow, copy: Copy, isEchoed: boolean): Promise<void> {
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      copy.write(chunk);
      if (isEchoed) await print(chunk);
      await flow.push(chunk);
    }
  } finally {
    flow.end();
  }
}

/** All input, on disk, until it is known to be stored. */
class Copy {
  readonly #file: string;
  readonly #stream: ReturnType<typeof createWriteStream>;
  #isBroken = false;

  constructor(home: string) {
    const folder = join(home, "unfinished");
    makeFolder(folder);
    this.#file = join(folder, `${new Date().toISOString().replace(/[:.]/g, "-")}-${process.pid}.jsonl`);
    this.#stream = createWriteStream(this.#file, { mode: 0o600 });
    this.#stream.on("error", () => {
      this.#isBroken = true; // a full disk: the stream itself matters more than its copy
    });
  }

  write(chunk: Uint8Array): void {
    if (!this.#isBroken) this.#stream.write(chunk);
  }

  async remove(): Promise<void> {
    await this.#close();
    rmSync(this.#file, { force: true });
  }

  async leave(): Promise<string | undefined> {
    await this.#close();
    if (!this.#isBroken && this.#stream.bytesWritten > 0) return this.#file;
    rmSync(this.#file, { force: true });
    return undefined;
  }

  async #close(): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.#isBroken || this.#stream.closed) resolve();
      else this.#stream.once("close", resolve).end();
    });
  }
}
