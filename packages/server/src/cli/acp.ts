/**
 * `blockyard acp -- AGENT …`: sits between an editor and its agent. Their traffic passes unchanged; a separate process
 * (acp-record.ts) turns a copy into conversations, so that nothing that happens there affects the two.
 */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { makeConfig, prepareHome } from "../config/config.ts";
import { makeFolder } from "../system/folder.ts";
import type { Ended, TrafficFile } from "./acp-tee.ts";
import { HOME_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";

const options = {
  home: HOME_OPTION,
  record: {
    type: "string",
    value: "FILE",
    summary: "store the traffic in FILE as conversations (started by the command itself)",
  },
  watch: { type: "string", value: "PID", summary: "with --record: the process that writes the file" },
} as const;

export const acp: Command = {
  name: "acp",
  usage: "acp [--home DIR] -- AGENT [ARGUMENTS]",
  summary: "run an ACP agent for your editor and record the session",
  examples: ["blockyard acp -- opencode acp", "blockyard acp -- gemini --acp"],
  options,
  async run(args) {
    const end = args.indexOf("--");
    const { values } = readArguments(
      { name: "acp", options },
      end === -1 ? args : args.slice(0, end),
      [0, 0],
    );
    if (values.record !== undefined) {
      const { recordTraffic } = await import("./acp-record.ts");
      return recordTraffic(values.record, Number(values.watch), values.home);
    }
    const [command, ...rest] = end === -1 ? [] : args.slice(end + 1);
    if (command === undefined)
      throw new CommandError("acp needs the agent's command after --. Try: blockyard help acp", EXIT.usage);
    const { TrafficFile, tee } = await import("./acp-tee.ts");
    const ended = await tee(
      command,
      rest,
      trafficFile(values.home, (path) => new TrafficFile(path)),
    );
    return leave(ended);
  },
};

/** Where the copy goes; undefined where there is no place for it. */
function trafficFile(home: string | undefined, open: (path: string) => TrafficFile): TrafficFile | undefined {
  try {
    const config = makeConfig({ env: process.env, ...(home === undefined ? {} : { home }) });
    prepareHome(config.home);
    const folder = join(config.home, "unfinished");
    makeFolder(folder);
    const name = `acp-${new Date().toISOString().replace(/[:.]/g, "-")}-${process.pid}.jsonl`;
    const file = open(join(folder, name));
    startRecorder(file.path, config.home);
    return file;
  } catch {
    return undefined; // the agent matters more
  }
}

function startRecorder(file: string, home: string): void {
  const program = process.argv[1] ?? "";
  const args = [...process.execArgv, program, "acp", "--home", home, "--record", file];
  const recorder = spawn(process.execPath, [...args, "--watch", String(process.pid)], {
    detached: true,
    stdio: "ignore",
  });
  recorder.on("error", () => undefined);
  recorder.unref();
}

/** As the agent ended: its exit code, or its signal. */
function leave({ code, signal }: Ended): number {
  if (signal === null) return code ?? EXIT.failed;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  return EXIT.failed;
}
