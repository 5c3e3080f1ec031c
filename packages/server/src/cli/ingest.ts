/**
 * `blockyard ingest`: sits in a pipe behind an agent. What comes in goes out unchanged, whatever happens here; beside that
 * it becomes blocks. If it could not be kept there, the whole stream is in a file, and the command says so.
 */

import { createWriteStream, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isProblem, type Json, type Problem, problem } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { makeConfig, prepareHome } from "../config/config.ts";
import { providerOf, sessionIn } from "../ingest/ingest-stream.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import type { BlockSource } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { Flow } from "./flow.ts";
import { KnownSessions } from "./log-import.ts";
import { wholeId } from "./named-id.ts";
import { print, printJson, printNote } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

const options = {
  home: HOME_OPTION,
  json: { ...JSON_OPTION, summary: "print the result as JSON instead of passing the stream on" },
  conversation: { type: "string", short: "c", value: "ID", summary: "continue this conversation" },
  new: { type: "boolean", summary: "start a new conversation even if the session already has one" },
  title: { type: "string", value: "TEXT", summary: "title of a new conversation" },
  provider: {
    type: "string",
    value: "NAME",
    summary: "the stream's format, if it is not recognized",
    choices: [...providers.keys()],
  },
  agent: {
    type: "string",
    value: "NAME",
    summary: "the agent that the blocks belong to (default: the provider's name)",
  },
  quiet: { type: "boolean", short: "q", summary: "do not print the conversation's id" },
} as const;

export const ingest: Command = {
  name: "ingest",
  usage: "ingest [-c ID | --new] [--title TEXT] [--provider NAME] [--json]",
  summary: "store an agent's output from standard input as blocks, and pass it on",
  examples: [
    "claude -p --output-format stream-json --verbose 'fix the test' | blockyard ingest",
    "codex exec --json 'fix the test' | blockyard ingest --title 'The test' > run.jsonl",
    "curl -sN … | blockyard ingest -c k3vq2mz --provider anthropic",
  ],
  options,
  async run(args) {
    const { values } = readArguments({ name: "ingest", options }, args, [0, 0]);
    if (process.stdin.isTTY)
      throw new CommandError(
        "ingest reads an agent's output from a pipe. Try: blockyard help ingest",
        EXIT.usage,
      );
    const { home } = makeConfig({
      env: process.env,
      ...(values.home === undefined ? {} : { home: values.home }),
    });
    prepareHome(home);
    // The agent in front hears Ctrl-C too, and ends: what it has said until then is kept.
    process.once("SIGINT", () => process.once("SIGINT", () => process.exit(EXIT.interrupted)));
    const copy = new Copy(home);
    const flow = new Flow();
    const read = pass(flow, copy, values.json !== true);
    const query = given({ title: values.title, provider: values.provider, agent: values.agent });
    const answer = await keep(flow, values.home, values.conversation, values.new === true, query);
    flow.giveUp();
    await read;
    if (isProblem(answer)) {
      const file = await copy.leave();
      const again =
        file === undefined ? "" : `\nThe whole stream is in ${file}. Try again: blockyard ingest < ${file}`;
      throw new CommandError(`${answer.message}${again}`);
    }
    await copy.remove();
    if (values.json) await printJson(answer);
    else if (!values.quiet) {
      const { conversation, provider } = answer as { conversation: string; provider: string };
      printNote(asTyped(`blockyard: ${provider} stream stored. Show it: blockyard show ${conversation}`));
    }
    return EXIT.done;
  },
};

/** Opens a client and feeds it. Nothing is thrown: the stream must go on. */
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
    const start = await flow.start();
    if (start.length === 0) return problem("invalid", "the stream was empty");
    const named = conversation && (await wholeId(client, conversation));
    const known = named ?? (isNew ? undefined : await goesOn(client, query["provider"], start));
    return await client.ingest(
      { ...query, ...(known === undefined ? {} : { conversation: known }) },
      flow.body(),
    );
  } catch (error) {
    return problem("unavailable", (error as Error).message);
  } finally {
    await client?.close();
  }
}

/** The conversation in which the stream's session was before, if a stream or a turn brought it there. */
async function goesOn(
  client: BlockSource,
  name: string | undefined,
  start: Uint8Array,
): Promise<string | undefined> {
  const provider = providerOf(name, start);
  const session = isProblem(provider) ? undefined : sessionIn(provider, start);
  if (isProblem(provider) || session === undefined) return undefined;
  const sessions = await KnownSessions.read(client);
  return sessions.conversationOf(provider.name, session);
}

/** Reads standard input to its end: into the copy, out again, and to whoever keeps it. */
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

/** Everything that came in, on disk, until it is known to be kept. */
class Copy {
  readonly #file: string;
  readonly #stream: ReturnType<typeof createWriteStream>;
  #isBroken = false;

  constructor(home: string) {
    const folder = join(home, "unfinished");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
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

function given(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
