/**
 * `blockyard [folder]`: runs the server and prints the link. The server is loaded when it is started: for help and for bad arguments this
 * file is enough.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { isProblem } from "@blockyard/kernel/plain";
import type { Running } from "../app/serve.ts";
import { makeConfig } from "../config/config.ts";
import { useCredentials } from "../config/credentials-file.ts";
import { jsonLog, type Log } from "../system/log.ts";
import { DATABASE_OPTION, HOME_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { DRAIN_MS, REPLAY_END_MS, STOP_MS } from "./limits.ts";
import { asTyped } from "./typed-command.ts";

const options = {
  home: HOME_OPTION,
  port: { type: "string", value: "N", summary: "the port to listen on (default: 4567; 0: any free port)" },
  host: {
    type: "string",
    value: "ADDRESS",
    summary: "the address to listen on (default: 127.0.0.1); others need a certificate",
  },
  cert: { type: "string", value: "FILE", summary: "TLS certificate (PEM)" },
  key: { type: "string", value: "FILE", summary: "TLS key (PEM)" },
  origin: {
    type: "string",
    value: "URL",
    summary: "the page's public URL behind a proxy, such as https://blockyard.example.org",
  },
  database: DATABASE_OPTION,
  nats: {
    type: "string",
    value: "URL",
    summary: "the NATS server that connects nodes on one database; or BLOCKYARD_NATS",
  },
  "full-access": {
    type: "boolean",
    summary: "allow full access mode, in which agents do everything without asking",
  },
  demo: { type: "boolean", summary: "replay the recorded sessions" },
} as const;

export const serveCommand: Command = {
  name: "serve",
  usage:
    "serve [folder] [--port N] [--home DIR] [--host ADDRESS --cert FILE --key FILE] [--origin URL] " +
    "[--database URL] [--nats URL] [--full-access] [--demo]",
  summary: "run the server for a folder (default: this one) and print the link to its page",
  examples: [
    "blockyard",
    "blockyard ~/code/shop --port 4600",
    "blockyard --origin https://blockyard.example.org     # behind a proxy",
    "blockyard --demo     # replays recorded sessions",
  ],
  options,
  run: runServe,
};

async function runServe(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArguments({ name: "serve", options }, args, [0, 1]);
  const config = makeConfig({
    env: process.env,
    ...(values.home === undefined ? {} : { home: values.home }),
    ...(positionals[0] === undefined ? {} : { root: positionals[0] }),
    ...(values.host === undefined ? {} : { host: values.host }),
    ...(values.port === undefined ? {} : { port: portOf(values.port) }),
    ...(values.cert === undefined ? {} : { cert: values.cert }),
    ...(values.key === undefined ? {} : { key: values.key }),
    ...(values.origin === undefined ? {} : { origin: values.origin }),
    ...(values.database === undefined ? {} : { database: values.database }),
    ...(values.nats === undefined ? {} : { nats: values.nats }),
    ...(values["full-access"] === true ? { fullAccess: true } : {}),
  });
  useCredentials(config.credentials);
  const log = jsonLog((line) => process.stderr.write(line), Date.now);
  surviveFaults(log);
  const { serve } = await import("../app/serve.ts");
  const running = await start(() => serve(config, log), config.port);
  const stopped = stopSignal(); // before anything is printed: a reader may press Ctrl-C at once
  process.stdout.write(
    `\n  Blockyard is running for ${config.root}\n\n  Open  ${running.link}\n\n  ${asTyped("Press Ctrl-C to stop. The link works once; for another: blockyard link")}\n\n`,
  );
  for (const note of running.notes) process.stdout.write(`  Note: ${note}\n\n`);
  const playing = new AbortController();
  const shown = showSomething(running, values.demo === true, playing.signal, log);
  await stopped;
  process.stdout.write("\n  Stopping: saving open work.\n");
  playing.abort();
  const force = setTimeout(() => process.exit(1), STOP_MS);
  force.unref();
  // It writes, and should have ended before the store does; where the store fails, it never would.
  await Promise.race([shown, sleep(REPLAY_END_MS, undefined, { ref: false })]);
  const failed = await running.stop();
  clearTimeout(force);
  // A stale address misleads nobody: commands check whether its process lives.
  const code = failed.every((part) => part === "address") ? EXIT.done : EXIT.failed;
  // What still pauses before it asks the store again asks a closed one: nothing is lost by not waiting for it.
  setTimeout(() => process.exit(code), DRAIN_MS).unref();
  return code;
}

/**
 * The last resort: an uncaught error of one request, turn or connection is a bug of ours, and no reason to end all the
 * others. Everything acknowledged is durable, and half-done work does not count.
 */
function surviveFaults(log: Log): void {
  const report = (where: string) => (error: unknown) =>
    log("error", "internal error", { where, error: String((error as Error)?.stack ?? error) });
  process.on("unhandledRejection", report("unhandled rejection"));
  process.on("uncaughtException", report("uncaught exception"));
}

function portOf(text: string): number {
  const port = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new CommandError(
    `--port takes a number up to 65535, not ${text}\nTry: blockyard help serve`,
    EXIT.usage,
  );
}

async function start(run: () => Promise<Running>, port: number): Promise<Running> {
  try {
    return await run();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    throw new CommandError(
      `port ${port} is in use, perhaps by another Blockyard. Choose another: blockyard --port ${port + 1}`,
    );
  }
}

/**
 * An empty workspace shows recorded sessions at once, so that there is something to see before any agent is set up.
 * Never rejects: a store that fails meanwhile costs the recordings, not the server.
 */
async function showSomething(
  { store, kernel, auth }: Running,
  always: boolean,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  try {
    const there = await store.conversations({ limit: 1 });
    if (there.length > 0 && !always) return;
    const { RECORDINGS, replay } = await import("../turns/replay.ts");
    const begun = await Promise.all(
      RECORDINGS.map((each) => replay(kernel, each, auth.ownerAgent, 1, signal)),
    );
    const ends = begun.map(async (each) => (isProblem(each) ? each : each.done));
    for (const cut of await Promise.all(ends))
      if (cut) log("warn", "a recorded session is truncated", { why: cut.message });
  } catch (error) {
    log("error", "the recorded sessions could not be replayed", {
      why: String((error as Error)?.message ?? error),
    });
  }
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
}
