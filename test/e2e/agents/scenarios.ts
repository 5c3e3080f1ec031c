/**
 * What every agent has to show, each as a real program against the scripted model: a row of the matrix each. A scenario throws where
 * the agent fails it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Script, say } from "../../model/script.ts";
import type { LabBlock } from "../clis/lab.ts";
import type { Question } from "./agents.ts";
import { check, type TestHarness } from "./harness.ts";
import type { Begun } from "./owner.ts";

export interface Scenario {
  readonly name: string;
  run(harness: TestHarness): Promise<void>;
}

const never = new Promise<void>(() => undefined);

const rule: Scenario = {
  name: "permission with a rule",
  async run(harness) {
    const { agent } = harness;
    const touch = { parts: [agent.shell("touch ruled.txt")] };
    const { conversation, turn } = await harness.begin("Touch it twice", [touch, touch, say("Done.")]);
    const ask = await harness.asking(conversation);
    const own = ask.metadata.ask.suggestions.find(({ id }: { id: string }) => id.startsWith("rule-"));
    check(own !== undefined, "no rule is offered");
    const chosen =
      ask.metadata.ask.suggestions.find(({ id }: { id: string }) => id === "rule-conversation") ?? own;
    await harness.answer(ask, { allow: true, answer: { suggestion: chosen.id } });
    const end = await harness.over(conversation, turn);
    check(end.status === "done", `the turn ended with ${JSON.stringify(end)}`);
    const [first, second] = await harness.asks(conversation);
    check(
      first.state === "allowed" && first.answeredBy !== undefined,
      "the first was not answered by the owner",
    );
    check(
      second.state === "allowed" && second.rule?.includes("touch ruled.txt"),
      `not by the rule: ${JSON.stringify(second)}`,
    );
    const later = await harness.start(conversation, "Again", [touch, say("Done.")]);
    check((await harness.over(conversation, later)).status === "done", "the later turn did not end");
    check(
      (await harness.asks(conversation)).at(-1).rule !== undefined,
      "the rule is forgotten in the next turn",
    );
    const { rules } = await harness.lab.server.do("rule.list", { conversation });
    for (const { id } of rules) await harness.lab.server.do("rule.remove", { id });
  },
};

const denied: Scenario = {
  name: "permission, denied with a reason",
  async run(harness) {
    const path = join(harness.lab.work, "denied.txt");
    const script = [{ parts: [harness.agent.shell(`touch ${path}`)] }, say("As you like.")];
    const { conversation, turn } = await harness.begin("Touch it", script);
    await harness.answer(await harness.asking(conversation), { allow: false, message: "Not that one" });
    await harness.over(conversation, turn);
    check(!existsSync(path), "it ran");
    check((await harness.asks(conversation))[0].state === "denied", "not denied");
    await harness.isClosed(conversation);
  },
};

const LIBRARY: Question = {
  ...{ question: "Which library?", header: "Library", multiSelect: false },
  options: [
    { label: "luxon", description: "small" },
    { label: "temporal", description: "new" },
  ],
};
const PARTS: Question = {
  ...{ question: "Which parts?", header: "Parts", multiSelect: true },
  options: [
    { label: "Search", description: "s" },
    { label: "Export, import", description: "e" },
  ],
};

/** Questions come as questions, or as a form with the same choices. */
async function answered(
  harness: TestHarness,
  asked: Question,
  chosen: readonly string[],
  text?: string,
): Promise<string> {
  const part = harness.agent.ask?.([asked]);
  if (part === undefined) throw new Error("it has no tool to ask with");
  const mode = harness.agent.cli === "codex" ? { mode: "plan" } : {};
  const script = [{ parts: [part] }, say("Understood.")];
  const { conversation, turn } = await harness.begin("Ask me", script, mode);
  const ask = await harness.asking(conversation);
  const { kind, questions, form } = ask.metadata.ask;
  const said = { chosen, ...(text === undefined ? {} : { text }) };
  const name = Object.keys(form?.schema?.properties ?? {})[0] ?? "";
  const value = asked.multiSelect ? chosen : chosen[0];
  const answer =
    kind === "question" ? { questions: { [questions[0].id]: said } } : { content: { [name]: value ?? "" } };
  const from = harness.requests;
  await harness.answer(ask, { allow: true, answer });
  const end = await harness.over(conversation, turn);
  check(end.status === "done", `the turn ended with ${JSON.stringify(end)}`);
  return harness.told(from);
}

