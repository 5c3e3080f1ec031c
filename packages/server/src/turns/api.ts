/**
 * Turns of our own loop: a provider's API, the built-in tools, the workspace, joined into a driver. Which APIs there are
 * is a line each here.
 */

import type {
  Ask,
  AskSubject,
  AskSuggestion,
  Json,
  Kernel,
  Matcher,
  Problem,
  ToolSchema,
} from "@blockyard/kernel";
import { isProblem } from "@blockyard/kernel";
import type { LoopFiles } from "../files/loop-files.ts";
import type { Secrets } from "../ingest/secrets.ts";
import type { ProcessTracker } from "../processes/process-tracker.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Abilities, Driver } from "./driver.ts";
import { ANSWER_TOKENS } from "./limits.ts";
import { anthropicApi } from "./loop/anthropic.ts";
import type { ApiSource, Environment } from "./loop/api.ts";
import { LoopRun } from "./loop/loop.ts";
import { openaiApi } from "./loop/openai.ts";
import { blockTools, type CallTable } from "./loop/tools/blocks.ts";
import { workspaceTools } from "./loop/tools/index.ts";
import { Workspace } from "./loop/tools/workspace.ts";
import type { Place as RulePlace } from "./rules/rules.ts";

export interface ApiOptions {
  readonly kernel: Kernel;
  readonly root: string;
  /** The server's own folder: no tool reads or writes there. */
  readonly home: string;
  readonly env: Environment;
  readonly tracker: ProcessTracker;
  readonly matcher: Matcher;
  readonly sandbox?: Sandbox;
  /** The one tool table, called as an agent. */
  readonly schemas: () => readonly ToolSchema[];
  readonly call: (
    agent: string,
    name: string,
    input: unknown,
    permitted: readonly string[],
  ) => Promise<Json | Problem>;
  /** The workspace's files as blocks, edited under an agent's name. */
  readonly files?: (agent: string) => LoopFiles;
  readonly onFault: (what: string, error: unknown) => void;
  readonly silentMs?: number | undefined;
  readonly suggest?: (ask: Ask, cwd: string) => readonly AskSuggestion[];
  /** The rule that denies something, as text, if there is one. */
  readonly denied?: (subject: AskSubject, place: RulePlace) => string | undefined;
  /** Removes secrets from stored text. */
  readonly secrets?: Secrets | undefined;
}

export const APIS: readonly ApiSource[] = [anthropicApi, openaiApi];

/** Our loop asks for approval itself, and knows the conversation itself. */
const ABILITIES: Abilities = {
  resumes: false,
  staysAlive: false,
  asks: ["permission"],
  rules: true,
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

export function apiDriver(source: ApiSource, options: ApiOptions): Driver {
  const { kernel, root, home, env, tracker, matcher } = options;
  const { provider } = source;
  const files = options.files?.(provider);
  const workspace = new Workspace({ root, closed: [home], ...(files ? { files } : {}) });
  return {
    provider,
    abilities: ABILITIES,
    folder: root,
    check: () => {
      const api = source.open(env);
      return isProblem(api) ? api : undefined;
    },
    async start(start) {
      const api = source.open(env);
      if (isProblem(api)) return api;
      await tracker.swept;
      const call: CallTable = (name, input, permitted) => options.call(provider, name, input, permitted);
      return new LoopRun(
        {
          kernel,
          api,
          tools: [...workspaceTools, ...blockTools(options.schemas(), call)],
          context: { workspace, env, matcher, tracker, sandbox: options.sandbox },
          maxTokens: maxTokensOf(env),
          silentMs: options.silentMs,
          onFault: options.onFault,
          suggest: (ask) => options.suggest?.(ask, root) ?? [],
          denied: (subject) =>
            options.denied?.(subject, { conversation: start.request.conversation, cwd: root }),
          secrets: options.secrets,
        },
        start,
      );
    },
  };
}

function maxTokensOf(env: Environment): number {
  const said = Number(env["BLOCKYARD_MAX_TOKENS"]);
  return Number.isInteger(said) && said > 0 ? said : ANSWER_TOKENS;
}
