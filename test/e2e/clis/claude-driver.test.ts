/**
 * The real Claude Code over its control protocol, with the scripted model: its asks, the answers that reach the model,
 * messages while it works, modes, and a process that stays alive between turns.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findMarked } from "../../../packages/server/src/processes/child-mark.ts";
import { homeMark } from "../../../packages/server/src/processes/process-tracker.ts";
import { type Asked, call, type Script, type Step, say } from "../../model/script.ts";
import { BARE_PATH } from "../server.ts";
import { fetchCli } from "./fetch.ts";
import { Lab, type LabBlock } from "./lab.ts";

const claude = await fetchCli("claude");
const why = "missing" in claude ? ` (not run: ${claude.missing})` : "";
const program = "program" in claude ? claude.program : "";

let lab: Lab;
beforeAll(async () => {
  if (why === "") lab = await Lab.open("claude", program);
});
afterAll(() => lab?.close());

/** What the model was asked last, as text. */
function lastRequest(): string {
  return JSON.stringify(lab.model.asked.at(-1)?.body);
}

function asking(conversation: string): Promise<LabBlock> {
  return lab.wait("it to ask", async () =>
    (await lab.blocks(conversation)).find(({ metadata }) => metadata.ask?.state === "asked"),
  );
}

async function answer({ block_id, metadata }: LabBlock, given: object): Promise<void> {
  await lab.server.do("turn.answer", { block_id, ask_id: metadata.ask.id, ...given });
}