const one: Scenario = {
  name: "question, one",
  async run(harness) {
    const told = await answered(harness, LIBRARY, ["temporal"]);
    check(told.includes("temporal"), "the model did not get the label");
  },
};

const several: Scenario = {
  name: "question, several",
  async run(harness) {
    const told = await answered(harness, PARTS, ["Search", "Export, import"]);
    check(told.includes("Search") && told.includes("Export, import"), "the model did not get the labels");
  },
};

const ownWords: Scenario = {
  name: "question, own words",
  async run(harness) {
    const told = await answered(harness, LIBRARY, [], "none of these two");
    check(told.includes("none of these two"), "the model did not get the words");
  },
};

const plan: Scenario = {
  name: "plan, edited and approved",
  async run(harness) {
    const script = harness.agent.plan?.("# Plan\n\n1. Write\n") ?? [];
    const { conversation, turn } = await harness.begin("Plan it", script, { mode: "plan" });
    const ask = await harness.asking(conversation);
    check(ask.metadata.ask.kind === "plan", "it asks for something else");
    await harness.owner.editPlan(ask, "2. Test it");
    const from = harness.requests;
    await harness.answer(ask, { allow: true, answer: { suggestion: "accept-edits" } });
    check((await harness.over(conversation, turn)).status === "done", "the turn failed");
    check(harness.told(from).includes("2. Test it"), "the model did not read the edited plan");
    await harness.lab.wait("the conversation's mode to be that of the answer", async () => {
      const read = await harness.lab.server.do("conversation.read", { conversation, blocks: 0 });
      return read.conversation.metadata?.mode === "edits" ? true : undefined;
    });
  },
};

const steering: Scenario = {
  name: "steering",
  async run(harness) {
    const wait = (n: number) => ({ parts: [harness.agent.quiet(`sleep 1; echo tool-${n}`)] });
    const script = [...[1, 2, 3, 4, 5].map(wait), say("All five.")];
    const { conversation, turn } = await harness.begin("Five tools", script);
    await harness.lab.wait("the second tool", async () => {
      await harness.allow(conversation);
      const calls = (await harness.blocks(conversation)).filter(({ kind }) => kind === "tool_call");
      return calls.length >= 2 && calls[1]?.metadata.stage === "running" ? true : undefined;
    });
    const sent = harness.owner.send(conversation, "Also say hello");
    await harness.find(conversation, "the message", ({ content }) => content === "Also say hello");
    const before = harness.requests;
    await harness.over(conversation, turn, { allows: true });
    await sent;
    const at = harness.lab.model.asked.findIndex(({ body }) =>
      JSON.stringify(body).includes("Also say hello"),
    );
    check(at !== -1 && at - before <= 1, `it was in request ${at - before} after it was sent`);
    const said = (await harness.blocks(conversation)).filter(
      ({ role, metadata }) => role === "user" && metadata.notice !== "queued",
    );
    check(
      said.map(({ content }) => content).join("|") === "Five tools|Also say hello",
      "the prompt does not stand there once",
    );
  },
};

const TALK: Script = [
  {
    parts: [{ text: "I begin, and I go on and on and on, and on." }],
    ...{ deltaChars: 6, hold: { after: 6, until: never } },
  },
];
const isTalk = ({ role, content }: LabBlock) => role === "model" && content.includes("I begin");

const stop: Scenario = {
  name: "stop",
  async run(harness) {
    const { conversation, turn } = await harness.begin("Talk", TALK);
    await harness.find(conversation, "it to begin", isTalk);
    await harness.owner.stop(conversation);
    const end = await harness.over(conversation, turn);
    check(end.reason === "cancelled", `it ended with ${JSON.stringify(end)}`);
    await goesOn(harness, conversation, "Talk");
  },
};

/** The next turn works, in the same session where the agent keeps one. */
async function goesOn(harness: TestHarness, conversation: string, knows?: string): Promise<void> {
  const from = harness.requests;
  const next = await harness.start(conversation, "And now?", [say("Here I am.")]);
  const end = await harness.over(conversation, next);
  check(end.status === "done", `the next turn ended with ${JSON.stringify(end)}`);
  if (knows !== undefined)
    check(harness.told(from).includes(knows), "the next turn knows nothing of what was before");
  await harness.isClosed(conversation);
}

