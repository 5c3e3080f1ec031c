/**
 * What Codex reports about itself, queried from a separate process and cached for a while: its models with their
 * efforts, skills, limits, MCP servers, and whether somebody is logged in. How full the context is comes from the
 * conversation's last turn.
 */

import {
  type ConversationId,
  isProblem,
  type Json,
  type JsonObject,
  jsonText,
  type Kernel,
  type Problem,
} from "@blockyard/kernel";
import { isObject } from "@blockyard/providers";
import { Child } from "../../../processes/child.ts";
import { VERSION } from "../../../system/version.ts";
import { type Agent, childSpec } from "../../agents.ts";
import { NOTHING_ATTACHED } from "../../attachments.ts";
import type { ChildOptions } from "../../child-run.ts";
import type {
  AccountLimit,
  AgentCommand,
  AgentModel,
  AgentServer,
  ContextUsage,
  Login,
  Offers,
} from "../../driver.ts";
import { CODEX_COMMANDS } from "./commands.ts";
import { Connection } from "./connection.ts";
import type { FirstStart } from "./first-start.ts";
import { limits } from "./limits.ts";
import { type Usual, usualIn } from "./usual.ts";

export const LOGIN =
  "Codex is not logged in. Run `codex login` in a terminal on this machine, then send the message again.";

/** One time that it was asked. */
interface Briefing {
  readonly models: readonly AgentModel[];
  readonly skills: readonly AgentCommand[];
  readonly servers: readonly AgentServer[];
  readonly limits: readonly AccountLimit[];
  readonly login: Login;
  readonly usual: Usual;
  /** Its models are OpenAI's: others cannot be checked. */
  readonly isOpenai: boolean;
}

export class CodexTold {
  readonly #options: ChildOptions;
  readonly #agent: Agent;
  /** By folder: skills and servers may be a project's. */
  readonly #told = new Map<string, { readonly at: number; readonly told: Promise<Briefing | Problem> }>();

  readonly #starts: FirstStart;

  constructor(options: ChildOptions, agent: Agent, starts: FirstStart) {
    this.#options = options;
    this.#agent = agent;
    this.#starts = starts;
  }

  async offers(conversation: ConversationId, cwd: string): Promise<Offers | Problem> {
    const told = await this.#in(cwd, limits.offersMs);
    if (isProblem(told)) return told;
    const turns = await usageIn(this.#options.kernel, conversation);
    if (isProblem(turns)) return turns;
    const { models, skills, servers } = told;
    return {
      ...{ models, commands: [...CODEX_COMMANDS, ...skills], servers, ...turns },
      ...(told.limits.length === 0 ? {} : { limits: told.limits }),
    };
  }

  /** Asked apart from turns, whose traffic is stored: the configuration may hold secrets. */
  async usual(cwd: string): Promise<Usual | undefined> {
    const told = await this.#in(cwd, limits.offersMs);
    return isProblem(told) ? undefined : told.usual;
  }

  async login(): Promise<Login> {
    const told = await this.#in(this.#home, limits.loginMs);
    return isProblem(told) ? { state: "unknown" } : told.login;
  }

  async refusesModel(model: string | undefined, effort: string | undefined): Promise<Problem | undefined> {
    const told = await this.#in(this.#home, limits.offersMs);
    if (isProblem(told) || !told.isOpenai || told.models.length === 0) return undefined;
    const names = told.models.map(({ id }) => id);
    if (model !== undefined && !names.includes(model)) {
      const message = `Codex has no model ${model}: ${names.join(", ")}`;
      return { problem: "invalid", message, details: { models: names } };
    }
    const asked = told.models.filter(({ id }) => model === undefined || id === model);
    const efforts = [...new Set(asked.flatMap((each) => each.efforts ?? []))];
    if (effort === undefined || efforts.length === 0 || efforts.includes(effort)) return undefined;
    const message = `Codex has no effort ${effort} here: ${efforts.join(", ")}`;
    return { problem: "invalid", message, details: { efforts } };
  }

  /** In a folder without project settings or hooks. */
  get #home(): string {
    return this.#options.home ?? this.#options.root;
  }

