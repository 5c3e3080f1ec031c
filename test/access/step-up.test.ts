/** What runs code or gives rights: who may ask for it, with which proof, and what is written down of it. */
import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Browser } from "./browser.ts";
import { Yard } from "./yard.ts";

let yard: Yard;
let page: Browser;
let block = "";

beforeAll(async () => {
  yard = await Yard.start();
  page = await yard.browser();
  const { conversation } = await yard.call("conversation.create", { title: "x" });
  const made = await yard.call("block.create", {
    ...{ conversation, kind: "command", role: "tool", status: "done" },
    metadata: { command: "echo ran", cwd: yard.root },
  });
  block = String(made["block_id"]);
});
afterAll(() => yard.stop());

/** What the tests before have started goes on by itself until it has ended. */
beforeEach(async () => {
  while ((await yard.state()).includes('"running"')) await new Promise((next) => setImmediate(next));
});

/** Every tool that a page signs for, with an input that the schema takes. */
const SENSITIVE: Readonly<Record<string, () => Promise<object> | object>> = {
  "command.run": async () => {
    const { confirmation } = await yard.call("command.confirm", { block_id: block });
    return { block_id: block, confirmation };
  },
  "agent.change": () => ({ conversation: "none", mode: "edits" }),
  "turn.answer": () => ({ block_id: block, approval_id: "a", allow: true }),
  "turn.start": () => ({ provider: "anthropic", prompt: "x", allow: ["bash"] }),
  "file.grant": () => ({ path: "package.json", agent: "codex-mcp" }),
  "file.revoke": () => ({ path: "package.json", agent: "codex-mcp" }),
  "token.create": () => ({ agent: "made-by-page" }),
  "token.revoke": () => ({ agent: "made-by-page" }),
  "session.revoke": () => ({ id: "0123456789abcdef" }),
  "trust.allow": async () => {
    const { folder, digest } = await yard.call("trust.show", {});
    return { folder, digest };
  },
  "trust.revoke": async () => ({ folder: (await yard.call("trust.show", {}))["folder"] }),
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
  const { body: said } = await yard.ask(`/v1/tools/${tool}`, { method: "POST", headers, body });
  return JSON.parse(said) as Record<string, unknown>;
}

const needsProof = { problem: "forbidden", details: { needs: "proof" } };
const entries = (action?: string) =>
  yard.running.store.audit.read({
    order: "first",
    limit: 1_000,
    ...(action === undefined ? {} : { action }),
  });

describe("step-up", () => {
  it("[AC242] the list of tools here is that of the table", () => {
    const table = yard.running.tools.sensitive();
    expect(Object.keys(SENSITIVE).toSorted()).toEqual([...table].toSorted());
  });

  it.each(Object.keys(SENSITIVE))(
    "[AC242] %s is not done without the page's proof of this very call",
    async (tool) => {
      const body = JSON.stringify(await SENSITIVE[tool]?.());
      const other = await yard.browser();
      const before = [await yard.state(), (await entries(tool)).length];
      const bad: readonly (string | undefined)[] = [
        undefined,
        "",
        "x",
        `${await page.challenge()}.x`,
        await signed(tool, `${body} `),
        await signed(tool === "command.run" ? "turn.answer" : "command.run", body),
        await signed(tool, body, page, `http://127.0.0.1:${yard.port + 1}`),
        // Signed by another page of the owner's, for its own session.
        await signed(tool, body, other),
      ];
      for (const proof of bad)
        expect([proof, await call(tool, body, proof)]).toMatchObject([proof, needsProof]);
      const overSocket = await socketCall(tool, JSON.parse(body));
      expect(overSocket).toMatchObject({ problem: needsProof });
      // Neither an agent nor a viewer gets by with anything.
      for (const token of [yard.agent(`thief-${tool}`), yard.viewer(`eye-${tool}`)])
        expect(await yard.call(tool, JSON.parse(body), token)).toMatchObject({ problem: "forbidden" });
      expect([await yard.state(), (await entries(tool)).length]).toEqual(before);
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
        message: "this proof was used before",
      });
    },
  );

  it("[AC242] the owner's own token needs no page, and what it does is written down too", async () => {
    const input = (await SENSITIVE["command.run"]?.()) as object;
    expect(await yard.call("command.run", input)).toHaveProperty("block_id");
    const all = await entries("command.run");
    expect(all.at(-1)).toMatchObject({ by: "token", details: { block_id: block, command: "echo ran" } });
    expect(JSON.stringify(all)).not.toContain((input as { confirmation: string }).confirmation);
  });

  it("[AC246] nothing is done that cannot be written down", async () => {
    const { audit } = yard.running.store;
    const { append } = audit;
    const broken = () => Promise.reject(new Error("the disk is full"));
    for (const [tool, make] of Object.entries(SENSITIVE)) {
      const input = await make();
      const before = await yard.state();
      Object.assign(audit, { append: broken });
      const answer = await yard.call(tool, input);
      const link = await yard.ask(`/?link=${yard.running.auth.makeLink()}`);
      const imported = await yard.ask("/v1/import", { method: "POST", token: yard.owner, body: "{}" });
      Object.assign(audit, { append });
      expect([tool, answer]).toMatchObject([tool, { problem: "storage" }]);
      expect([link.status, link.headers["set-cookie"]]).toEqual([503, undefined]);
      expect(imported.body).toContain("the audit log cannot be written");
      expect(await yard.state()).toBe(before);
    }
    expect(yard.running.auth.list().map(({ agent }) => agent)).not.toContain("made-by-page");
  });

  it("[AC247] the log has who was let in, and is read by the owner alone", async () => {
    expect(await entries("session.open")).not.toEqual([]);
    const answer = await yard.call("audit.list", { action: "session.open", limit: 1 });
    expect(answer).toMatchObject({ entries: [{ action: "session.open", by: "link" }] });
    for (const token of [yard.agent("reader"), yard.viewer("looker")])
      expect(await yard.call("audit.list", {}, token)).toMatchObject({ problem: "forbidden" });
    const names = yard.running.tools.schemas().map(({ name }) => name);
    expect(names.filter((name) => name.startsWith("audit."))).toEqual(["audit.list"]);
  });
});

function socketCall(tool: string, input: unknown): Promise<unknown> {
  const socket = new WebSocket(`ws://${yard.host}/v1/feed?ticket=${page.ticket}`, {
    headers: { cookie: page.cookie, origin: yard.origin },
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
