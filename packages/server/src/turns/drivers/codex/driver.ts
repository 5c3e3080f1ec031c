/**
 * Codex as a provider of turns: over its app-server, or, where that is older than can be steered, as `codex exec`.
 *
 * One process per turn. Which of the two a program needs is found out by asking it, and remembered for as long as the file is
 * the same.
 */

import { statSync } from "node:fs";
import {
  type ConversationId,
  isProblem,
  type JsonObject,
  type Kernel,
  type Problem,
  problem,
} from "@blockyard/kernel";
import { isObject, providers } from "@blockyard/providers";
import { Child } from "../../../processes/child.ts";
import { VERSION } from "../../../system/version.ts";
import { AGENTS, type Agent, type AgentRequest, childSpec, STREAM } from "../../agents.ts";
import { fileText, NOTHING_ATTACHED, pictureFiles, readAttachments } from "../../attachments.ts";
import { type ChildOptions, childDriver } from "../../child-run.ts";
import type { Abilities, AgentModel, ContextUsage, Driver, Offers } from "../../driver.ts";
import { openingOf } from "../../opening.ts";
import type { Run, TurnRequest, TurnStart } from "../../run.ts";
import { SecondTry } from "../../second-try.ts";
import { Connection } from "./connection.ts";
import { limits } from "./limits.ts";
import { CodexRun } from "./run.ts";

const ABILITIES: Abilities = {
  ...STREAM,
  asks: ["permission", "question", "elicitation"],
  rules: true,
  modes: ["plan", "ask", "edits", "full"],
  steering: "step",
  midTurn: ["model"],
  models: true,
  usage: true,
};

export function codexDriver(options: ChildOptions): Driver {
  const exec = AGENTS.get("codex") as Agent;
  const agent: Agent = { ...exec, abilities: ABILITIES, talks: true, args: () => ["app-server"] };
  const old = childDriver(exec, options);
  /** Programs that have no app-server, as they were when that was found out. */
  const unfit = new Set<string>();
  const offers = new OfferCache(options, agent);
  return {
    provider: "codex",
    abilities: ABILITIES,
    check: (request) => {
      const spec = childSpec(agent, requestOf(options, request));
      return isProblem(spec) ? spec : undefined;
    },
    async start(start) {
      const stamp = stampOf(options, agent, start.request);
      if (stamp !== undefined && unfit.has(stamp)) return old.start(start);
      const first = await beginRun(agent, options, start);
      if (isProblem(first)) return first;
      return new SecondTry(
        {
          ...bound(first),
          get isLost() {
            return first.isLost || first.needsExec;
          },
        },
        () => {
          if (!first.needsExec) return beginRun(agent, options, start, true);
          if (stamp !== undefined) unfit.add(stamp);
          return old.start(start);
        },
      );
    },
    offers: (conversation, cwd) => offers.of(conversation, cwd),
  };
}

/** The functions of a run, to be called on it. */
function bound(run: CodexRun): Run {
  return {
    ended: run.ended,
    stop: (reason) => run.stop(reason),
    kill: (reason) => run.kill(reason),
    asks: (ask) => run.asks(ask),
    answer: (answer) => run.answer(answer),
    send: (message) => run.send(message),
    setModel: (model) => run.setModel(model),
  };
}

/** With `isLost`, none of the agent's sessions is there any more. */
async function beginRun(
  agent: Agent,
  options: ChildOptions,
  start: TurnStart,
  isLost = false,
): Promise<CodexRun | Problem> {
  const { kernel, offspring } = options;
  const { request } = start;
  const opening = await openingOf(kernel, agent, start, isLost);
  if (isProblem(opening)) return opening;
  const { session, told } = opening;
  const provider = providers.get("codex-app-server");
  if (!provider) return problem("unavailable", "there is no adapter for the app-server of Codex");
  const given = await readAttachments(kernel.store, request.attachments ?? []);
  if (isProblem(given)) return given;
  const asked = requestOf(options, request, session);
  const spec = childSpec(agent, asked);
  if (isProblem(spec)) return spec;
  const files = pictureFiles([...told.pictures, ...given.pictures]);
  await offspring.swept;
  const confined = (await options.sandbox?.confineAgent(agent.kind, spec, files.paths)) ?? spec;
  const { cwd, model } = asked;
  const run = new CodexRun(options, start, {
    provider,
    spec: confined,
    wanted: { cwd, model, mode: request.mode, session },
    input: { texts: [told.text, ...given.files.map(fileText), request.prompt], picturePaths: files.paths },
    told: told.text,
  });
  void run.ended.then(() => files.remove());
  return run;
}

