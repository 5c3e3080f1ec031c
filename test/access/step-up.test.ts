/** Calls that run code or grant rights: who may make them, with which proof, and what the log says of them. */
import { createHash } from "node:crypto";
import { type Draft, StoreError } from "@blockyard/kernel";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Browser } from "./browser.ts";
import { TestHarness } from "./harness.ts";

let harness: TestHarness;
let page: Browser;
let block = "";

beforeAll(async () => {
  harness = await TestHarness.start();
  page = await harness.browser();
  const { conversation } = await harness.call("conversation.create", { title: "x" });
  const made = await harness.call("block.create", {
    ...{ conversation, kind: "command", role: "tool", status: "done" },
    metadata: { command: "echo ran", cwd: harness.root },
  });
  block = String(made["block_id"]);
});
afterAll(() => harness.stop());

/** What the tests before have started goes on by itself until it has ended. */
beforeEach(async () => {
  while ((await harness.state()).includes('"running"')) await new Promise((next) => setImmediate(next));
});

/** Every tool that a page signs for, with an input that the schema takes. */
const SENSITIVE: Readonly<Record<string, () => Promise<object> | object>> = {
  "command.run": async () => {
    const { confirmation } = await harness.call("command.confirm", { block_id: block });
    return { block_id: block, confirmation };
  },
  "agent.change": () => ({ conversation: "none", mode: "edits" }),
  "turn.answer": () => ({ block_id: block, approval_id: "a", allow: true }),
  "turn.start": () => ({ provider: "anthropic", prompt: "x", allow: ["bash"] }),
  "conversation.delete": async () => {
    const { conversation } = await harness.call("conversation.create", { title: "to delete" });
    return { conversation };
  },
  "file.grant": () => ({ path: "package.json", agent: "codex-mcp" }),
  "file.revoke": () => ({ path: "package.json", agent: "codex-mcp" }),
  "token.create": () => ({ agent: "made-by-page" }),
  "token.revoke": () => ({ agent: "made-by-page" }),
  "session.revoke": () => ({ id: "0123456789abcdef" }),
  "trust.allow": async () => {
    const { folder, digest } = await harness.call("trust.show", {});
    return { folder, digest };
  },
  "rule.set": () => ({
    ...{ effect: "allow", workspace: "/", pattern: { type: "command", words: ["true"] } },
  }),
  "rule.remove": async () => {
    const { rules } = (await harness.call("rule.list", {})) as unknown as { rules: { id: string }[] };
    return { id: rules[0]?.id ?? "rule-none" };
  },
  "trust.revoke": async () => ({ folder: (await harness.call("trust.show", {}))["folder"] }),
};

async function signed(tool: string, body: string, by = page, origin = page.origin): Promise<string> {
  const challenge = await by.challenge();
  const hash = createHash("sha256").update(body).digest("hex");
  return `${challenge}.${await by.sign(["call", origin, by.session, challenge, tool, hash])}`;
}

async function call(tool: string, body: string, proof?: string, by = page): Promise<Record<string, unknown>> {
  const headers = {
    ...by.headers,
    origin: by.origin,
    ...(proof === undefined ? {} : { "x-blockyard-proof": proof }),
  };
  const { body: said } = await harness.ask(`/v1/tools/${tool}`, { method: "POST", headers, body });
  return JSON.parse(said) as Record<string, unknown>;
}

const needsProof = { problem: "forbidden", details: { needs: "proof" } };
const entries = (action?: string) =>
  harness.running.store.audit.read({
    order: "first",
    limit: 1_000,
    ...(action === undefined ? {} : { action }),
  });

