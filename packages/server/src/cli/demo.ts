/**
 * `blockyard demo`: three scripted agents edit one file at the same time, over HTTP with their own tokens, while anyone
 * who opens the link may type in it too. At the end it checks that nothing was lost.
 *
 * It has its own server, workspace and data directory, which are removed afterwards; with --here it uses the running
 * server and its workspace. demo/ has the agents.
 */

import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { printJson } from "./terminal.ts";

const USUAL_SECONDS = 30;
const MOST_SECONDS = 3_600;
const options = {
  home: HOME_OPTION,
  json: { ...JSON_OPTION, summary: "print only the result, as JSON" },
  seconds: { type: "string", value: "N", summary: `how long the agents run (default: ${USUAL_SECONDS})` },
  here: { type: "boolean", summary: "use the running server and its workspace; the file stays there" },
  stay: { type: "boolean", summary: "keep the demo's server running until Ctrl-C" },
} as const;

export const demo: Command = {
  name: "demo",
  usage: "demo [--seconds N] [--here] [--stay] [--json]",
  summary: "watch three scripted agents edit one file at once, and join in",
  examples: [
    "blockyard demo",
    "blockyard demo --seconds 120 --stay     # then look around",
    "blockyard demo --seconds 5 --json | jq .ok",
  ],
  options,
  async run(args) {
    const { values } = readArguments({ name: "demo", options }, args, [0, 0]);
    const seconds = Number(values.seconds ?? USUAL_SECONDS);
    if (!(seconds > 0 && seconds <= MOST_SECONDS))
      throw new CommandError(`--seconds takes a number up to ${MOST_SECONDS}`, EXIT.usage);
    if (values.here && values.stay)
      throw new CommandError(
        "--stay works only without --here: the running server keeps running anyway",
        EXIT.usage,
      );
    const { conclude, DEMO_PATH, ownStage, play, runningStage, stay } = await import("./demo-stage.ts");
    const stage = values.here ? runningStage(values.home) : await ownStage();
    const stopped = new AbortController();
    const stop = () => stopped.abort();
    process.once("SIGINT", stop).once("SIGTERM", stop);
    try {
      const verdict = await play(stage, seconds, values.json === true, stopped.signal);
      if (values.json) await printJson({ ...verdict, seconds, path: DEMO_PATH });
      else await conclude(verdict);
      if (values.stay && !stopped.signal.aborted) await stay(stage, stopped.signal);
      if (!verdict.ok) return EXIT.failed;
      return stopped.signal.aborted && !values.stay ? EXIT.interrupted : EXIT.done;
    } finally {
      process.off("SIGINT", stop).off("SIGTERM", stop);
      await stage.close();
    }
  },
};