function requestOf(
  { root, env }: ChildOptions,
  { prompt, model, cwd = root }: TurnRequest,
  session?: string,
): AgentRequest {
  return {
    ...{ prompt, cwd, env, attached: NOTHING_ATTACHED, picturePaths: [] },
    ...(model === undefined ? {} : { model }),
    ...(session === undefined ? {} : { session }),
  };
}

/** The program, and whether it is still the same one. */
function stampOf(options: ChildOptions, agent: Agent, request: TurnRequest): string | undefined {
  const spec = childSpec(agent, requestOf(options, request));
  if (isProblem(spec)) return undefined;
  const stat = statSync(spec.file, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${spec.file} ${stat.mtimeMs} ${stat.size}`;
}

/** What Codex offers: its models, asked of a process of its own and remembered for a while, and how full its context is. */
class OfferCache {
  readonly #options: ChildOptions;
  readonly #agent: Agent;
  #models: { readonly at: number; readonly models: Promise<readonly AgentModel[] | Problem> } | undefined;

  constructor(options: ChildOptions, agent: Agent) {
    this.#options = options;
    this.#agent = agent;
  }

  async of(conversation: ConversationId, cwd: string): Promise<Offers | Problem> {
    const { kernel } = this.#options;
    const now = kernel.env.monotonic();
    if (this.#models === undefined || now - this.#models.at > limits.offersMs)
      this.#models = { at: now, models: this.#ask(cwd) };
    const models = await this.#models.models;
    if (isProblem(models)) {
      this.#models = undefined;
      return models;
    }
    const turns = await usageIn(kernel, conversation);
    return isProblem(turns) ? turns : { models, ...turns };
  }

  async #ask(cwd: string): Promise<readonly AgentModel[] | Problem> {
    const { kernel, offspring, env, sandbox } = this.#options;
    const spec = childSpec(this.#agent, {
      prompt: "",
      cwd,
      env,
      attached: NOTHING_ATTACHED,
      picturePaths: [],
    });
    if (isProblem(spec)) return spec;
    await offspring.swept;
    const child = new Child((await sandbox?.confineAgent(this.#agent.kind, spec)) ?? spec, offspring, {});
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
    const hello = await talk.request(
      "initialize",
      { clientInfo, capabilities: { experimentalApi: true } },
      limits.openMs,
    );
    if (!isProblem(hello)) talk.notify("initialized", {});
    const listed = isProblem(hello) ? hello : await talk.request("model/list", {}, limits.answerMs);
    talk.closeInput();
    const cancel = kernel.env.after(limits.answerMs, () => child.kill());
    await Promise.all([reading, child.ended]);
    cancel();
    return isProblem(listed) ? listed : modelsIn(listed);
  }
}

function modelsIn({ data }: JsonObject): readonly AgentModel[] {
  const listed = Array.isArray(data) ? (data as readonly JsonObject[]) : [];
  return listed.filter(isObject).flatMap((model) => {
    if (model["hidden"] === true || typeof model["model"] !== "string") return [];
    const efforts = Array.isArray(model["supportedReasoningEfforts"])
      ? (model["supportedReasoningEfforts"] as readonly JsonObject[]).map((each) =>
          String(each["reasoningEffort"]),
        )
      : undefined;
    const name = typeof model["displayName"] === "string" ? model["displayName"] : model["model"];
    const description = typeof model["description"] === "string" ? model["description"] : undefined;
    return [{ id: model["model"], name, description, efforts }];
  });
}

/** What the last request of the last turn held, against the window of its model. */
async function usageIn(
  kernel: Kernel,
  conversation: ConversationId,
): Promise<Pick<Offers, "usage" | "model"> | Problem> {
  const turns = await kernel.turns(conversation);
  if (isProblem(turns)) return turns;
  const last = turns.findLast(({ provider, native }) => provider === "codex" && isObject(native?.["last"]));
  const native = last?.native ?? {};
  const used = isObject(native["last"]) ? native["last"]["totalTokens"] : undefined;
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
