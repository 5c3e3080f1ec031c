/**
 * `blockyard attach`: a conversation whose agent works elsewhere, such as on the page, seen in this terminal and answered from it; also what
 * was asked before a restart. With an option it changes or stops the agent instead, and returns.
 */

import { MODES, type Mode } from "../turns/mode.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, EXIT } from "./command.ts";
import { openClient } from "./command-client.ts";
import { wholeId } from "./named-id.ts";

const options = {
  home: HOME_OPTION,
  json: { ...JSON_OPTION, summary: "print each finished block and the turn as lines of JSON" },
  mode: {
    type: "string",
    value: "MODE",
    summary: "change the agent's permission mode, from its next step",
    choices: MODES,
  },
  model: { type: "string", value: "NAME", summary: "change the agent's model, from its next step" },
  effort: { type: "string", value: "NAME", summary: "change the model's effort" },
  tasks: { type: "boolean", summary: "list the agent's background tasks" },
  "stop-task": { type: "string", value: "ID", summary: "stop one background task" },
  stop: { type: "boolean", summary: "stop the turn" },
  yes: { type: "boolean", short: "y", summary: "approve everything the agent asks for" },
  full: { type: "boolean", summary: "print whole results and thinking" },
} as const;

export const attach: Command = {
  name: "attach",
  usage:
    "attach <conversation> [--mode MODE] [--model NAME] [--effort NAME] [--tasks] [--stop-task ID] [--stop] [--yes] [--json]",
  summary: "watch a running agent, answer it, change or stop it",
  examples: [
    "blockyard attach k3vq2mz                 # Ctrl-C leaves; the agent keeps working",
    "blockyard attach k3vq2mz --mode edits    # it no longer asks before edits",
    "blockyard attach k3vq2mz --tasks",
    "blockyard attach k3vq2mz --stop",
  ],
  options,
  async run(args) {
    const { values, positionals } = readArguments({ name: "attach", options }, args, [
      1,
      1,
      "the id of a conversation",
    ]);
    const client = await openClient({ home: values.home, agents: true });
    try {
      const conversation = await wholeId(client, positionals[0] as string);
      const { changeAgent, listTasks, stopTurn } = await import("./agent-change.ts");
      const { mode, model, effort, "stop-task": task, json } = values;
      const change = {
        ...(mode === undefined ? {} : { mode: mode as Mode }),
        ...(model === undefined ? {} : { model }),
        ...(effort === undefined ? {} : { effort }),
        ...(task === undefined ? {} : { stop_task: task }),
      };
      const isChange = Object.keys(change).length > 0;
      if (isChange) await changeAgent(client, { conversation, ...change }, json === true);
      if (values.tasks) await listTasks(client, conversation, json === true);
      if (values.stop) return await stopTurn(client, conversation, json === true);
      if (isChange || values.tasks) return EXIT.done;
      const { follow } = await import("./attach-turn.ts");
      return await follow(client, conversation, {
        isJson: json === true,
        isFull: values.full === true,
        allowsAll: values.yes === true,
      });
    } finally {
      await client.close();
    }
  },
};