const modeNow: Scenario = {
  name: "mode, while it works",
  async run(harness) {
    const write = (name: string) => ({ parts: [harness.agent.write(join(harness.lab.work, name), "x\n")] });
    const script = [write("m1.txt"), write("m2.txt"), say("Written.")];
    const { conversation, turn } = await harness.begin("Write", script);
    const ask = await harness.asking(conversation);
    await harness.owner.setMode(conversation, harness.agent.modes.free ?? "");

    await harness.answer(ask, { allow: true });
    check((await harness.over(conversation, turn)).status === "done", "the turn failed");
    check((await harness.asks(conversation)).length === 1, "it asked again");
  },
};

const model: Scenario = {
  name: "model",
  async run(harness) {
    harness.lab.model.play((asked) =>
      asked.model === "no-such-model-9"
        ? { fails: { status: 404, type: "not_found_error", message: "model: no-such-model-9" } }
        : say("ok"),
    );
    // Behind a provider of the user's own any model may be there.
    if (harness.agent.cli !== "codex") {
      const why = await harness.owner.refused("x", {
        mode: harness.agent.modes.ask,
        model: "no-such-model-9",
      });
      check(/no-such-model-9/.test(why), `it does not say which model is wrong: ${why}`);
    }
    let conversation: string | undefined;
    const asked: string[] = [];
    for (const name of harness.agent.models ?? []) {
      // Some models get their tools in another form, which the scripted model takes for an aside.
      const { model: server } = harness.lab;
      const before = [server.asked.length, server.asides.length] as const;
      const begun: Begun =
        conversation === undefined
          ? await harness.begin(`With ${name}`, [say("Yes.")], { model: name })
          : {
              conversation,
              turn: await harness.start(conversation, `With ${name}`, [say("Yes.")], { model: name }),
            };
      conversation = begun.conversation;
      check((await harness.over(conversation, begun.turn)).status === "done", `the turn with ${name} failed`);
      const requests = [...server.asked.slice(before[0]), ...server.asides.slice(before[1])];
      asked.push(requests.map((each) => each.model).join(" "));
    }
    check(asked[0] !== asked[1], `both turns asked ${asked[0]}`);
  },
};

const slash: Scenario = {
  name: "slash command",
  async run(harness) {
    const { conversation, turn: first } = await harness.begin("Hello", [say("Hello.")]);
    await harness.over(conversation, first);
    const offered = await harness.owner.commands(conversation);
    const { prompt, shows } = harness.agent.slash ?? { prompt: "/none", shows: /./ };
    const name = prompt.slice(1);
    check(offered.includes(name), `it does not offer ${prompt}: ${offered.join(", ")}`);
    const turn = await harness.start(conversation, prompt, () => say("Done that."));
    const end = await harness.over(conversation, turn, { allows: true });
    check(end.status === "done", `${prompt} ended with ${JSON.stringify(end)}`);
    const said = (await harness.blocks(conversation)).filter(
      ({ role, metadata }) => role !== "user" && metadata.turn === turn,
    );
    const text = said.map(({ content, metadata }) => `${content} ${metadata.notice ?? ""}`).join(" ");
    check(
      said.length > 0 && shows.test(text),
      `nothing shows that ${prompt} was done: ${text.slice(0, 200)}`,
    );
  },
};

const background: Scenario = {
  name: "background task, stopped",
  async run(harness) {
    const part = harness.agent.background?.("sleep 300");
    if (part === undefined) throw new Error("it starts none");
    // The model goes on, and says no more until the task is stopped.
    const stopped = Promise.withResolvers<void>();
    const { conversation, turn } = await harness.begin("Start it", [
      { parts: [part] },
      { parts: [harness.agent.quiet("echo beside")] },
      say("It runs.", { hold: { after: 4, until: stopped.promise } }),
    ]);
    await harness.lab.wait("its task", async () => {
      await harness.allow(conversation);
      const { status, body } = await harness.lab.server.call("agent.offers", { conversation });
      return status === 200 && body.tasks?.length > 0 ? true : undefined;
    });
    await harness.owner.stopTask(conversation);
    stopped.resolve();
    await harness.over(conversation, turn, { allows: true });
    await sleep(300);
    await harness.isClosed(conversation);
  },
};