describe("step-up", () => {
  it("[AC242] the list of tools here matches the table", () => {
    const table = harness.running.tools.sensitive();
    expect(Object.keys(SENSITIVE).toSorted()).toEqual([...table].toSorted());
  });

  it.each(Object.keys(SENSITIVE))(
    "[AC242] %s is not done without the page's proof of this very call",
    async (tool) => {
      const body = JSON.stringify(await SENSITIVE[tool]?.());
      const other = await harness.browser();
      const before = [await harness.state(), (await entries(tool)).length];
      const bad: readonly (string | undefined)[] = [
        undefined,
        "",
        "x",
        `${await page.challenge()}.x`,
        await signed(tool, `${body} `),
        await signed(tool === "command.run" ? "turn.answer" : "command.run", body),
        await signed(tool, body, page, `http://127.0.0.1:${harness.port + 1}`),
        // Signed by another page of the owner's, for its own session.
        await signed(tool, body, other),
      ];
      for (const proof of bad)
        expect([proof, await call(tool, body, proof)]).toMatchObject([proof, needsProof]);
      // A page asks so first, and then signs: only what comes unsigned over HTTP is logged as refused.
      const since = harness.lines.length;
      const overSocket = await socketCall(tool, JSON.parse(body));
      expect(overSocket).toMatchObject({ problem: needsProof });
      expect(harness.refusals(since)).toEqual([]);
      await call(tool, body);
      expect(harness.refusals(since)).toMatchObject([{ status: 403, why: expect.stringContaining("proof") }]);
      // Neither an agent nor a viewer succeeds with anything.
      for (const token of [harness.agent(`thief-${tool}`), harness.viewer(`eye-${tool}`)])
        expect(await harness.call(tool, JSON.parse(body), token)).toMatchObject({ problem: "forbidden" });
      expect([await harness.state(), (await entries(tool)).length]).toEqual(before);
      const proof = await signed(tool, body);
      const done = await call(tool, body, proof);
      expect(done).not.toMatchObject({ details: { needs: "proof" } });
      // Written down before it was done, whatever came of it; and the proof is used up.
      const [entry] = (await entries(tool)).slice(Number(before[1]));
      expect(entry).toMatchObject({
        action: tool,
        by: "page",
        role: "owner",
        details: { session: page.session },
      });
      expect(await call(tool, body, proof)).toMatchObject({
        problem: "forbidden",
        message: "this proof was already used",
      });
    },
  );

  it.each([
    ["asks", "ask", {}, false],
    ["edits without asking", "edits", {}, true],
    ["does everything", "full", {}, true],
    ["edits without asking, but not in this turn", "edits", { mode: "ask" }, false],
  ])("[AC341] a message in a conversation whose agent %s", async (_, mode, more, isSensitive) => {
    const { conversation } = await harness.call("conversation.create", { title: "mode" });
    const plan = (draft: Draft) => draft.conversation({ metadata: { mode } });
    await harness.running.kernel.write(String(conversation), {
      agent: "root",
      plan: (draft) => plan(draft) ?? null,
    });
    const input = { conversation, provider: "anthropic", prompt: "x", ...more };
    const answers = [await call("turn.start", JSON.stringify(input)), await socketCall("turn.start", input)];
    for (const answer of answers)
      expect(JSON.stringify(answer).includes('"needs":"proof"')).toBe(isSensitive);
  });

  it("[AC341] a message to an agent that works in a turn with an allowance", async () => {
    const { conversation } = await harness.call("conversation.create", { title: "working" });
    const { turns } = harness.running.tools;
    const { liveIn } = turns;
    const input = { conversation, provider: "anthropic", prompt: "x", mode: "ask", when: "now" };
    Object.assign(turns, { liveIn: () => ({ start: { request: { allow: ["bash"] } } }) });
    const answer = await call("turn.start", JSON.stringify(input));
    Object.assign(turns, { liveIn });
    expect(answer).toMatchObject(needsProof);
  });

  it("[AC242] the owner's own token needs no page, and what it does is written down too", async () => {
    const input = (await SENSITIVE["command.run"]?.()) as object;
    expect(await harness.call("command.run", input)).toHaveProperty("block_id");
    const all = await entries("command.run");
    expect(all.at(-1)).toMatchObject({ by: "token", details: { block_id: block, command: "echo ran" } });
    expect(JSON.stringify(all)).not.toContain((input as { confirmation: string }).confirmation);
  });

  it("[AC246] what is refused after all is a second entry, which names the first", async () => {
    const refused: readonly (readonly [string, object])[] = [
      ["token.create", { agent: "codex", role: "agent", refused: "no", entry: 1 }],
      ["token.create", { agent: "claude", role: "agent" }],
      ["session.revoke", { id: "none" }],
    ];
    for (const [tool, input] of refused) {
      const before = (await entries(tool)).length;
      const answer = await harness.call(tool, input);
      const [first, second, ...more] = (await entries(tool)).slice(before) as {
        id: number;
        details: object;
      }[];
      expect(first?.details).toMatchObject(input);
      const { problem } = answer as { problem: string };
      expect([second?.details, more]).toMatchObject([{ refused: problem, entry: first?.id }, []]);
    }
  });

  it("[AC246] nothing is done that cannot be written down", async () => {
    const { audit } = harness.running.store;
    const { append } = audit;
    const broken = () => Promise.reject(new StoreError("full", "the disk is full"));
    for (const [tool, make] of Object.entries(SENSITIVE)) {
      const input = await make();
      const before = await harness.state();
      Object.assign(audit, { append: broken });
      const answer = await harness.call(tool, input);
      const link = await harness.ask(`/?link=${harness.running.auth.makeLink()}`);
      const imported = await harness.ask("/v1/import", { method: "POST", token: harness.owner, body: "{}" });
      Object.assign(audit, { append });
      expect([tool, answer]).toMatchObject([tool, { problem: "storage" }]);
      expect([link.status, link.headers["set-cookie"]]).toEqual([503, undefined]);
      expect(imported.body).toContain("the audit log cannot be written: the disk is full");
      expect(await harness.state()).toBe(before);
    }
    expect(harness.running.auth.list().map(({ agent }) => agent)).not.toContain("made-by-page");
  });

  it("[AC247] the log has who was let in, and is read by the owner alone", async () => {
    expect(await entries("session.open")).not.toEqual([]);
    const answer = await harness.call("audit.list", { action: "session.open", limit: 1 });
    expect(answer).toMatchObject({ entries: [{ action: "session.open", by: "link" }] });
    for (const token of [harness.agent("reader"), harness.viewer("looker")])
      expect(await harness.call("audit.list", {}, token)).toMatchObject({ problem: "forbidden" });
    const names = harness.running.tools.schemas().map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("audit."))).toEqual(["audit.list"]);
  });
});

function socketCall(tool: string, input: unknown): Promise<unknown> {
  const socket = new WebSocket(`ws://${harness.host}/v1/feed?ticket=${page.ticket}`, {
    headers: { cookie: page.cookie, origin: harness.origin },
  });
  return new Promise((resolve) => {
    socket.on("open", () => socket.send(JSON.stringify({ type: "hello", protocol: 1 })));
    socket.on("message", (data) => {
      const frame = JSON.parse(String(data)) as { type: string; id?: number };
      if (frame.type === "hello") socket.send(JSON.stringify({ type: "call", id: 1, tool, input }));
      else if (frame.id === 1) {
        socket.terminate();
        resolve(frame);
      } else if (frame.type === "bye") resolve(frame);
    });
  });
}
