/**
 * `blockyard run`: one turn of an agent, seen in the terminal while it happens and kept as blocks. The agent works in the
 * conversation's folder, a new conversation in this one. One that is not inside what the server serves is asked for.
 */

import { ALLOWANCES, type Allowance } from "../access/allowance.ts";
import { AGENTS } from "../turns/agents.ts";
import { acpAgents } from "../turns/drivers/acp/agents.ts";
import { MODES, type Mode } from "../turns/mode.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type Command, CommandError, EXIT } from "./command.ts";

/** Agents of ours, which run no program. */
const OWN_LOOP = ["anthropic", "openai"];

const PROVIDERS = [...AGENTS.keys(), ...acpAgents(process.env).map(({ provider }) => provider), ...OWN_LOOP];

const options = {
  home: HOME_OPTION,
  json: { ...JSON_OPTION, summary: "print each finished block and the turn as lines of JSON" },
  conversation: { type: "string", short: "c", value: "ID", summary: "continue this conversation" },
  model: { type: "string", value: "NAME", summary: "the model to use" },
  effort: {
    type: "string",
    value: "NAME",
    summary: "the model's effort, one of those the page lists for it",
  },
  title: { type: "string", value: "TEXT", summary: "title of a new conversation" },
  mode: {
    type: "string",
    value: "MODE",
    summary: "the agent's permission mode (default: the conversation's last one)",
    choices: MODES,
  },
  now: { type: "boolean", summary: "send it into the running turn, at the agent's next step" },
  fresh: { type: "boolean", summary: "share no earlier messages with the agent" },
  allow: {
    type: "string",
    multiple: true,
    value: "WHAT",
    summary: "let anthropic and openai do this without approval",
    choices: ALLOWANCES,
  },
  cwd: {
    type: "string",
    value: "DIR",
    summary: "the folder to work in (default: the conversation's, or this one)",
  },
  yes: { type: "boolean", short: "y", summary: "approve everything the agent asks for" },
  trust: {
    type: "boolean",
    summary: "trust the folder's hooks, MCP servers and instructions as they are now",
  },
  full: { type: "boolean", summary: "print whole results and thinking" },
} as const;

export const run: Command = {
  name: "run",
  usage:
    'run <agent> "prompt" [-c ID] [--now] [--cwd DIR] [--mode MODE] [--model NAME] [--effort NAME] [--allow WHAT]… [--trust] [--yes] [--json]',
  summary: "run an agent and watch it work",
  examples: [
    'blockyard run claude "why does the login test fail?"',
    'blockyard run codex "fix it" -c k3vq2mz        # continues the conversation',
    'blockyard run claude "skip the docs" -c k3vq2mz --now   # the agent reads it while it works',
    'blockyard run anthropic "tidy src/" --allow read --allow write',
  ],
  options,
  choices: PROVIDERS,
  async run(args) {
    const { values, positionals } = readArguments({ name: "run", options }, args, [
      2,
      2,
      "an agent and a prompt",
    ]);
    const [provider, prompt] = positionals as [string, string];
    if (!PROVIDERS.includes(provider))
      throw new CommandError(`unknown agent ${provider}. Choose one of ${PROVIDERS.join(", ")}`, EXIT.usage);
    if (values.allow !== undefined && !OWN_LOOP.includes(provider))
      throw new CommandError(
        `--allow is for ${OWN_LOOP.join(" and ")}. For ${provider}, use --mode or --yes`,
        EXIT.usage,
      );
    if (prompt.trim() === "") throw new CommandError("the prompt is empty", EXIT.usage);
    const { runTurn } = await import("./run-turn.ts");
    return runTurn(values.home, {
      provider,
      prompt,
      given: values.conversation,
      title: values.title ?? "",
      cwd: values.cwd,
      trusts: values.trust === true,
      request: {
        ...(values.model === undefined ? {} : { model: values.model }),
        ...(values.effort === undefined ? {} : { effort: values.effort }),
        ...(values.mode === undefined ? {} : { mode: values.mode as Mode }),
        ...(values.now === true ? { when: "next" as const } : {}),
        ...(values.fresh === undefined ? {} : { fresh: values.fresh }),
        ...(values.allow === undefined ? {} : { allow: values.allow as readonly Allowance[] }),
      },
      shown: {
        isJson: values.json === true,
        isFull: values.full === true,
        allowsAll: values.yes === true,
      },
    });
  },
};