/** The states in which somebody may be killed: what is said, and what shows that it is so. */
const STATES: readonly (readonly [string, (harness: TestHarness) => Script, (block: LabBlock) => boolean])[] =
  [
    [
      "asking",
      ({ agent }) => [{ parts: [agent.shell("touch late.txt")] }, say("Touched.")],
      ({ metadata }) => metadata.ask?.state === "asked",
    ],
    [
      "running a command",
      ({ agent }) => [{ parts: [agent.quiet("echo up; sleep 100")] }],
      ({ kind, metadata }) => kind === "tool_call" && metadata.stage === "running",
    ],
    ["writing", () => TALK, isTalk],
  ];

async function brought(
  harness: TestHarness,
  state: string,
): Promise<{ conversation: string; turn: string; block: LabBlock }> {
  const { conversation, turn: first } = await harness.begin("Remember blue", [say("Blue.")]);
  check((await harness.over(conversation, first)).status === "done", "the first turn failed");
  const [, script, isThere] = STATES.find(([name]) => name === state) as (typeof STATES)[number];
  const turn = await harness.start(conversation, "Do it", script(harness));
  const block = await harness.lab.wait(`it to be ${state}`, async () => {
    if (state !== "asking") await harness.allow(conversation);
    return (await harness.blocks(conversation)).find(isThere);
  });
  return { conversation, turn, block };
}

const serverKills: readonly Scenario[] = STATES.map(([state]) => ({
  name: `kill -9 of the server while ${state}`,
  async run(harness) {
    const { conversation, turn, block } = await brought(harness, state);
    await harness.killServer();
    const end = await harness.over(conversation, turn);
    check(end.reason === "interrupted", `the turn ended with ${JSON.stringify(end)}`);
    await harness.isClosed(conversation);
    if (state === "asking") await lateAnswer(harness, conversation, block);
    await goesOn(harness, conversation, "Remember blue");
  },
}));

/** The answer reaches the agent, and what was allowed is not asked for again. */
async function lateAnswer(harness: TestHarness, conversation: string, block: LabBlock): Promise<void> {
  const from = harness.requests;
  harness.lab.model.play([{ parts: [harness.agent.shell("touch late.txt")] }, say("Touched.")]);
  const before = await harness.lab.turns(conversation);
  if (!(await harness.owner.answerLate(block, { allow: true }))) return;
  const end = await harness.over(conversation, await harness.lab.newTurn(conversation, before));
  check(end.status === "done", `the answer's turn ended with ${JSON.stringify(end)}`);
  check(harness.told(from).includes("The user allows"), "the model did not get the answer");
  const asks = await harness.asks(conversation);
  check(
    asks.every(({ state }) => state === "allowed"),
    `asked again: ${JSON.stringify(asks.map(({ state }) => state))}`,
  );
  const { status } = await harness.lab.server.call("turn.answer", {
    ...{ block_id: block.block_id, ask_id: block.metadata.ask.id, allow: false },
  });
  check(status === 409, `answered twice: ${status}`);
}

const agentKills: readonly Scenario[] = STATES.map(([state]) => ({
  name: `kill of the agent while ${state}`,
  async run(harness) {
    const { conversation, turn } = await brought(harness, state);
    for (const pid of await harness.living()) kill(pid);
    const end = await harness.over(conversation, turn);
    check(end.status === "error" && (end.error ?? "") !== "", `the turn ended with ${JSON.stringify(end)}`);
    await goesOn(harness, conversation, "Remember blue");
  },
}));

const agentKillIdle: Scenario = {
  name: "kill of the agent between turns",
  async run(harness) {
    const { conversation, turn: first } = await harness.begin("Remember blue", [say("Blue.")]);
    check((await harness.over(conversation, first)).status === "done", "the first turn failed");
    for (const pid of await harness.living()) kill(pid);
    await goesOn(harness, conversation, "Remember blue");
  },
};

const serverKillIdle: Scenario = {
  name: "kill -9 of the server between turns",
  async run(harness) {
    const { conversation, turn: first } = await harness.begin("Remember blue", [say("Blue.")]);
    check((await harness.over(conversation, first)).status === "done", "the first turn failed");
    await harness.killServer();
    await goesOn(harness, conversation, "Remember blue");
  },
};

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it has ended meanwhile
  }
}

export const SCENARIOS: readonly Scenario[] = [
  ...[rule, denied, one, several, ownWords, plan, steering, stop, modeNow, model, slash, background],
  ...[...serverKills, serverKillIdle, ...agentKills, agentKillIdle],
];