/** The model writes its plan to the file that it was told, and asks to leave the plan mode. */
function plans(content: string): Script {
  const steps: Step[] = [{ parts: [call("ExitPlanMode", {})] }, say("Doing it.")];
  let isWritten = false;
  return ({ body }: Asked) => {
    if (isWritten) return steps.shift() ?? say("More.");
    isWritten = true;
    const file_path = /\/[^\s"\\]+\/plans\/[\w-]+\.md/.exec(JSON.stringify(body))?.[0] ?? "";
    return { parts: [call("Write", { file_path, content })] };
  };
}

describe.skipIf(why !== "")(`Claude Code over its control protocol${why}`, () => {
  it("[D51] the model receives exactly the labels that were chosen", async () => {
    const conversation = await lab.conversation();
    const questions = [
      {
        ...{ question: "Which library?", header: "Library", multiSelect: false },
        options: [
          { label: "luxon", description: "small" },
          { label: "temporal", description: "new" },
        ],
      },
      {
        ...{ question: "Which parts?", header: "Parts", multiSelect: true },
        options: [
          { label: "Search", description: "s" },
          { label: "Export, import", description: "e" },
        ],
      },
    ];
    const { turn } = await lab.start(conversation, "Ask me", [
      { parts: [call("AskUserQuestion", { questions })] },
      say("Understood."),
    ]);
    const ask = await asking(conversation);
    expect(ask.metadata.ask).toMatchObject({ kind: "question", questions: [{ id: "1" }, { id: "2" }] });
    const chosen = { 1: { chosen: ["temporal"] }, 2: { chosen: ["Search", "Export, import"] } };
    await answer(ask, { allow: true, answer: { questions: chosen } });
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "done" });
    const results = lastRequest();
    expect(results).toContain('\\"Which library?\\"=\\"temporal\\"');
    expect(results).toContain('\\"Which parts?\\"=\\"Search, \\"Export, import\\"\\"');
  });

  it("[D55] a message after the second of five tools is in the next request, and its block stands there", async () => {
    const conversation = await lab.conversation();
    const wait = (n: number) => ({
      parts: [call("Bash", { command: `sleep 1; echo tool-${n}`, description: `Tool ${n}` })],
    });
    const { turn } = await lab.start(conversation, "Five tools", [
      wait(1),
      wait(2),
      wait(3),
      wait(4),
      wait(5),
      say("All five."),
    ]);
    await lab.wait("the second tool", async () => {
      await lab.answer(conversation, true);
      const calls = (await lab.blocks(conversation)).filter(({ kind }) => kind === "tool_call");
      return calls.length >= 2 && calls[1]?.metadata.stage === "running" ? true : undefined;
    });
    const before = lab.model.asked.length;
    const sent = { conversation, provider: "claude", prompt: "Also say hello", when: "next" };
    await lab.server.do("turn.start", sent);
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "done" });
    const first = lab.model.asked.findIndex(({ body }) => JSON.stringify(body).includes("Also say hello"));
    expect(first - before).toBeLessThanOrEqual(1);
    const blocks = await lab.blocks(conversation);
    const said = blocks.filter(({ role, metadata }) => role === "user" && metadata.notice !== "queued");
    expect(said.map(({ content }) => content)).toEqual(["Five tools", "Also say hello"]);
    const main = blocks.filter(({ kind, metadata }) => kind !== "command" && metadata.notice !== "queued");
    const place = main.findIndex(({ content }) => content === "Also say hello");
    expect(main.slice(0, place).filter(({ kind }) => kind === "tool_call").length).toBeLessThan(5);
    expect(main.slice(place).some(({ kind }) => kind === "tool_call")).toBe(true);
  });

  it("[D53] a plan is edited and approved; the model reads it as it was edited", async () => {
    const conversation = await lab.conversation();
    const { turn } = await lab.start(conversation, "Plan it", plans("# Plan\n\n1. Write\n"), {
      mode: "plan",
    });
    const ask = await asking(conversation);
    expect(ask.metadata.ask).toMatchObject({ kind: "plan" });
    const operations = [{ op: "replace", start_line: 2, end_line: 3, content: "1. Write and test" }];
    await lab.server.do("block.edit", { block_id: ask.metadata.ask.plan, operations });
    await answer(ask, { allow: true, answer: { suggestion: "accept-edits" } });
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "done" });
    expect(lastRequest()).toContain("1. Write and test");
  });

  it("[D56] what a terminal has gone on with is known to the next turn, also where a process waits for that", async () => {
    const conversation = await lab.conversation();
    const first = await lab.turn(conversation, "Remember the plum", [say("I do.")]);
    lab.model.play([say("The pear too.")]);
    const env = { ...lab.env, PATH: BARE_PATH };
    const args = ["-p", "--resume", first.session_id ?? "", "And the pear, from the terminal"];
    await promisify(execFile)(program, args, { cwd: lab.work, env });
    expect(await lab.turn(conversation, "What was it?", [say("Both.")])).toMatchObject({ status: "done" });
    expect(lastRequest()).toContain("Remember the plum");
    expect(lastRequest()).toContain("And the pear, from the terminal");
    // The conversation says so, once, without the words: anything that runs here could write them.
    const notices = async () =>
      (await lab.blocks(conversation)).filter(({ metadata }) => metadata.notice === "elsewhere");
    expect((await notices()).map(({ role, content }) => [role, content])).toEqual([
      ["system", expect.stringMatching(/^1 prompt and 1 answer in another program\..*claude --resume /)],
    ]);
    await lab.turn(conversation, "And now?", [say("Nothing else.")]);
    expect(await notices()).toHaveLength(1);
  });

  it("[D52] a rule that was suggested is kept: the next call of its kind is not asked", async () => {
    const conversation = await lab.conversation();
    const touch = (name: string) => ({
      parts: [call("Bash", { command: `mkdir -p ${name}`, description: name })],
    });
    const { turn } = await lab.start(conversation, "Make folders", [
      touch("one"),
      touch("two"),
      say("Made."),
    ]);
    const ask = await asking(conversation);
    const mode = ask.metadata.ask.suggestions.find((each: { label: string }) =>
      each.label.startsWith("Accept all edits"),
    );
    await answer(ask, { allow: true, answer: { suggestion: mode.id } });
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "done" });
    const asks = (await lab.blocks(conversation)).flatMap(({ metadata }) => metadata.ask ?? []);
    expect(asks).toMatchObject([{ state: "allowed", answer: { suggestion: mode.id } }]);
  });

  it("[D56] the process lives on: the second turn starts at least three times as fast, and tells what it offers", async () => {
    const conversation = await lab.conversation();
    const took = async (prompt: string) => {
      const since = performance.now();
      const asked = lab.model.asked.length;
      const { turn } = await lab.start(conversation, prompt, [say("Yes.")]);
      await lab.model.askedTimes(asked + 1);
      const ms = performance.now() - since;
      expect(await lab.over(conversation, turn)).toMatchObject({ status: "done" });
      return ms;
    };
    const first = await took("One");
    const second = await took("Two");
    expect(first / second).toBeGreaterThan(3);
    const offers = await lab.server.do("agent.offers", { conversation });
    expect(offers.commands.length).toBeGreaterThan(5);
    expect(offers.models.length).toBeGreaterThan(0);
    expect(offers.usage.windowTokens).toBeGreaterThan(1_000);
  });

  it("[D99] a turn without a choice has the default model and effort again, in the same process", async () => {
    const conversation = await lab.conversation();
    const asked: unknown[] = [];
    for (const chosen of [{}, { model: "sonnet", effort: "high" }, {}]) {
      const { turn } = await lab.start(conversation, "Hello", [say("Yes.")], chosen);
      expect(await lab.over(conversation, turn)).toMatchObject({ status: "done" });
      const { model, body } = lab.model.asked.at(-1) as Asked;
      asked.push([model, body["output_config"]]);
    }
    const [first, second, third] = asked;
    expect(second).toEqual([expect.stringContaining("sonnet"), { effort: "high" }]);
    expect(first).not.toEqual(second);
    expect(third).toEqual(first);

    // A resumed session has the model that was chosen last.
    await lab.turn(conversation, "Hello", [say("Yes.")]);
    const { turn } = await lab.start(conversation, "Hello", [say("Yes.")], { model: "sonnet" });
    await lab.over(conversation, turn);
    await lab.server.stop();
    await lab.startAgain();
    await lab.turn(conversation, "Hello", [say("Yes.")]);
    expect(lab.model.asked.at(-1)?.model).toBe((first as unknown[])[0]);
  });

  it("[D96] an agent in the background is waited for, and what it reports is gone on with", async () => {
    const conversation = await lab.conversation();
    const task = { description: "Survey", prompt: "Survey it", subagent_type: "general-purpose" };
    const { turn } = await lab.start(conversation, "Survey in the background", (asked) => {
      const said = JSON.stringify(asked.body);
      // Longer than a process gets that has said its last word.
      if (!said.includes("Survey in the background"))
        return said.includes("tool_result")
          ? say("All is well.")
          : { parts: [call("Bash", { command: "sleep 12", description: "Wait" })] };
      if (said.includes("All is well.")) return say("The survey says: all is well.");
      if (said.includes("tool_result")) return say("It is under way.");
      return { parts: [call("Agent", { ...task, run_in_background: true })] };
    });
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "done" });
    const texts = await lab.wait("its report", async () => {
      await lab.answer(conversation, true);
      const said = (await lab.blocks(conversation))
        .filter(({ kind }) => kind === "text")
        .map(({ content }) => content);
      return said.some((each) => each.includes("The survey says")) ? said : undefined;
    });
    expect(texts).toContain("It is under way.");
    const calls = (await lab.blocks(conversation)).filter(({ kind }) => kind === "tool_call");
    expect(calls.map(({ status }) => status)).toEqual(["done", "done"]);
  });

  it("[C27] [D96] agents in the background of a second turn end it once, and are paid for once", async () => {
    const conversation = await lab.conversation();
    const first = await lab.start(conversation, "Say hello", () => say("Hello."));
    expect(await lab.over(conversation, first.turn)).toMatchObject({ status: "done" });
    const ask = (name: string) =>
      call("Agent", {
        ...{ description: name, prompt: `${name} it`, subagent_type: "general-purpose" },
        run_in_background: true,
      });
    const { turn } = await lab.start(conversation, "Look twice", (asked) => {
      const said = JSON.stringify(asked.body);
      if (!said.includes("Look twice"))
        return said.includes("tool_result") || said.includes("Review it")
          ? say("All is well.")
          : { parts: [call("Bash", { command: "sleep 2", description: "Wait" })] };
      return said.includes("tool_result") ? say("Looked.") : { parts: [ask("Survey"), ask("Review")] };
    });
    const turns = await lab.wait("all of it to end", async () => {
      await lab.answer(conversation, true);
      const all = await lab.turns(conversation);
      const { tasks = [] } = await lab.server.do("agent.offers", { conversation });
      return tasks.length === 0 && all.every(({ status }) => status !== "running") ? all : undefined;
    });
    expect(turns.map((each) => each.turn)).toContain(turn);
    expect(turns.map(({ status }) => status)).toEqual(turns.map(() => "done"));
    const kinds = (await lab.blocks(conversation)).map(({ kind }) => kind);
    expect(kinds).not.toContain("error");
    // The last result states what the whole session has cost.
    const spent = turns.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0);
    const stated = Math.max(...turns.map(({ native }) => native?.total_cost_usd ?? 0));
    expect(spent).toBeCloseTo(stated, 9);
  });

  it("[D98] a server that is killed while an agent works in the background leaves what was spent, as the least", async () => {
    const conversation = await lab.conversation();
    const task = { description: "Survey", prompt: "Survey it", subagent_type: "general-purpose" };
    const { turn } = await lab.start(conversation, "Survey and be killed", (asked) => {
      const said = JSON.stringify(asked.body);
      if (!said.includes("Survey and be killed"))
        return { parts: [call("Bash", { command: "sleep 600", description: "Wait" })] };
      if (said.includes("tool_result")) return say("It is under way.");
      return { parts: [call("Agent", { ...task, run_in_background: true })] };
    });
    const spent = await lab.wait("what was spent", async () => {
      await lab.answer(conversation, true);
      return (await lab.turns(conversation)).find(({ cost_usd }) => cost_usd !== undefined);
    });
    expect(spent).toMatchObject({ turn, status: "running" });
    await lab.server.kill();
    await lab.startAgain();
    const [left] = await lab.turns(conversation);
    expect(left).toMatchObject({ reason: "interrupted", cost_usd: spent.cost_usd, uncounted: true });
  });

  it("[D56] [D97] a command in the background outlives its turn, a stop and the next turn, and its end wakes the agent", async () => {
    const conversation = await lab.conversation();
    const mark = join(lab.folder, "goes-on");
    const command = `echo up; while [ ! -e ${mark} ]; do sleep 0.1; done; echo down`;
    const { turn } = await lab.start(conversation, "Serve", [
      { parts: [call("Bash", { command, description: "Serve", run_in_background: true })] },
      say("It serves."),
    ]);
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "done" });
    const of = async (kind: string) => (await lab.blocks(conversation)).find((block) => block.kind === kind);
    const tasks = async () => (await lab.server.do("agent.offers", { conversation, only: "tasks" })).tasks;
    expect(await tasks()).toMatchObject([{ description: "Serve" }]);
    const held = Promise.withResolvers<void>();
    const stopped = await lab.start(conversation, "Talk", [
      say("A long story.", { hold: { after: 4, until: held.promise } }),
    ]);
    await lab.wait("it to talk", async () =>
      (await lab.blocks(conversation)).find(
        ({ content, role }) => role === "model" && content.startsWith("A"),
      ),
    );
    await lab.server.do("turn.stop", { conversation });
    held.resolve();
    const ended = await lab.over(conversation, stopped.turn);
    // What was read for the answer is known, and neither what it said nor what it cost.
    expect(ended).toMatchObject({
      status: "error",
      reason: "cancelled",
      uncounted: true,
      usage: { output: 0 },
    });
    expect([ended.cost_usd, (ended.usage?.input ?? 0) > 0]).toEqual([undefined, true]);
    expect(await lab.turn(conversation, "Go on", [say("Going on.")])).toMatchObject({ status: "done" });
    expect([await tasks(), (await of("command"))?.status]).toEqual([[expect.anything()], "running"]);
    const before = await lab.turns(conversation);
    lab.model.play([say("It has ended.")]);
    writeFileSync(mark, "");
    const own = await lab.over(conversation, await lab.newTurn(conversation, before));
    expect(own).toMatchObject({ status: "done", session_id: ended.session_id });
    expect(await of("command")).toMatchObject({ status: "done", metadata: { exitCode: 0 } });
    expect((await lab.blocks(conversation)).at(-1)).toMatchObject({ content: "It has ended." });
    expect(await tasks()).toEqual([]);
  });

  it("[D97] a command in the background is stopped between turns, and ends with the server", async () => {
    const conversation = await lab.conversation();
    const serve = (name: string) =>
      call("Bash", { command: `sleep 600; echo ${name}`, description: name, run_in_background: true });
    await lab.turn(conversation, "Serve", [{ parts: [serve("one"), serve("two")] }, say("Both.")]);
    const tasks = async () => (await lab.server.do("agent.offers", { conversation, only: "tasks" })).tasks;
    const [first] = await tasks();
    const refused = { conversation, stop_task: "nothing" };
    expect((await lab.server.call("agent.change", refused)).body).toMatchObject({ problem: "not_found" });
    await lab.server.do("agent.change", { conversation, stop_task: first.id });
    await lab.wait("it to end", async () => ((await tasks()).length === 1 ? true : undefined));
    const commands = async () =>
      (await lab.blocks(conversation))
        .filter(({ kind }) => kind === "command")
        .map(({ status, metadata }) => [status, metadata.reason]);
    expect(await commands()).toEqual([
      ["error", "cancelled"],
      ["running", undefined],
    ]);
    await lab.server.kill();
    await lab.wait("nothing of it to be left", async () =>
      (await findMarked(homeMark(lab.home))).length === 0 ? true : undefined,
    );
    await lab.startAgain();
    expect(await commands()).toEqual([
      ["error", "cancelled"],
      ["error", "interrupted"],
    ]);
  });

  it("[D56] a process that was killed between turns is started again, with its session", async () => {
    const conversation = await lab.conversation();
    const mark = homeMark(join(lab.folder, "data"));
    const others = await findMarked(mark);
    const first = await lab.turn(conversation, "Remember blue", [say("Blue.")]);
    for (const pid of (await findMarked(mark)).filter((each) => !others.includes(each)))
      process.kill(pid, "SIGKILL");
    const second = await lab.turn(conversation, "Which colour?", [say("Blue it was.")]);
    expect(second).toMatchObject({ status: "done", session_id: first.session_id });
    expect(lastRequest()).toContain("Remember blue");
  });

  it("[D57] the mode is changed while it works", async () => {
    const conversation = await lab.conversation();
    const write = (name: string) => ({
      parts: [call("Write", { file_path: join(lab.work, name), content: "x\n" })],
    });
    const { turn } = await lab.start(conversation, "Write", [
      write("m1.txt"),
      write("m2.txt"),
      say("Written."),
    ]);
    const ask = await asking(conversation);
    await lab.server.do("agent.change", { conversation, mode: "edits" });
    await answer(ask, { allow: true });
    expect(await lab.over(conversation, turn)).toMatchObject({ status: "done" });
    const asks = (await lab.blocks(conversation)).flatMap(({ metadata }) => metadata.ask ?? []);
    expect(asks.length).toBe(1);
  });
});
