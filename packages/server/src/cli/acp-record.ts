/**
 * Turns the traffic that a tee has copied into conversations, one per session: live if a server runs, otherwise after
 * the agent has ended, so that no server is kept from the database meanwhile. A completely stored file is deleted; any
 * other one stays.
 */

import { existsSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isAgentId, isProblem } from "@blockyard/kernel";
import { LineReader, type Routed, SessionRoutes } from "@blockyard/providers";
import { isAlive } from "../system/process-alive.ts";
import type { BlockSource } from "./block-source.ts";
import { serverClient } from "./client.ts";
import { EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { Flow } from "./flow.ts";
import { RECORD_LOOK_MS, RECORD_READ_BYTES } from "./limits.ts";
import { KnownSessions } from "./log-import.ts";

/** The exit code: whether everything is stored. */
export async function recordTraffic(file: string, writer: number, home: string | undefined): Promise<number> {
  const isServed = await serves(home);
  if (!isServed) for await (const _ of follow(file, writer)); // until it has ended
  let client: BlockSource | undefined;
  try {
    client = await openClient({ home, create: true });
    const isKept = await keep(client, follow(file, writer));
    if (isKept) rmSync(file, { force: true });
    return isKept ? EXIT.done : EXIT.failed;
  } catch {
    return EXIT.failed; // no client is left to tell; the file stays
  } finally {
    await client?.close();
  }
}

async function serves(home: string | undefined): Promise<boolean> {
  try {
    await serverClient({ home }).tools();
    return true;
  } catch {
    return false;
  }
}

/** Whether every session is stored completely. */
async function keep(client: BlockSource, lines: AsyncIterable<string>): Promise<boolean> {
  const routes = new SessionRoutes();
  const sessions = new Map<string, SessionKeeper>();
  const known = await KnownSessions.read(client);
  for await (const line of lines) {
    const routed = routes.take(line);
    if (routed === undefined) continue;
    const { session } = routed;
    const keeper =
      sessions.get(session) ?? new SessionKeeper(client, routes.agent, known.conversationOf("acp", session));
    sessions.set(session, keeper);
    await keeper.take(routed);
  }
  const kept = await Promise.all([...sessions.values()].map((keeper) => keeper.end()));
  return kept.every((each) => each);
}

/** One session on its way into its conversation. */
class SessionKeeper {
  readonly #flow = new Flow();
  readonly #kept: Promise<boolean>;
  readonly #isKnown: boolean;

  constructor(client: BlockSource, agent: string | undefined, conversation: string | undefined) {
    this.#isKnown = conversation !== undefined;
    const name = nameOf(agent);
    const query = {
      provider: "acp",
      ...(name === undefined ? {} : { agent: name }),
      ...(conversation === undefined ? {} : { conversation }),
    };
    this.#kept = client
      .ingest(query, this.#flow.body())
      .then((answer) => !isProblem(answer))
      .catch(() => false)
      .finally(() => this.#flow.giveUp());
  }

  async take({ lines, isHistory }: Routed): Promise<void> {
    // The conversation has it already.
    if (isHistory && this.#isKnown) return;
    await this.#flow.push(Buffer.from(`${lines.join("\n")}\n`));
  }

  end(): Promise<boolean> {
    this.#flow.end();
    return this.#kept;
  }
}

/** No agent of ours has a name like `@scope/name`, or one with spaces. */
function nameOf(agent: string | undefined): string | undefined {
  const name = agent
    ?.toLowerCase()
    .split("/")
    .at(-1)
    ?.replace(/[^a-z0-9._-]+/g, "-")
    .slice(0, 40);
  return name !== undefined && isAgentId(name) ? name : undefined;
}

/** The lines of a file that is being written, until its last record, or until its writer is gone. */
async function* follow(file: string, writer: number): AsyncGenerator<string> {
  while (!existsSync(file)) {
    if (!isAlive(writer)) return;
    await sleep(RECORD_LOOK_MS);
  }
  const handle = await open(file, "r");
  try {
    yield* linesOf(handle, writer);
  } finally {
    await handle.close();
  }
}

async function* linesOf(handle: FileHandle, writer: number): AsyncGenerator<string> {
  const reader = new LineReader();
  const buffer = Buffer.alloc(RECORD_READ_BYTES);
  for (let isLast = false; ; ) {
    const { bytesRead } = await handle.read(buffer, 0, RECORD_READ_BYTES);
    for (const { text } of reader.push(buffer.subarray(0, bytesRead))) {
      if (text === '{"dir":"end"}') return;
      yield text;
    }
    if (bytesRead > 0) continue;
    if (isLast) return;
    isLast = !isAlive(writer);
    if (!isLast) await sleep(RECORD_LOOK_MS);
  }
}
