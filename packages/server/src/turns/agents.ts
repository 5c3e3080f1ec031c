/**
 * The agents that run as child processes: how each is found, started, prompted and resumed. The providers package reads their
 * output; turns.ts decides when a turn starts and ends.
 */

import { type Problem, problem } from "@blockyard/kernel/plain";
import { type ChildSpec, findCommand } from "../processes/child.ts";
import { type ChildKind, childEnvironment } from "../processes/child-env.ts";
import { type Attached, fileText } from "./attachments.ts";
import type { Abilities } from "./driver.ts";

export interface AgentRequest {
  readonly prompt: string;
  /** What it is told of the conversation first. */
  readonly told?: string;
  readonly model?: string;
  /** The provider's session to go on with. */
  readonly session?: string;
  /** With a copy of it, up to here. */
  readonly cut?: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly attached: Attached;
  /** The pictures as files, where the agent takes paths. */
  readonly picturePaths: readonly string[];
}

export interface Agent {
  readonly provider: string;
  /** Which variables it gets. */
  readonly kind: ChildKind;
  /** The command's name, and the environment variable that overrides it. */
  readonly command: string;
  readonly variable: string;
  readonly install: string;
  readonly abilities: Abilities;
  args(request: AgentRequest): readonly string[];
  /** What it reads first. */
  input(request: AgentRequest): string;
  /** Its input stays open, for answers to what it asks; it is closed when its turn has ended. */
  readonly talks: boolean;
  /** It takes pictures as paths of files. */
  readonly takesPaths: boolean;
  /** What it says where it does not have the session any more with which it should go on. */
  readonly lost: RegExp;
}

/** What an agent can do that prints a stream and ends with its turn. */
export const STREAM: Abilities = {
  resumes: true,
  staysAlive: false,
  asks: [],
  rules: false,
  modes: ["ask"],
  sandboxes: [],
  steering: "turn",
  midTurn: [],
  stopsTasks: false,
  commands: false,
  models: false,
  usage: false,
  efforts: false,
  limits: false,
  servers: false,
};

export const AGENTS: ReadonlyMap<string, Agent> = new Map(
  (
    [
      {
        provider: "claude",
        kind: "claude",
        command: "claude",
        variable: "BLOCKYARD_CLAUDE",
        install: "npm install -g @anthropic-ai/claude-code",
        abilities: { ...STREAM, asks: ["permission", "question", "plan"] },
        talks: true,
        takesPaths: false,
        lost: /No conversation found with session ID|No message found with message\.uuid/,
        args: ({ model, session, cut }) => [
          "-p",
          "--output-format=stream-json",
          "--verbose",
          "--include-partial-messages",
          "--input-format=stream-json",
          "--permission-prompt-tool=stdio",
          ...(model === undefined ? [] : [`--model=${model}`]),
          ...(session === undefined ? [] : [`--resume=${session}`]),
          ...(cut === undefined ? [] : [`--resume-session-at=${cut}`, "--fork-session"]),
        ],
        input: ({ prompt, told, attached: { files, pictures } }) => {
          const content = [
            ...(told === undefined ? [] : [{ type: "text", text: told }]),
            ...pictures.map(({ mediaType, bytes }) => ({
              type: "image",
              source: { type: "base64", media_type: mediaType, data: Buffer.from(bytes).toString("base64") },
            })),
            ...files.map((file) => ({ type: "text", text: fileText(file) })),
            { type: "text", text: prompt },
          ];
          const message = { role: "user", content };
          return `${JSON.stringify({ type: "user", message })}\n`;
        },
      },
      {
        provider: "codex",
        kind: "codex",
        command: "codex",
        variable: "BLOCKYARD_CODEX",
        install: "npm install -g @openai/codex",
        abilities: STREAM,
        talks: false,
        takesPaths: true,
        lost: /no rollout found for thread id/,
        // An option for pictures takes all words that follow; another option ends it.
        args: ({ model, session, picturePaths }) => {
          const pictures = picturePaths.map((path) => `--image=${path}`);
          return [
            "exec",
            ...(session === undefined ? pictures : []),
            "--json",
            "--skip-git-repo-check",
            ...(model === undefined ? [] : [`--model=${model}`]),
            ...(session === undefined ? [] : ["resume", ...pictures, session]),
            "-",
          ];
        },
        input: ({ prompt, told, attached }) =>
          [...(told === undefined ? [] : [told]), ...attached.files.map(fileText), prompt].join("\n\n"),
      },
    ] satisfies Agent[]
  ).map((agent) => [agent.provider, agent]),
);

/** How to start it, or how to get it. */
export function childSpec(agent: Agent, request: AgentRequest): ChildSpec | Problem {
  const refused = checkNames(request);
  if (refused) return refused;
  const named = request.env[agent.variable] ?? agent.command;
  const file = findCommand(named, request.env["PATH"], request.cwd);
  if (file === undefined) {
    return problem(
      "unavailable",
      `${named} was not found. Install it with \`${agent.install}\`, or set ${agent.variable} to its path, and restart Blockyard`,
      { command: named, install: agent.install },
    );
  }
  const env = childEnvironment(agent.kind, request.env);
  return { file, args: agent.args(request), cwd: request.cwd, env };
}

/** Values that become arguments: no option can be smuggled in, and nothing that is no name. */
function checkNames({ model, session, cut }: AgentRequest): Problem | undefined {
  for (const [name, value] of Object.entries({ model, session, cut })) {
    if (value !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._:/@[\]-]{0,199}$/.test(value)) {
      return problem(
        "invalid",
        `${name} can contain only letters, digits and . _ : / @ [ ] -, and must start with a letter or digit`,
      );
    }
  }
  return undefined;
}
