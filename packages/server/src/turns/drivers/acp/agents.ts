/**
 * The agents that are run over the Agent Client Protocol: those that are known, and those of the user's settings. One line adds
 * an agent, in the environment or in the file `credentials` of the data directory:
 *
 *     BLOCKYARD_ACP_GOOSE=goose acp
 *
 * makes `goose` an agent that is started with these words. For a known agent the line replaces how it is started. Claude Code and
 * Codex are not here: their own protocols say more.
 */

import { type Problem, problem } from "@blockyard/kernel/plain";
import { type ChildSpec, findCommand } from "../../../processes/child.ts";
import { childEnvironment } from "../../../processes/child-env.ts";
import type { Abilities } from "../../driver.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface AcpAgent {
  /** The name of the agent in turns. */
  readonly provider: string;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** How to get it; undefined where only the user knows. */
  readonly install?: string;
  /** Variables of the server's environment that are its own: keys, addresses, switches. */
  readonly variables?: RegExp;
  /** How it differs from any agent that speaks ACP; an unknown agent's session states that. */
  readonly abilities?: Partial<Abilities>;
  /** It requests messages while it works, by this method. */
  readonly drains?: string;
}

const PRESETS: readonly AcpAgent[] = [
  {
    provider: "opencode",
    command: ["opencode", "acp"],
    install: "npm install -g opencode-ai",
    variables: /^(OPENCODE|ANTHROPIC|OPENAI|GEMINI|GOOGLE|OPENROUTER|GROQ|XAI|MISTRAL|DEEPSEEK)_[A-Z0-9_]+$/,
    abilities: { asks: ["permission"], modes: ["plan", "ask"] },
  },
  {
    provider: "gemini",
    command: ["gemini", "--acp"],
    install: "npm install -g @google/gemini-cli",
    variables: /^(GEMINI|GOOGLE)_[A-Z0-9_]+$/,
    abilities: { asks: ["permission", "plan"], resumes: false, usage: false, efforts: false },
  },
  {
    provider: "qwen",
    command: ["qwen", "--acp"],
    install: "npm install -g @qwen-code/qwen-code",
    variables: /^(QWEN|DASHSCOPE|OPENAI)_[A-Z0-9_]+$/,
    abilities: { asks: ["permission", "plan"], steering: "step", efforts: false },
    drains: "craft/drainMidTurnQueue",
  },
  {
    provider: "copilot",
    command: ["copilot", "--acp"],
    install: "npm install -g @github/copilot",
    variables: /^(COPILOT_[A-Z0-9_]+|GH_TOKEN|GITHUB_TOKEN)$/,
    abilities: {
      asks: ["permission"],
      modes: ["plan", "ask", "full"],
      models: false,
      midTurn: ["mode"],
      efforts: false,
    },
  },
  {
    provider: "kimi",
    command: ["kimi", "acp"],
    install: "npm install -g @moonshot-ai/kimi-code",
    variables: /^(KIMI|MOONSHOT)_[A-Z0-9_]+$/,
    abilities: { asks: ["permission", "plan", "elicitation"], modes: ["plan", "ask", "full"] },
  },
];

/** Names that other drivers have. */
const TAKEN = /^(claude|codex|anthropic|openai|replay|acp)$/;

/** Known agents, and those that the environment names. */
export function acpAgents(env: Environment): readonly AcpAgent[] {
  const named = Object.entries(env).flatMap(([name, line]) => {
    const provider = /^BLOCKYARD_ACP_([A-Z0-9_]{1,40})$/.exec(name)?.[1]?.toLowerCase().replaceAll("_", "-");
    const command = wordsOf(line ?? "");
    if (provider === undefined || command.length === 0 || TAKEN.test(provider)) return [];
    return [{ ...PRESETS.find((each) => each.provider === provider), provider, command }];
  });
  const others = PRESETS.filter(({ provider }) => !named.some((each) => each.provider === provider));
  return [...others, ...named];
}

/** The setting for how it is started. */
export function acpVariable({ provider }: Pick<AcpAgent, "provider">): string {
  return `BLOCKYARD_ACP_${provider.toUpperCase().replaceAll("-", "_")}`;
}

/** Words between blanks; quotes hold a word together. No shell reads the line. */
export function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  return words.map(([, double, single, plain]) => double ?? single ?? plain ?? "");
}

/** How to start it, or how to get it. */
export function acpSpec(agent: AcpAgent, cwd: string, env: Environment): ChildSpec | Problem {
  const [name = "", ...args] = agent.command;
  const file = findCommand(name, env["PATH"], cwd);
  if (file !== undefined) return { file, args, cwd, env: childEnvironment("acp", env, agent.variables) };
  const variable = acpVariable(agent);
  const how = agent.install === undefined ? "" : `Install it with \`${agent.install}\`, or set`;
  return problem(
    "unavailable",
    `${name} was not found. ${how === "" ? "Set" : how} ${variable} to its command line, and restart Blockyard`,
    { command: name, ...(agent.install === undefined ? {} : { install: agent.install }) },
  );
}
