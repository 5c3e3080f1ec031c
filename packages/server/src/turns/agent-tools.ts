/**
 * The tools about agents: which exist, and what each can do here. The page and the command show this, so that nobody is
 * offered what an agent cannot do.
 */

import { type Call, type Draft, isProblem, type Problem, problem, tool } from "@blockyard/kernel";
import { folderFor } from "../processes/folder.ts";
import { agentChange, agentList, agentOffers } from "./contract.ts";
import type { Offers } from "./driver.ts";
import type { DriverTable } from "./driver-table.ts";
import { checkMode, keepMode, type Mode } from "./mode.ts";
import type { AgentTask, Run } from "./run.ts";
import { keepSwitched } from "./switched.ts";
import type { Turns } from "./turns.ts";

/** `root`: the folder that the server serves. */
export function agentTools(turns: Turns, root: string) {
  const list = tool({
    ...agentList,
    description:
      "List the agents that can run turns, and what each can do here: what it asks, its modes, whether a message reaches it while " +
      "it works, what it reports. problem: why it cannot run here, and what to do.",
    access: "read",
    async run(_: Call, input) {
      return {
        agents: await Promise.all(turns.drivers.list().map((agent) => viewOf(turns, agent, input.login))),
      };
    },
  });
  const offers = tool({
    ...agentOffers,
    description:
      "Return what a conversation's agent reports: mode, model, slash commands, models with their efforts, how much of its context " +
      "is used, the limits of its account, its MCP servers, sub-agents and background tasks. Starts the agent if it is not running.",
    access: "owner",
    async run(call: Call, input) {
      const { conversation, provider, only } = input;
      if (only === "tasks") return { tasks: [...(await tasksIn(turns, conversation ?? ""))] };
      const record = conversation === undefined ? undefined : await call.kernel.conversation(conversation);
      if (isProblem(record)) return record;
      const own = record?.metadata.cwd;
      const cwd = folderFor(root, { own, whose: "conversation" });
      if (isProblem(cwd)) return cwd;
      const offered = await turns.drivers.offers(conversation ?? "", provider ?? record?.provider ?? "", cwd);
      return isProblem(offered) ? offered : (JSON.parse(JSON.stringify(offered)) as Offers);
    },
  });

  const change = tool({
    ...agentChange,
    description:
      "Change the mode or model of the agent that works in a conversation, or end one of its background tasks.",
    access: "owner",
    // A mode that edits without asking is not confirmed again.
    sensitive: () => true,
    run: (call: Call, input) => changed(call, turns, input),
  });

  return [list, offers, change] as const;
}

type Listed = ReturnType<DriverTable["list"]>[number];

/** An agent without a login cannot run: the picker, the command and `doctor` say so in the same words. */
async function viewOf(turns: Turns, { provider, abilities, problem }: Listed, isAsked: boolean | undefined) {
  const known = isAsked && problem === undefined ? await turns.drivers.login(provider) : undefined;
  const why = problem ?? (known?.state === "out" ? known.how : undefined);
  return {
    ...{ provider, abilities },
    ...(why === undefined ? {} : { problem: why }),
    ...(known === undefined ? {} : { login: JSON.parse(JSON.stringify(known)) as typeof known }),
  };
}

interface Change {
  readonly conversation: string;
  readonly mode?: Mode | undefined;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly stop_task?: string | undefined;
}

async function changed(
  { kernel, caller }: Call,
  turns: Turns,
  { conversation, mode, model, effort, stop_task: task }: Change,
) {
  const live = turns.liveIn(conversation);
  const run = live?.run;
  const isTaskAlone = task !== undefined && mode === undefined && model === undefined && effort === undefined;
  if (isTaskAlone && !(await hasTask(run, task))) return stopBetween(turns, conversation, task);
  if (!live || !run) return problem("gone", "no agent is working in this conversation");
  const driver = turns.driverIn(conversation);
  const noMode = driver && checkMode("this agent", driver, mode);
  if (noMode) return noMode;
  const unable = problem("unavailable", "this agent cannot change that while it is working");
  const done: string[] = [];
  if (mode) live.mode.chosen(mode);
  const each: [string, (() => Promise<Problem | undefined>) | undefined][] = [
    ["mode", mode && run.setMode ? () => run.setMode?.(mode) ?? Promise.resolve(unable) : undefined],
    ["model", model && run.setModel ? () => run.setModel?.(model) ?? Promise.resolve(unable) : undefined],
    [
      "effort",
      effort && run.setEffort ? () => run.setEffort?.(effort) ?? Promise.resolve(unable) : undefined,
    ],
    ["stop_task", task && run.stopTask ? () => stopped(run, task) : undefined],
  ];
  const asked = { mode, model, effort, stop_task: task };
  for (const [name, change] of each) {
    if (asked[name as keyof typeof asked] === undefined) continue;
    const refused = change === undefined ? unable : await change();
    if (refused) return refused;
    done.push(name);
  }
  const isKept = mode !== undefined || model !== undefined || effort !== undefined;
  const keep = (draft: Draft) => {
    keepMode(draft, mode);
    keepSwitched(draft, live.start.id, { model, effort });
    return null;
  };
  const kept = isKept && (await kernel.write(conversation, { agent: caller.agent, plan: keep }));
  if (isProblem(kept)) return kept;
  return { changed: done };
}

/** What agents run in the background, in a turn and between turns. */
async function tasksIn(turns: Turns, conversation: string): Promise<readonly AgentTask[]> {
  const running = (await turns.liveIn(conversation)?.run.tasks?.()) ?? [];
  return [...running, ...turns.drivers.tasks(conversation)];
}

async function hasTask(run: Run | undefined, task: string): Promise<boolean> {
  return ((await run?.tasks?.()) ?? []).some(({ id }) => id === task);
}

/** A task of an agent that waits for its next turn. Agents treat an unknown task as ended. */
async function stopBetween(turns: Turns, conversation: string, task: string) {
  const tasks = (await tasksIn(turns, conversation)).map(({ id }) => id);
  if (!tasks.includes(task)) return problem("not_found", `the agent runs no task ${task}`, { tasks });
  const refused = await turns.drivers.stopTask(conversation, task);
  return refused ?? { changed: ["stop_task"] };
}

async function stopped(run: Run, task: string): Promise<Problem | undefined> {
  if (await hasTask(run, task)) return run.stopTask?.(task);
  return problem("not_found", `the agent runs no task ${task}`);
}
