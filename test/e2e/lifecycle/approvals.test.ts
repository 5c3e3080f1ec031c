/** Permission requests of an agent: state on the tool call, answered once, by the owner, and never after the agent. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { Auth } from "../../../packages/server/src/access/auth.ts";
import { type Called, Server } from "../server.ts";
import { FAKE, type Plan, World } from "./world.ts";

/** A shell command that is asked for, a file, and a question with two choices. */
const RECORDING = fileURLToPath(
  new URL("../../../packages/providers/fixtures/claude/permission-control.jsonl", import.meta.url),
);

const folders: string[] = [];
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.kill();
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Asked {
  readonly block: string;
  readonly id: string;
  readonly state: string;
  readonly input: unknown;
  readonly suggestions: readonly { readonly id: string; readonly native?: unknown }[];
}

class TestHarness {
  readonly home = mkdtempSync(join(tmpdir(), "blockyard-ask-"));
  readonly answers = join(this.home, "answers.jsonl");
  server!: Server;
  conversation = "";

  async start(): Promise<this> {
    folders.push(this.home);
    const env = { BLOCKYARD_CLAUDE: FAKE };
    this.server = await Server.start({ home: this.home, root: this.home, env });
    servers.push(this.server);
    return this;
  }

  async ask(): Promise<Asked> {
    const { conversation } = await this.server.do("conversation.create", { title: "ask" });
    this.conversation = conversation;
    const plan: Plan = { recording: RECORDING, lines: 0, act: "ask", answers: this.answers };
    await this.server.do("turn.start", { conversation, provider: "claude", prompt: JSON.stringify(plan) });
    return this.asked(0);
  }

  /** The request of this number, once it is there; read anew, as a page does that is loaded again. */
  async asked(number: number): Promise<Asked> {
    for (;;) {
      const found = (await this.approvals())[number];
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }

  async approvals(): Promise<(Asked & Record<string, unknown>)[]> {
    const found: (Asked & Record<string, unknown>)[] = [];
    for (const { block_id, metadata } of await this.server.blocks(this.conversation))
      if (metadata.ask !== undefined) found.push({ ...metadata.ask, block: block_id });
    return found;
  }

  /** What the list says can be answered. */
  async listed(): Promise<{ asking?: string[]; late_asks?: string[] }> {
    const { conversations } = await this.server.do("conversation.list", {});
    const found = conversations.find(
      (each: { conversation: string }) => each.conversation === this.conversation,
    );
    const { asking, late_asks } = found;
    return { ...(asking && { asking }), ...(late_asks && { late_asks }) };
  }

  answer({ block, id }: Asked, allow: boolean, more: object = {}, token?: string): Promise<Called> {
    const input = { block_id: block, ask_id: id, allow, ...more };
    return this.server.call("turn.answer", input, token);
  }

  /** What the agent got to read. */
  heard(): { request_id: string; response: Record<string, unknown> }[] {
    if (!existsSync(this.answers)) return [];
    const lines = readFileSync(this.answers, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line).response);
  }

