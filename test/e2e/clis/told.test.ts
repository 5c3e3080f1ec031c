/**
 * What the real Claude Code and Codex know when they go on in a conversation: the scripted model sees each request, so what
 * is checked is what a model reads. The same rows for both agents, and for the two in one conversation.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, type Script, say } from "../../model/script.ts";
import { fetchCli } from "./fetch.ts";
import { Lab, type LabBlock, type LabTurn } from "./lab.ts";

type Teller = "claude" | "codex";

const fetched = { claude: await fetchCli("claude"), codex: await fetchCli("codex") };
const programs = { claude: programOf("claude"), codex: programOf("codex") };
const missing = Object.values(fetched).find((each) => "missing" in each);
const why = missing && "missing" in missing ? ` (not run: ${missing.missing})` : "";

function programOf(cli: Teller): string {
  const found = fetched[cli];
  return "program" in found ? found.program : "";
}

describe.skipIf(why !== "").each<[Teller, Teller]>([
  ["claude", "codex"],
  ["codex", "claude"],
])(`what %s knows of a conversation${why}`, (cli, other) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await Lab.open(cli, programs[cli], {}, { cli: other, program: programs[other] });
  });
  afterAll(() => lab?.close());

  /** A turn to its end. */
  async function ask(
    conversation: string,
    prompt: string,
    script: Script,
    more: { readonly provider?: Teller; readonly parent_id?: string; readonly fresh?: boolean } = {},
  ): Promise<LabTurn> {
    lab.model.play(script);
    const { turn } = await lab.server.do("turn.start", { conversation, provider: cli, prompt, ...more });
    return lab.over(conversation, turn);
  }

  /** What the model was asked last: everything that the agent says to it, as one text. */
  function sent(): string {
    const body = lab.model.asked.at(-1)?.body ?? {};
    return JSON.stringify(body["messages"] ?? body["input"]);
  }

  const times = (word: string) => sent().split(word).length - 1;

  /** Without the messages that have waited for a moment. */
  async function blocks(conversation: string): Promise<readonly LabBlock[]> {
    return (await lab.blocks(conversation)).filter(({ metadata }) => metadata.notice !== "queued");
  }

  async function block(conversation: string, text: string): Promise<LabBlock> {
    return lab.wait(`a block that says ${text}`, async () =>
      (await blocks(conversation)).find(({ content }) => content.includes(text)),
    );
  }

  it("[D12] a fork knows the way to its block and nothing else, and is told once", async () => {
    const conversation = await lab.conversation();
    await ask(conversation, "Count the plums", [say("Seven plums.")]);
    await ask(conversation, "Count the pears", [say("Nine pears.")]);
    expect(times("Seven plums")).toBe(1);
    expect(sent()).not.toContain("[Blockyard]");
    const { block_id } = await block(conversation, "Seven plums");
    await lab.server.do("conversation.fork", { block_id });
    const turn = await ask(conversation, "Now the quinces", [say("Two quinces.")]);
    expect(turn.status).toBe("done");
    for (const word of ["Count the plums", "Seven plums", "Now the quinces"]) expect(times(word)).toBe(1);
    expect(sent()).not.toContain("pears");
    // Claude Code goes on in a copy of its own session; Codex is told.
    expect(sent().includes("[Blockyard]")).toBe(cli === "codex");
    const second = await ask(conversation, "And again", [say("Still two.")]);
    for (const word of ["Count the plums", "Seven plums", "Two quinces", "And again"])
      expect(times(word)).toBe(1);
    expect(second.session_id).toBe(turn.session_id);
    const asked = (await blocks(conversation)).filter(({ role }) => role === "user");
    expect(asked.map(({ content }) => content)).toEqual([
      ...["Count the plums", "Count the pears", "Now the quinces", "And again"],
    ]);
    const told = cli === "codex" ? 2 : 0;
    expect(asked.map(({ metadata }) => metadata.told?.blocks)).toEqual([
      undefined,
      undefined,
      told,
      undefined,
    ]);
    // Back on the first way, its own session goes on.
    const pears = await block(conversation, "Nine pears");
    await ask(conversation, "More pears?", [say("No.")], { parent_id: pears.block_id });
    for (const word of ["Seven plums", "Nine pears"]) expect(times(word)).toBe(1);
    expect(sent()).not.toMatch(/quinces|Blockyard/);
  });

  it("[D12] [E9] a fork into a new conversation is told, with calls and results; the raw export has what was sent", async () => {
    const conversation = await lab.conversation();
    const command = "echo the-output-of-it";
    const tool =
      cli === "claude"
        ? call("Bash", { command, description: "Say" })
        : call("exec_command", { cmd: command });
    await ask(conversation, "Run it", [{ parts: [tool] }, say("It ran.")]);
    const { block_id } = await block(conversation, "It ran.");
    const forked = await lab.server.do("conversation.fork", { block_id, into_new: true });
    const turn = await ask(forked.conversation, "Do the same for the tests", [say("Done.")]);
    expect(turn.status).toBe("done");
    expect(sent()).toContain("the-output-of-it");
    expect(times("It ran.")).toBe(1);
    expect(sent()).toMatch(/Run it.*called.*result of.*It ran.*Your current task:.*Do the same/s);
    const raw = await fetch(`${lab.server.url}/v1/conversations/${forked.conversation}/export?format=raw`, {
      headers: { authorization: `Bearer ${lab.server.token}` },
    });
    expect(JSON.parse((await raw.text()).split("\n")[0] ?? "")).toMatchObject({
      type: "blockyard_told",
      text: expect.stringContaining("It ran."),
    });
    const search = { query: "Your current task", literal: true };
    expect(await lab.server.do("kernel.search", search)).toMatchObject({ blocks: [] });
  });

  it("[D10] [D13] files and pictures of earlier messages are told too", async () => {
    const conversation = await lab.conversation();
    await lab.turnWithAttached(conversation, "Look", [say("Seen.")]);
    const { block_id } = await block(conversation, "Seen.");
    await lab.server.do("conversation.fork", { block_id });
    await ask(conversation, "Compare", [say("Compared.")], { provider: other });
    const pictures = () => sent().match(/"type":"image"|data:image\/png;base64/g)?.length;
    expect([times("the attached words"), times("; attached"), pictures()]).toEqual([1, 1, 1]);
    await ask(conversation, "Again", [say("Again.")], { provider: other });
    expect([times("the attached words"), pictures()]).toEqual([1, 1]);
  });

  it("[D12] two agents in one conversation tell each other only what is new", async () => {
    const conversation = await lab.conversation();
    await ask(conversation, "The word is amber", [say("Amber it is.")]);
    await ask(conversation, "Repeat", [say("Amber, says the other.")], { provider: other });
    for (const word of ["The word is amber", "Amber it is."]) expect(times(word)).toBe(1);
    const third = await ask(conversation, "Who said what?", [say("You know.")]);
    for (const word of ["The word is amber", "Amber it is.", "Amber, says the other."])
      expect(times(word)).toBe(1);
    expect(sent()).toContain("since your last turn");
    expect((await block(conversation, "Who said what?")).metadata.told).toMatchObject({ blocks: 2 });
    await ask(conversation, "Thanks", [say("Welcome.")]);
    for (const word of ["Amber it is.", "Amber, says the other.", "You know."]) expect(times(word)).toBe(1);
    const { turns } = await lab.server.do("turn.list", { conversation });
    const sessions = (turns as LabTurn[]).map(({ session_id }) => session_id);
    expect([sessions[2], sessions[3]]).toEqual([third.session_id, sessions[0]]);
  });

  it.skipIf(cli === "codex")(
    "[D12] what it says by itself, when an agent of its own reports, is no news to it",
    async () => {
      const conversation = await lab.conversation();
      const script: Script = (asked) => {
        const said = JSON.stringify(asked.body["messages"]);
        if (said.includes("task-notification")) return say("It has counted them.");
        if (said.includes("Count the lines") && !said.includes("Ask your agent"))
          return say("There are forty.");
        if (said.includes("Async agent launched")) return say("It is at work.");
        const input = { description: "Count", prompt: "Count the lines", subagent_type: "general-purpose" };
        return { parts: [call("Agent", { ...input, run_in_background: true })] };
      };
      await ask(conversation, "Ask your agent", script);
      await block(conversation, "It has counted them.");
      const report = (await blocks(conversation)).find(({ kind }) => kind === "tool_result");
      expect(report?.content).toBe("There are forty.");
      await lab.wait("every turn to end", async () => {
        const { turns } = (await lab.server.do("turn.list", { conversation })) as { turns: LabTurn[] };
        return turns.length === 2 && turns.every(({ status }) => status === "done") ? true : undefined;
      });
      await ask(conversation, "Thanks", [say("Welcome.")]);
      expect(sent()).not.toContain("[Blockyard]");
      expect(times("It has counted them.")).toBe(1);
    },
  );

  it("[D12] what a person edits is told as it reads now; what is pruned is unknown; what is included is known", async () => {
    const conversation = await lab.conversation();
    await ask(conversation, "Name a tree", [say("An oak.")]);
    const answer = await block(conversation, "An oak.");
    const operations = [{ op: "replace", start_line: 0, end_line: 1, content: "A larch." }];
    await lab.server.do("block.edit", { block_id: answer.block_id, operations });
    await ask(conversation, "Which one?", [say("That one.")]);
    expect([times("An oak."), times("A larch.")]).toEqual([1, 1]);
    await ask(conversation, "Really?", [say("Yes.")]);
    expect(times("A larch.")).toBe(1);

    await lab.server.do("conversation.prune", { block_id: answer.block_id });
    const without = await ask(conversation, "Which tree?", [say("I know of none.")]);
    expect(sent()).not.toMatch(/oak|larch/);
    for (const word of ["Name a tree", "That one."]) expect(times(word)).toBe(1);

    const elsewhere = await lab.conversation();
    const { block_id } = await lab.server.do("block.create", {
      ...{ conversation: elsewhere, kind: "text", role: "user", status: "done" },
      content: "Trees are to be planted in May.",
    });
    await lab.server.do("conversation.include", { conversation, block_id });
    const planted = await ask(conversation, "When?", [say("In May.")]);
    expect(times("Trees are to be planted")).toBe(1);
    expect(planted.session_id).toBe(without.session_id);
    await ask(conversation, "Sure?", [say("Sure.")]);
    expect(times("Trees are to be planted")).toBe(1);
  });

  it("[D11] [D12] a session that is lost: the turn starts one that is told", async () => {
    const conversation = await lab.conversation();
    await ask(conversation, "Remember basil", [say("Basil.")]);
    const folder = join(lab.folder, cli, cli === "claude" ? "projects" : "sessions");
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    const begun = await ask(conversation, "What herb?", [say("Basil!")]);
    expect(begun.status).toBe("done");
    for (const word of ["Remember basil", "What herb?"]) expect(times(word)).toBe(1);
    await ask(conversation, "And now?", [say("Still basil.")]);
    for (const word of ["Remember basil", "What herb?", "And now?"]) expect(times(word)).toBe(1);
    const errors = (await blocks(conversation)).filter(({ kind }) => kind === "error");
    expect(errors).toEqual([]);
  });

  it("[D12] what it was told before it was stopped or failed is told no second time", async () => {
    const conversation = await lab.conversation();
    await ask(conversation, "The word is cedar", [say("Cedar.")], { provider: other });
    lab.model.play([{ ...say("A long story."), hold: { after: 4, until: new Promise<void>(() => {}) } }]);
    const before = lab.model.asked.length;
    const { turn } = await lab.start(conversation, "Tell a story");
    await lab.model.askedTimes(before + 1);
    await lab.server.do("turn.stop", { conversation });
    await lab.over(conversation, turn);
    await ask(conversation, "Go on", [say("Gone on.")]);
    for (const word of ["The word is cedar", "Tell a story", "Go on"]) expect(times(word)).toBe(1);
    const fails = { status: 400, type: "invalid_request_error", message: "not now" };
    await ask(conversation, "Is it a tree?", [say("A tree, says the other.")], { provider: other });
    const failed = await ask(conversation, "Try", () => ({ fails }));
    expect(failed.status).toBe("error");
    await ask(conversation, "Try again", [say("Tried.")]);
    for (const word of ["The word is cedar", "Is it a tree?", "Try again"]) expect(times(word)).toBe(1);
  });

  it("[D12] [L11] what begins afresh is told nothing, then or later", async () => {
    const conversation = await lab.conversation();
    await ask(conversation, "Hear of lemons", [say("Lemons.")]);
    await ask(conversation, "Begin", [say("Begun.")], { fresh: true });
    expect(sent()).not.toMatch(/[Ll]emons/);
    const operations = [{ op: "replace", start_line: 0, end_line: 1, content: "Lemons and limes." }];
    await lab.server.do("block.edit", {
      block_id: (await block(conversation, "Lemons.")).block_id,
      operations,
    });
    await ask(conversation, "Go on", [say("Gone on.")]);
    expect(sent()).not.toMatch(/[Ll]emons/);
    expect(times("Begun.")).toBe(1);
  });
});