  async #in(cwd: string, ms: number): Promise<Briefing | Problem> {
    const now = this.#options.kernel.env.monotonic();
    const known = this.#told.get(cwd);
    const { told } = known !== undefined && now - known.at <= ms ? known : { told: this.#ask(cwd) };
    if (told !== known?.told) this.#told.set(cwd, { at: now, told });
    if (this.#told.size > limits.folders) this.#told.delete(this.#told.keys().next().value ?? "");
    const said = await told;
    if (isProblem(said)) this.#told.delete(cwd);
    return said;
  }

  async #ask(cwd: string): Promise<Briefing | Problem> {
    const { kernel, tracker, env, sandbox } = this.#options;
    const request = { prompt: "", cwd, env, attached: NOTHING_ATTACHED, picturePaths: [] };
    const spec = childSpec(this.#agent, request);
    if (isProblem(spec)) return spec;
    await tracker.swept;
    const confined = (await sandbox?.confineAgent(this.#agent.kind, spec)) ?? spec;
    const leave = await this.#starts.enter();
    const child = new Child(confined, tracker, {});
    const talk = new Connection(child, kernel.env, {
      line: () => undefined,
      notified: () => undefined,
      asked: (id, method) => talk.refuse(id, `Blockyard does not answer ${method.slice(0, 100)}`),
    });
    const reading = (async () => {
      for await (const bytes of child.output()) talk.read(bytes);
      talk.end();
    })();
    const clientInfo = { name: "blockyard", title: "Blockyard", version: VERSION };
    const capabilities = { experimentalApi: true };
    const hello = await talk.request("initialize", { clientInfo, capabilities }, limits.openMs);
    leave(!isProblem(hello));
    const told = isProblem(hello) ? hello : await this.#tell(talk, cwd);
    talk.closeInput();
    const cancel = kernel.env.after(limits.answerMs, () => child.kill());
    await Promise.all([reading, child.ended]);
    cancel();
    return told;
  }

  async #tell(talk: Connection, cwd: string): Promise<Briefing | Problem> {
    talk.notify("initialized", {});
    const ask = (method: string, params: JsonObject) => talk.request(method, params, limits.answerMs);
    const [models, config, account, skills, servers, rates] = await Promise.all([
      ask("model/list", {}),
      ask("config/read", { includeLayers: false, cwd }),
      ask("account/read", { refreshToken: false }),
      ask("skills/list", { cwds: [cwd] }),
      ask("mcpServerStatus/list", { detail: "toolsAndAuthOnly" }),
      ask("account/rateLimits/read", {}),
    ]);
    if (isProblem(models)) return models;
    return {
      models: modelsIn(models),
      skills: isProblem(skills) ? [] : skillsIn(skills),
      servers: isProblem(servers) ? [] : serversIn(servers),
      limits: isProblem(rates) ? [] : limitsIn(rates["rateLimits"]),
      login: loginIn(account),
      usual: usualIn(isProblem(config) ? {} : config, models),
      isOpenai: !isProblem(account) && account["requiresOpenaiAuth"] === true,
    };
  }
}

export function isLoggedOut(account: JsonObject | Problem): boolean {
  return !isProblem(account) && account["account"] === null && account["requiresOpenaiAuth"] === true;
}

function loginIn(said: JsonObject | Problem): Login {
  if (isProblem(said)) return { state: "unknown" };
  if (isLoggedOut(said)) return { state: "out", how: LOGIN };
  const account = objectOf(said["account"]);
  const words = [account["email"], account["planType"], account["type"]].find(
    (each) => typeof each === "string",
  );
  return { state: "in", ...(typeof words === "string" ? { account: words } : {}) };
}

function modelsIn({ data }: JsonObject): readonly AgentModel[] {
  return listOf(data).flatMap((model) => {
    if (model["hidden"] === true || typeof model["model"] !== "string") return [];
    const efforts = Array.isArray(model["supportedReasoningEfforts"])
      ? listOf(model["supportedReasoningEfforts"]).map((each) => jsonText(each["reasoningEffort"]))
      : undefined;
    const name = typeof model["displayName"] === "string" ? model["displayName"] : model["model"];
    const description = typeof model["description"] === "string" ? model["description"] : undefined;
    return [{ id: model["model"], name, description, efforts }];
  });
}

function skillsIn({ data }: JsonObject): readonly AgentCommand[] {
  return listOf(data)
    .flatMap(({ skills }) => listOf(skills))
    .filter(({ enabled, name }) => enabled !== false && typeof name === "string")
    .map(({ name, description, shortDescription }) => ({
      ...{
        name: `$${jsonText(name)}`,
        description: jsonText(shortDescription ?? description ?? "").slice(0, 300),
      },
    }));
}

function serversIn({ data }: JsonObject): readonly AgentServer[] {
  return listOf(data).map(({ name, runtimeStatus, toolsError }) => {
    const state = objectOf(runtimeStatus)["type"] ?? runtimeStatus;
    const error = typeof toolsError === "string" ? { error: toolsError } : {};
    const status = typeof state === "string" ? state : "error" in error ? "failed" : "ready";
    return { name: jsonText(name), status, ...error };
  });
}

/** Sparse: what the account does not count is null. */
function limitsIn(value: Json | undefined): readonly AccountLimit[] {
  const { primary, secondary } = objectOf(value);
  return [primary, secondary].flatMap((each) => {
    const { usedPercent, windowDurationMins, resetsAt } = objectOf(each);
    if (typeof usedPercent !== "number") return [];
    const hours = typeof windowDurationMins === "number" ? Math.round(windowDurationMins / 60) : undefined;
    const name =
      hours === undefined ? "limit" : hours >= 48 ? `${Math.round(hours / 24)} days` : `${hours} hours`;
    return [{ name, usedPercent, ...(typeof resetsAt === "number" ? { resetsAt: resetsAt * 1_000 } : {}) }];
  });
}

/** The size of the last turn's last request, compared with its model's window. */
async function usageIn(
  kernel: Kernel,
  conversation: ConversationId,
): Promise<Pick<Offers, "usage" | "model"> | Problem> {
  const turns = await kernel.turns(conversation);
  if (isProblem(turns)) return turns;
  const last = turns.findLast(({ provider, native }) => provider === "codex" && isObject(native?.["last"]));
  const native = last?.native ?? {};
  const used = objectOf(native["last"])["totalTokens"];
  const window = native["modelContextWindow"];
  const usage: ContextUsage | undefined =
    typeof used === "number" && typeof window === "number"
      ? { usedTokens: used, windowTokens: window }
      : undefined;
  return {
    ...(usage === undefined ? {} : { usage }),
    ...(last?.model === undefined ? {} : { model: last.model }),
  };
}

function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonObject[]).filter(isObject) : [];
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