  async over(): Promise<{ status: string }> {
    for (;;) {
      const { turns } = await this.server.do("turn.list", { conversation: this.conversation });
      const [turn] = turns;
      if (turn.status !== "running") return turn;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }
}

describe("an approval", () => {
  it("[D6] [D7] is answered once, by the owner alone, with what was shown; who answered stays known", async () => {
    const harness = await new TestHarness().start();
    const first = await harness.ask();
    expect(first).toMatchObject({ state: "asked", input: { command: "touch a.txt" } });
    const auth = new Auth(harness.home, "owner", Date.now);
    for (const role of ["agent", "viewer"] as const) {
      const token = auth.create(`bob-${role}`, role);
      expect(await harness.answer(first, true, {}, token)).toMatchObject({ status: 403 });
    }
    expect(await harness.answer({ ...first, id: "other" }, true)).toMatchObject({ status: 404 });
    expect(harness.heard()).toEqual([]);

    const both = await Promise.all([harness.answer(first, true), harness.answer(first, false)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const isAllowed = both[0]?.status === 200;
    expect(harness.heard().length).toBeLessThanOrEqual(1);

    const second = await harness.asked(1);
    await harness.answer(second, false, { message: "Not that one" });
    const third = await harness.asked(2);
    await harness.answer(third, true, { answers: { "Which?": "B" } });
    expect(await harness.over()).toMatchObject({ status: "done" });

    expect(harness.heard().map(({ request_id, response }) => [request_id, response])).toEqual([
      [first.id, isAllowed ? { behavior: "allow", updatedInput: first.input } : expect.anything()],
      [second.id, { behavior: "deny", message: "The user denied this tool call. Reason: Not that one" }],
      [
        third.id,
        { behavior: "allow", updatedInput: { ...(third.input as object), answers: { "Which?": "B" } } },
      ],
    ]);
    const known = { answeredBy: expect.any(String), answeredAt: expect.any(Number) };
    expect(await harness.approvals()).toMatchObject([
      { state: isAllowed ? "allowed" : "denied", ...known },
      { state: "denied", message: "Not that one", ...known },
      { state: "answered", ...known },
    ]);
    expect(await harness.answer(third, true)).toMatchObject({ status: 409 });
  });

  it("[D7] is denied for a reason: without words of the owner's the agent is told that the user did it", async () => {
    const harness = await new TestHarness().start();
    const asked = await harness.ask();
    await harness.answer(asked, false, { message: " \n" });
    await harness.asked(1);
    expect(harness.heard()[0]?.response).toEqual({
      behavior: "deny",
      message: expect.stringMatching(/^The user denied this tool call without a reason\. /),
    });
    expect((await harness.approvals())[0]).not.toHaveProperty("message");
    await harness.server.do("turn.stop", { conversation: harness.conversation });
  });

  it.each(["kill", "stop"] as const)(
    "[D6] [D62] is there for whoever loads again, expires with the server (%s), and is listed and answered late",
    async (away) => {
      const harness = await new TestHarness().start();
      const asked = await harness.ask();
      expect(await harness.asked(0)).toEqual(asked);
      expect(await harness.listed()).toEqual({ asking: [asked.block] });
      await harness.server[away]();
      await harness.start();
      expect(await harness.listed()).toEqual({ late_asks: [asked.block] });
      expect(await harness.approvals()).toMatchObject([
        { id: asked.id, state: "expired", input: asked.input },
      ]);
      expect(await harness.answer(asked, true)).toMatchObject({ status: 200 });
      expect(await harness.answer(asked, true)).toMatchObject({ status: 409 });
      expect((await harness.approvals())[0]).toMatchObject({ id: asked.id, state: "allowed" });
      expect(await harness.listed()).not.toHaveProperty("late_asks");
      await harness.server.do("turn.stop", { conversation: harness.conversation });
    },
  );

  it("[D62] is answered late with what the next process can carry out, and a rule of ours is kept", async () => {
    const harness = await new TestHarness().start();
    const asked = await harness.ask();
    const suggested = asked.suggestions.map(({ id, native }) => [id, native === undefined]);
    const theirs = suggested.find(([, isOwn]) => !isOwn)?.[0];
    expect(suggested).toContainEqual(["rule-deny", true]);
    expect(theirs).toEqual(expect.any(String));
    await harness.server.kill();
    await harness.start();
    const taking = (allow: boolean, suggestion: unknown) =>
      harness.answer(asked, allow, { answer: { suggestion } });
    expect(await taking(true, theirs)).toMatchObject({ status: 400 });
    expect(await taking(false, "rule-deny")).toMatchObject({ status: 200 });
    expect((await harness.server.do("rule.list", {})).rules).toHaveLength(1);
    await harness.server.do("turn.stop", { conversation: harness.conversation });
  });

  it("[D6] expires when its turn is stopped", async () => {
    const harness = await new TestHarness().start();
    const asked = await harness.ask();
    await harness.server.do("turn.stop", { conversation: harness.conversation });
    expect(await harness.listed()).toEqual({});
    expect(await harness.approvals()).toMatchObject([{ id: asked.id, state: "expired" }]);
    expect(await harness.answer(asked, true)).toMatchObject({ status: 410 });
  });
});

it("[D4] an agent that waits for an answer is not silent", async () => {
  const silentMs = 1_000;
  const world = await World.open({ silentMs, lingerMs: 300, graceMs: 300 });
  try {
    const answers = join(world.home, "answers.jsonl");
    const conversation = await world.begin({ recording: RECORDING, lines: 0, act: "ask", answers });
    for (const allow of [true, false, true]) {
      const since = Date.now();
      // Longer than the silence that would end it, then the answer.
      await world.until(async () => Date.now() - since > 2 * silentMs);
      const asking = (await world.blocks(conversation)).find(
        ({ metadata }) => (metadata["ask"] as { state?: string } | undefined)?.state === "asked",
      );
      if (asking === undefined) throw new Error("nothing is asked");
      const { id } = asking.metadata["ask"] as { id: string };
      expect(await world.turns.answer("ann", asking.id, id, { allow })).not.toHaveProperty("problem");
      await world.until(async () => {
        const block = await world.kernel.block(asking.id);
        return "status" in block && block.status !== "running";
      });
    }
    await world.over(conversation);
    expect(await world.complaints(conversation)).toEqual([]);
    expect(await world.kernel.turns(conversation)).toMatchObject([{ status: "done" }]);
  } finally {
    await world.close();
  }
});
