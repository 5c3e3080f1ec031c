/**
 * A command's way to the blocks: through the server if one runs, else by opening the database itself, under the store's
 * lock. The same calls either way; a command does not know which it is. While a server has the database nobody else opens
 * it, and while a command has it a server waits: the lock decides, never the file with the server's address. A database on a
 * server has no such lock: it is for several.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExportLine, Json } from "@blockyard/kernel";
import { isProblem, type Problem, problem } from "@blockyard/kernel/plain";
import { makeConfig } from "../config/config.ts";
import { useCredentials } from "../config/credentials-file.ts";
import type { Imported } from "../import/body-import.ts";
import { readAddress } from "../system/address-file.ts";
import { isAlive } from "../system/process-alive.ts";
import { type BlockSource, known } from "./block-source.ts";
import { type ServerClient, serverClient, TokenRefused } from "./client.ts";
import { CommandError } from "./command.ts";
import { HEALTH_MS, LOCK_STEP_MS, LOCK_WAIT_MS } from "./limits.ts";
import { sendBody } from "./send-body.ts";

interface ClientOptions {
  readonly home?: string | undefined;
  /** The folder in which agents work; the present one by default. */
  readonly root?: string;
  /** Creates the database if there is none yet. */
  readonly create?: boolean;
  /** The command runs or follows agents: without a server none runs yet, and turns that a killed one left open end. */
  readonly agents?: boolean;
  /** How long it waits for others that have the database open. */
  readonly waitMs?: number;
}

export async function openClient(options: ClientOptions = {}): Promise<BlockSource> {
  const { home, root, waitMs = LOCK_WAIT_MS } = options;
  const config = makeConfig({
    env: process.env,
    ...(home === undefined ? {} : { home }),
    ...(root === undefined ? {} : { root }),
  });
  useCredentials(config.credentials);
  // By the clock: asking a server that hangs takes longer than waiting.
  for (const began = performance.now(); ; ) {
    const remote = await remoteClient(config.home);
    if (remote) return remote;
    // Only who opens the database itself needs the parts that do so.
    const { localClient } = await import("./local-client.ts");
    const local = await localClient(config, {
      create: options.create === true,
      agents: options.agents === true,
    });
    if (local) return local;
    if (performance.now() - began >= waitMs) throw new CommandError(whyInUse(config.home));
    await sleep(LOCK_STEP_MS);
  }
}

function whyInUse(home: string): string {
  const server = readAddress(home);
  if (server !== undefined && isAlive(server.pid)) {
    const fix =
      "It may be busy: try again. If that does not help, stop that process and start it again: blockyard";
    return `the server at ${server.local ?? server.url} (process ${server.pid}) does not answer. ${fix}`;
  }
  const fix =
    "Wait for it to finish, or start the server (blockyard), which lets several commands work at once";
  return `another blockyard command is using the database in ${home}. ${fix}`;
}

/** Runs something with the blocks, then releases them. */
export async function withClient<T>(
  options: ClientOptions,
  work: (client: BlockSource) => Promise<T>,
): Promise<T> {
  const client = await openClient(options);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Undefined if no server answers. */
async function remoteClient(home: string): Promise<BlockSource | undefined> {
  const isNamed = Boolean(process.env["BLOCKYARD_URL"]);
  if (!isNamed && !existsSync(join(home, "server.json"))) return undefined;
  const client = await answering(home);
  if (client === "silent") {
    if (!isNamed) return undefined;
    throw new CommandError(`no server answers at ${process.env["BLOCKYARD_URL"]}`);
  }
  const { url, token } = client;
  return {
    call: client.call,
    async *lines(conversation) {
      const body = JSON.stringify({ conversation });
      const response = await client.fetch("/v1/tools/conversation.export", { method: "POST", body });
      for await (const line of jsonLines(response)) yield known(line as ExportLine | Problem);
    },
    async *raw(conversation) {
      const path = `/v1/conversations/${encodeURIComponent(conversation)}/export?format=raw`;
      const response = await client.fetch(path);
      if (!response.ok) known((await response.json()) as Problem);
      if (response.body) yield* response.body;
    },
    ingest: (query, body) => sendBody(`${url}/v1/ingest?${new URLSearchParams(query)}`, token, body),
    import: async (body) => importedOf(await sendBody(`${url}/v1/import`, token, body)),
    close: async () => undefined,
  };
}

async function answering(home: string): Promise<ServerClient | "silent"> {
  try {
    const client = serverClient({ home });
    const { status } = await client.fetch("/health", { signal: AbortSignal.timeout(HEALTH_MS) });
    // 503: it runs, and waits for its database.
    if (status < 300 || status === 503) return client;
    if (status === 401) throw new TokenRefused(client.url);
    return "silent";
  } catch (error) {
    if (error instanceof TokenRefused) throw error;
    return "silent";
  }
}

async function* jsonLines(response: Response): AsyncGenerator<unknown> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  for await (const bytes of response.body ?? []) {
    const lines = decoder.decode(bytes as Uint8Array, { stream: true }).split("\n");
    pieces.push(lines[0] as string);
    for (const line of lines.slice(1)) {
      const whole = pieces.join("");
      if (whole !== "") yield JSON.parse(whole);
      pieces = [line];
    }
  }
  const last = pieces.join("");
  if (last !== "") yield JSON.parse(last);
}

async function importedOf(answer: Json | Problem): Promise<Imported | Problem> {
  if (isProblem(answer)) return answer;
  const { importedSchema } = await import("../import/body-import.ts");
  const parsed = importedSchema.safeParse(answer);
  return (
    parsed.data ??
    problem("unavailable", "unexpected answer to an import. Does the server run another version?")
  );
}
