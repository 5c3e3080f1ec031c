/**
 * `blockyard ingest`: sits in a pipe behind an agent. What comes in goes out unchanged, whatever happens here; beside that
 * it becomes blocks. If it could not be kept there, the whole stream is in a file, and the command says so.
 */

import { PROVIDER_NAMES } from "@blockyard/providers/names";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";

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
    choices: PROVIDER_NAMES,
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
    const { ingestPipe } = await import("./ingest-pipe.ts");
    return ingestPipe({
      home: values.home,
      conversation: values.conversation,
      isNew: values.new === true,
      isJson: values.json === true,
      isQuiet: values.quiet === true,
      query: given({ title: values.title, provider: values.provider, agent: values.agent }),
    });
  },
};

function given(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
