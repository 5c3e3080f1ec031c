/** What a call may contain: no string reaches a shell, no key a prototype, no size or depth the memory limit. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { statusOf, TestHarness } from "./harness.ts";
import { inject } from "./injection.ts";

describe("[R39] shell characters", () => {
  it("[AC22] no payload in any string field of any tool makes a file, on any transport", async () => {
    const { failures, fields, payloads, answers } = await inject(17);
    expect(failures).toEqual([]);
    expect(fields).toBeGreaterThan(50);
    expect(payloads).toBeGreaterThanOrEqual(60);
    expect(answers["answered"]).toBeGreaterThan(50);
  }, 60_000);
});

describe("[R40] JSON that means harm", () => {
  let harness: TestHarness;
  let model: string;
  beforeAll(async () => {
    harness = await TestHarness.start();
    model = harness.agent("model-mcp");
  });
  afterAll(() => harness.stop());

  const wide = `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":0`).join(",")}}`;
  const rows: [string, string][] = [
    ["a prototype", '{"__proto__":{"polluted":true}}'],
    ["a prototype inside", '{"title":"x","metadata":{"__proto__":{"polluted":true}}}'],
    ["a constructor", '{"metadata":{"constructor":{"prototype":{"polluted":true}}}}'],
    ["a prototype in a list", '{"metadata":{"a":[{"__proto__":{"polluted":true}}]}}'],
    ["an escaped prototype", '{"\\u005f_proto__":{"polluted":true}}'],
    ["depth 200", `{"metadata":${'{"a":'.repeat(200)}1${"}".repeat(200)}}`],
    ["depth 100,000", "[".repeat(100_000)],
    ["depth of 5,000,000", "[".repeat(5_000_000)],
    ["100,000 keys", wide],
    ["a doubled key", '{"title":"a","title":"b"}'],
    ["a doubled key inside", '{"metadata":{"a":1,"a":2}}'],
    ["no JSON", "{title:1}"],
    ["a list", "[1,2]"],
    ["a string", '"x"'],
    ["null", "null, null"],
    ["bytes", "\u0000\u0001\ufffd"],
  ];

  /** Where a tool's name and the words around its input differ. */
  const transports: [string, (body: string) => Promise<{ status: number; body: string }>][] = [
    ["tool", (body) => post("/v1/tools/conversation.create", body)],
    ["another tool", (body) => post("/v1/tools/block.create", body)],
    ["mcp itself", (body) => post("/mcp", body)],
    [
      "a tool over mcp",
      (body) =>
        post(
          "/mcp",
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"conversation_create","arguments":${body}}}`,
        ),
    ],
  ];

  function post(path: string, body: string) {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    return harness.ask(path, {
      method: "POST",
      headers,
      body,
      token: path === "/mcp" ? model : harness.owner,
    });
  }

  it.each(rows)(
    "[AC21] %s is a typed refusal everywhere, and the prototype stays clean",
    async (_name, body) => {
      const before = await harness.state();
      for (const [transport, send] of transports) {
        const answer = await send(body);
        const said = JSON.parse(answer.body.replace(/^[\s\S]*?data: /, "")) as Record<string, unknown>;
        const { isError } = (said["result"] ?? {}) as { isError?: unknown };
        const isMcpRefusal = "error" in said || isError === true;
        const isRefusal = answer.status >= 400 && answer.status < 500 && "problem" in said;
        expect([transport, isRefusal || isMcpRefusal]).toEqual([transport, true]);
      }
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
      expect(await harness.state()).toBe(before);
    },
  );

  it("[AC24] a body over the limit is refused as too large, with a length and without", async () => {
    const big = `{"title":"${"x".repeat(9 * 1024 * 1024)}"}`;
    const mcp = await post("/mcp", big);
    expect([mcp.status, JSON.parse(mcp.body)]).toEqual([
      413,
      expect.objectContaining({ problem: "too_large" }),
    ]);
    const chunked = { "transfer-encoding": "chunked", "content-type": "application/json" };
    const again = await harness.ask("/mcp", { method: "POST", headers: chunked, body: big, token: model });
    expect(again.status).toBe(413);
    const claims = { "content-length": "99999999999" };
    const head = `POST /v1/tools/block.create HTTP/1.1\r\nhost: ${harness.host}\r\nauthorization: Bearer ${harness.owner}\r\n`;
    const answer = await harness.raw(`${head}content-length: ${claims["content-length"]}\r\n\r\n{`);
    expect(answer).toContain("413");
  });

  it.each([
    ["/v1/tools/conversation.create", '{"title":"in pieces"}', 200],
    ["/v1/tools/conversation.list", "", 200],
    ["/v1/ingest?provider=claude", '{"type":"x"}\n', 200],
    ["/v1/import", '{"type":"x"}\n', 400],
    ["/v1/blobs", "no picture", 400],
    ["/mcp", '{"jsonrpc":"2.0","id":1,"method":"ping"}', 200],
  ])("[AC128] %s takes a body that comes in pieces without a length", async (path, body, expected) => {
    const headers = {
      ...{ "transfer-encoding": "chunked", "content-type": "application/json" },
      accept: "application/json, text/event-stream",
    };
    const token = path === "/mcp" ? model : harness.owner;
    const answer = await harness.ask(path, { method: "POST", headers, body, token });
    expect([path, answer.status, answer.body]).toEqual([
      path,
      expected,
      expect.not.stringContaining("internal error"),
    ]);
  });

  it("[AC24] bodies of one caller are bounded together, and another's are not in their way", async () => {
    const agent = harness.agent("hoarder");
    const head = `POST /v1/tools/block.create HTTP/1.1\r\nhost: ${harness.host}\r\nauthorization: Bearer ${agent}\r\n`;
    const claim = `content-length: ${8 * 1024 * 1024}\r\n\r\n{`;
    const sockets = Array.from({ length: 4 }, () => harness.socket(head + claim));
    const ask = (token: string) =>
      harness.ask("/v1/tools/conversation.list", { method: "POST", body: "{}", token });
    while ((await ask(agent)).status === 200); // until the last of them has arrived
    expect(JSON.parse((await ask(agent)).body)).toMatchObject({ problem: "busy" });
    expect(statusOf(await harness.raw(`${head}transfer-encoding: chunked\r\n\r\n`))).toBe(429);
    expect((await ask(harness.owner)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    while ((await ask(agent)).status === 429); // until it is known that they are gone
    const { body } = await harness.ask("/metrics", { token: harness.owner });
    expect(body).toContain("blockyard_faults_total 0"); // [AC52] requests that broke off are none
    harness.running.auth.revoke("hoarder");
  });

  it("[AC24] a key for repeating a write is short and visible", async () => {
    const send = (key: string) =>
      harness.ask("/v1/tools/conversation.list", {
        method: "POST",
        body: "{}",
        token: harness.owner,
        headers: { "idempotency-key": key },
      });
    expect((await send("k".repeat(200))).status).toBe(200);
    expect((await send("k".repeat(201))).status).toBe(400);
    expect((await send("a b")).status).toBe(400);
  });
});
