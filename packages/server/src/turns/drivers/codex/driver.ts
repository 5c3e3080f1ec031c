/**
 * Codex as a provider of turns: over its app-server, or, where that is older than can be steered, as `codex exec`.
 *
 * One process per turn. Which of the two a program needs is found out by asking it, and remembered for as long as the file is
 * the same.
 */

import { statSync } from "node:fs";
import { type ConversationId, isProblem, type Kernel, type Problem, problem } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { AGENTS, type Agent, type AgentRequest, childSpec, STREAM } from "../../agents.ts";
import { fileText, NOTHING_ATTACHED, pictureFiles, readAttachments } from "../../attachments.ts";
import { type ChildOptions, childDriver } from "../../child-run.ts";
import type { Abilities, Driver } from "../../driver.ts";
import { SANDBOXES } from "../../mode.ts";
import { openingOf } from "../../opening.ts";
import type { TurnRequest, TurnStart } from "../../run.ts";
import { SecondTry, type Trial } from "../../second-try.ts";
import { commandIn } from "./commands.ts";
import { FirstStart } from "./first-start.ts";
import { CodexTold } from "./offers.ts";
import { CodexRun } from "./run.ts";
import type { Wanted } from "./settings.ts";

const CODEX_ABILITIES: Abilities = {
  ...STREAM,
  asks: ["permission", "question", "elicitation"],
  rules: true,
  modes: ["plan", "ask", "edits", "full"],
  sandboxes: [...SANDBOXES],
  steering: "step",
  // Only with Codex's own feature `step_model_switching`, which is off by default.
  midTurn: [],
  stopsTasks: true,
  commands: true,
  models: true,
  usage: true,
  efforts: true,
  limits: true,
  servers: true,
};

export function codexDriver(options: ChildOptions): Driver {
  const exec = AGENTS.get("codex") as Agent;
  const agent: Agent = { ...exec, abilities: CODEX_ABILITIES, talks: true, args: () => ["app-server"] };
  const old = childDriver(exec, options);
  /** Programs without an app-server, as they were when that was found. */
  const unfit = new Set<string>();
  const starts = new FirstStart();
  const told = new CodexTold(options, agent, starts);
  const live = new Map<ConversationId, CodexRun>();
  return {
    provider: "codex",
    abilities: CODEX_ABILITIES,
    check: (request) => {
      const spec = childSpec(agent, requestOf(options, request));
      return isProblem(spec) ? spec : undefined;
    },
    async start(start) {
      const stamp = stampOf(options, agent, start.request);
      if (stamp !== undefined && unfit.has(stamp)) return old.start(start);
      const begin = async (isLost: boolean) => {
        const run = await beginRun({ agent, options, starts, told }, start, isLost);
        if (isProblem(run)) return run;
        const { conversation } = start.request;
        live.set(conversation, run);
        void run.ended.then(() => live.get(conversation) === run && live.delete(conversation));
        return run;
      };
      const first = await begin(false);
      if (isProblem(first)) return first;
      return new SecondTry(bound(first), () => {
        if (!first.needsExec) return begin(true);
        if (stamp !== undefined) unfit.add(stamp);
        return old.start(start);
      });
    },
    refusesModel: ({ model, effort }) => told.refusesModel(model, effort),
    login: () => told.login(),
    async offers(conversation, cwd) {
      const offers = await told.offers(conversation, cwd);
      const tasks = await live.get(conversation)?.tasks();
      return isProblem(offers) || tasks === undefined ? offers : { ...offers, tasks };
    },
  };
}

/** Binds the functions of a run. State that it learns later is read at call time: a copy would not have it. */
function bound(run: CodexRun): Trial {
  return {
    ended: run.ended,
    stop: (reason) => run.stop(reason),
    kill: (reason) => run.kill(reason),
    asks: (ask) => run.asks(ask),
    answer: (answer) => run.answer(answer),
    send: (message) => run.send(message),
    get limit() {
      return run.limit;
    },
    get isLost() {
      return run.isLost || run.needsExec;
    },
    setModel: (model) => run.setModel(model),
    setEffort: (effort) => run.setEffort(effort),
    tasks: () => run.tasks(),
    stopTask: (task) => run.stopTask(task),
  };
}

interface Place {
  readonly agent: Agent;
  readonly options: ChildOptions;
  readonly starts: FirstStart;
  readonly told: CodexTold;
}

/** With `isLost`, all of the agent's sessions are gone. */
async function beginRun(
  { agent, options, starts, told: facts }: Place,
  start: TurnStart,
  isLost: boolean,
): Promise<CodexRun | Problem> {
  const { kernel, tracker } = options;
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
  await tracker.swept;
  const confined = (await options.sandbox?.confineAgent(agent.kind, spec, files.paths)) ?? spec;
  const { cwd } = asked;
  const chosen = await chosenOf(kernel, facts, request, asked);
  const opened = await starts.enter();
  const run = new CodexRun(options, start, {
    provider,
    spec: confined,
    wanted: { cwd, ...chosen, mode: request.mode, sandbox: request.sandbox, session },
    command: commandIn(request.prompt),
    input: { texts: [told.text, ...given.files.map(fileText), request.prompt], picturePaths: files.paths },
    told: told.text,
    opened: () => opened(true),
  });
  void run.ended.then(() => opened(false));
  void run.ended.then(() => files.remove());
  return run;
}

/** The model and the effort of a turn: where an earlier turn of its thread may have had others, the defaults are named. */
async function chosenOf(
  kernel: Kernel,
  facts: CodexTold,
  { conversation, effort }: TurnRequest,
  { cwd, model, session }: AgentRequest,
): Promise<Pick<Wanted, "model" | "effort">> {
  const record = session === undefined ? undefined : await kernel.conversation(conversation);
  const isSwitched = !isProblem(record) && record?.metadata.switched !== undefined;
  const isNamed = model !== undefined && effort !== undefined;
  const usual = isSwitched && !isNamed ? await facts.usual(cwd) : undefined;
  const now = model ?? usual?.model;
  return { model: now, effort: effort ?? usual?.effort(now) };
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
