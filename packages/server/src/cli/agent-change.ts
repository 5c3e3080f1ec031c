/** What `blockyard attach` does to an agent that works: mode, model and effort, its background tasks, its end. */

import { plural } from "@blockyard/kernel/plain";
import type { ToolInput } from "../contract/index.ts";
import { visibleName } from "../processes/visible.ts";
import { type BlockSource, known } from "./block-source.ts";
import { EXIT } from "./command.ts";
import { print, printJson } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

const WORDS: Readonly<Record<string, string>> = {
  mode: "Mode",
  model: "Model",
  effort: "Effort",
  stop_task: "Stopped task",
};

export async function changeAgent(
  client: BlockSource,
  input: ToolInput<"agent.change">,
  isJson: boolean,
): Promise<void> {
  const answer = known(await client.call("agent.change", input));
  if (isJson) return printJson(answer);
  const { conversation: _conversation, ...changes } = input;
  for (const [name, value] of Object.entries(changes)) await print(`${WORDS[name]}: ${value}\n`);
}

export async function listTasks(client: BlockSource, conversation: string, isJson: boolean): Promise<void> {
  const { tasks = [] } = known(await client.call("agent.offers", { conversation, only: "tasks" }));
  if (isJson) return printJson({ tasks });
  if (tasks.length === 0) return print("Nothing is running in the background.\n");
  for (const { id, description } of tasks) await print(`${visibleName(id)}  ${visibleName(description)}\n`);
  await print(`\nStop one: ${asTyped(`blockyard attach ${conversation} --stop-task ID`)}\n`);
}

/** The exit code. */
export async function stopTurn(client: BlockSource, conversation: string, isJson: boolean): Promise<number> {
  const answer = known(await client.call("turn.stop", { conversation }));
  const { stopped, held } = answer;
  if (isJson) await printJson(answer);
  else if (stopped === 0) await print("Nothing is running in this conversation.\n");
  else await print(`Stopped.${heldText(held)}\n`);
  return stopped === 0 ? EXIT.nothing : EXIT.done;
}

function heldText(held: number): string {
  if (held === 0) return "";
  return ` ${plural(held, "queued message")} ${held === 1 ? "was" : "were"} not sent: send or remove ${held === 1 ? "it" : "them"} on the page.`;
}
