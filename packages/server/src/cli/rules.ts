/**
 * `blockyard rules`: the answers that agents get without asking, as the page lists them. Each is removed by its id; they are made
 * where an agent asks.
 */

import type { ToolAnswer } from "../contract/index.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type BlockSource, known } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { withClient } from "./command-client.ts";
import { RULE_WORDS_CHARS } from "./limits.ts";
import { lineWidth, localTime, oneLine, print, printJson, wrapped } from "./terminal.ts";

const options = { home: HOME_OPTION, json: JSON_OPTION } as const;

export const rules: Command = {
  name: "rules",
  usage: "rules [list|remove] [ID] [--json]",
  summary: "list the rules that answer agents without asking, or remove one",
  examples: ["blockyard rules", "blockyard rules remove rule-3f2a90c1"],
  options,
  choices: ["list", "remove"],
  async run(args) {
    const { values, positionals } = readArguments({ name: "rules", options }, args, [0, 2]);
    const [action = "list", id] = positionals;
    if (action !== "list" && action !== "remove")
      throw new CommandError(
        `rules cannot ${oneLine(action, RULE_WORDS_CHARS)}. Use list or remove`,
        EXIT.usage,
      );
    if (action === "list" && id !== undefined)
      throw new CommandError(
        "rules list takes no id. To remove a rule: blockyard rules remove ID",
        EXIT.usage,
      );
    if (action === "remove" && id === undefined)
      throw new CommandError("rules remove needs a rule's id. List them: blockyard rules", EXIT.usage);
    return withClient({ home: values.home, create: true }, (client) =>
      id === undefined ? list(client, values.json === true) : remove(client, id, values.json === true),
    );
  },
};

async function list(client: BlockSource, isJson: boolean): Promise<number> {
  const { rules: all } = known(await client.call("rule.list", {}));
  if (isJson) await printJson({ rules: all });
  else if (all.length === 0)
    await print("No rules. Agents ask for everything that their mode and their own settings do not allow.\n");
  else for (const rule of all) await print(`${wrapped(lineOf(rule), lineWidth(), 4)}\n`);
  return EXIT.done;
}

function lineOf({
  id,
  effect,
  words,
  conversation,
  workspace,
  by,
  at,
}: ToolAnswer<"rule.list">["rules"][number]) {
  const where = conversation === undefined ? (workspace ?? "") : `conversation ${conversation}`;
  return `${id}  ${effect.padEnd(5)}  ${oneLine(words, RULE_WORDS_CHARS)}  in ${oneLine(where, where.length)}  by ${by} ${localTime(at)}`;
}

async function remove(client: BlockSource, id: string, isJson: boolean): Promise<number> {
  const { rules: all } = known(await client.call("rule.list", {}));
  const rule = all.find((each) => each.id === id);
  if (rule === undefined)
    throw new CommandError(
      `there is no rule ${oneLine(id, RULE_WORDS_CHARS)}. List them: blockyard rules`,
      EXIT.nothing,
    );
  known(await client.call("rule.remove", { id }));
  if (isJson) await printJson({ id, removed: true });
  else
    await print(
      `Rule ${id} removed (${rule.effect} ${oneLine(rule.words, RULE_WORDS_CHARS)}). Agents ask again.\n`,
    );
  return EXIT.done;
}
