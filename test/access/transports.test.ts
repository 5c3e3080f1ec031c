/** One table of scenarios through HTTP, WebSocket and MCP: the same answers over every transport. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestHarness } from "./harness.ts";
import { allTransports, overHttp, overMcp, overSocket, type Transport } from "./transports.ts";

let harness: TestHarness;
let teller: string;
beforeAll(async () => {
  harness = await TestHarness.start();
  teller = harness.agent("teller");
});
afterAll(() => harness.stop());

type Answer = Record<string, unknown>;
type Call = (tool: string, input: object) => Promise<Answer>;

const text = { kind: "text", role: "model" };

/** What it is answered, then the calls: each scenario gets a conversation of its own and a way to call. */
const scenarios: readonly [string, string, (call: Call, conversation: string) => Promise<unknown>][] = [
  [
    "create and read",
    "ok ok ok ok ok",
    async (call, conversation) => {
      const { block_id } = await call("block.create", { conversation, ...text, content: "a\nb\nc\n" });
      await call("block.read", { block_id });
      await call("block.read", { block_id, range: { start: 1, end: 2 }, line_numbers: false });
      await call("block.list", { conversation });
      return call("conversation.read", { conversation });
    },
  ],
  [
    "append",
    "ok ok ok ok closed ok",
    async (call, conversation) => {
      const { block_id } = await call("block.create", { conversation, ...text });
      await call("block.append", { block_id, text: "one ", wait: true });
      await call("block.append", { block_id, text: "two\n", wait: true });
      await call("block.status", { block_id, status: "done" });
      await call("block.append", { block_id, text: "late" });
      return call("block.read", { block_id });
    },
  ],
  [
    "edit, and a conflict that says what is there",
    "ok ok mismatch ok out_of_range",
    async (call, conversation) => {
      const { block_id } = await call("block.create", { conversation, ...text, content: "a\nb\nc\n" });
      const replace = { op: "replace", start_line: 1, end_line: 2, content: "B", expected_text: "b" };
      await call("block.edit", { block_id, operations: [replace] });
      await call("block.edit", { block_id, operations: [replace] });
      await call("block.edit", {
        block_id,
        operations: [{ op: "delete", start_line: 0, end_line: 1 }],
        base_version: 1,
      });
      return call("block.edit", { block_id, operations: [{ op: "insert", line: 99, content: "x" }] });
    },
  ],
  [
    "splice and patch",
    "ok ok boundary ok ok patch",
    async (call, conversation) => {
      const { block_id } = await call("block.create", { conversation, ...text, content: "a\nb\nc\n" });
      await call("block.splice", { block_id, offset: 0, delete_count: 1, insert: "ä" });
      await call("block.splice", { block_id, offset: 1, delete_count: 0, insert: "x" });
      const patch = "@@ -1,3 +1,3 @@\n ä\n-b\n+B\n c\n";
      await call("block.apply_patch", { block_id, patch, dry_run: true });
      await call("block.apply_patch", { block_id, patch });
      return call("block.apply_patch", { block_id, patch });
    },
  ],
  [
    "undo and redo",
    "ok ok ok ok nothing ok",
    async (call, conversation) => {
      const { block_id } = await call("block.create", { conversation, ...text, content: "a\n" });
      await call("block.edit", { block_id, operations: [{ op: "insert", line: 1, content: "b" }] });
      await call("block.undo", { block_id });
      await call("block.redo", { block_id });
      await call("block.redo", { block_id });
      return call("block.history", { block_id });
    },
  ],
  [
    "search",
    "ok ok pattern ok",
    async (call, conversation) => {
      const { block_id } = await call("block.create", {
        conversation,
        ...text,
        content: "needle here\nand a Needle\n",
      });
      await call("block.search", { block_id, query: "needle" });
      await call("block.search", { block_id, query: "(" });
      return call("block.search", { block_id, query: "nothing like it" });
    },
  ],
  [
    "fork, prune, include",
    "ok ok ok ok ok",
    async (call, conversation) => {
      const { block_id } = await call("block.create", {
        conversation,
        ...text,
        content: "x",
        status: "done",
      });
      await call("conversation.prune", { block_id });
      await call("conversation.include", { conversation, block_id });
      await call("conversation.fork", { block_id });
      return call("block.list", { conversation });
    },
  ],
  [
    "sync",
    "ok ok ok invalid",
    async (call, conversation) => {
      const { block_id } = await call("block.create", { conversation, ...text, content: "x" });
      await call("block.sync", { versions: [{ block_id, version: 0 }] });
      await call("block.sync", { conversation });
      return call("block.sync", {});
    },
  ],
  [
    "what is not there and what does not fit",
    "not_found not_found invalid invalid invalid unknown_tool",
    async (call, conversation) => {
      await call("block.read", { block_id: `${conversation}/nobody/1` });
      await call("conversation.read", { conversation: "nowhere" });
      await call("block.create", { conversation });
      await call("block.create", { conversation, ...text, colour: "red" });
      await call("block.status", { block_id: "x", status: "finished" });
      return call("no.such.tool", {});
    },
  ],
];

/** Ids and times aside, which no two conversations share. */
function comparable(answers: readonly unknown[], conversation: string): unknown {
  let json = JSON.stringify(answers);
  const ids = [
    conversation,
    ...[...json.matchAll(/"conversation":"([a-z0-9]+)"/g)].map(([, id]) => id ?? ""),
  ];
  for (const [i, id] of [...new Set(ids)].entries()) json = json.replaceAll(id, `CONVERSATION-${i}`);
  const plain = json
    .replaceAll(/("(?:created_at|updated_at|at|from|until|duration_ms|took_ms)":)\d+(\.\d+)?/g, "$10")
    .replaceAll(/"valid_tools":\[[^\]]*\]/g, '"valid_tools":[]')
    .replaceAll("no_such_tool", "no.such.tool");
  return JSON.parse(plain);
}

describe("the three transports", () => {
  it.each(scenarios)("[AC30] give the same answers: %s", async (_name, expected, run) => {
    const told = new Map<string, unknown>();
    for (const transport of await allTransports(harness, teller)) {
      const { conversation } = (await transport.call("conversation.create", { title: "same" })) as {
        conversation: string;
      };
      const answers: unknown[] = [];
      await run(async (tool, input) => {
        let answer = (await transport.call(tool, input)) as Answer;
        // A search has a quarter of a second; on a busy machine it may take a second try, as it says itself.
        for (let tries = 0; answer.problem === "timeout" && tries < 10; tries++) {
          answer = (await transport.call(tool, input)) as Answer;
        }
        answers.push(answer);
        return answer;
      }, conversation);
      told.set(transport.name, comparable(answers, conversation));
      await transport.close();
    }
    const codes = (told.get("http") as Answer[]).map(({ problem }) => problem ?? "ok");
    expect(codes.join(" ")).toBe(expected);
    expect(told.get("ws")).toEqual(told.get("http"));
    expect(told.get("mcp")).toEqual(told.get("http"));
  });

  it("[AC30] one conversation, written through all three, is one conversation", async () => {
    const [http, ws, mcp] = (await allTransports(harness, harness.agent("one-of-three"))) as [
      Transport,
      Transport,
      Transport,
    ];
    const { conversation } = (await http.call("conversation.create", {})) as { conversation: string };
    const { block_id } = (await ws.call("block.create", { conversation, ...text, content: "0\n" })) as {
      block_id: string;
    };
    for (const [i, transport] of [mcp, http, ws, mcp].entries())
      await transport.call("block.edit", {
        block_id,
        operations: [{ op: "insert", line: i + 1, content: transport.name }],
      });
    for (const transport of [http, ws, mcp]) {
      const read = await transport.call("block.read", { block_id, line_numbers: false });
      expect(read).toMatchObject({ content: "0\nmcp\nhttp\nws\nmcp\n", version: expect.any(Number) });
      await transport.close();
    }
  });

  it("[AC31] tools that stream are lines over HTTP, and elsewhere a problem that names the way", async () => {
    const { conversation = "" } = await harness.call("conversation.create", { title: "export me" });
    await harness.call("block.create", { conversation, ...text, content: "x" });
    const path = "/v1/tools/conversation.export";
    const exported = await harness.ask(path, {
      method: "POST",
      body: JSON.stringify({ conversation }),
      token: harness.owner,
    });
    expect(exported.headers["content-type"]).toBe("application/x-ndjson");
    const lines = exported.body
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(lines.map(({ type }) => type)).toEqual(["conversation", "block", "end"]);
    const socket = await overSocket(harness, harness.owner);
    expect(await socket.call("block.subscribe", { conversation })).toMatchObject({ problem: "invalid" });
    await socket.close();
    const mcp = await overMcp(harness, harness.agent("streamer"));
    expect(await mcp.call("block.subscribe", { conversation })).toMatchObject({
      problem: "invalid",
      message: expect.stringContaining("block_sync"),
    });
    await mcp.close();
    expect(
      await overHttp(harness, harness.owner).call("conversation.export", { conversation: "no" }),
    ).toMatchObject({
      problem: "not_found",
    });
  });

  it("[AC39] HTTP reports an invalid address, and accepts ids as they are printed", async () => {
    const { conversation = "" } = await harness.call("conversation.create", {});
    const { block_id = "" } = await harness.call("block.create", { conversation, ...text, content: "x" });
    const get = (path: string, method = "GET") => harness.ask(path, { method, token: harness.owner });
    for (const id of [block_id, encodeURIComponent(block_id)])
      expect(JSON.parse((await get(`/v1/blocks/${id}`)).body)).toMatchObject({ block_id, content: "x" });
    const wrong = await get("/v1/tools/block.read");
    expect([wrong.status, wrong.headers["allow"]]).toEqual([405, "POST"]);
    expect(wrong.body).toContain("POST");
    const rows: [string, number, string][] = [
      ["/v1/nothing", 404, "no route GET /v1/nothing"],
      [`/v1/blocks/${conversation}`, 404, "is not a block id"],
      [`/v1/conversations/${conversation}/events?format=xml`, 400, "Use blocks or legacy"],
    ];
    for (const [path, status, message] of rows) {
      const answer = await get(path);
      expect([path, answer.status]).toEqual([path, status]);
      expect(JSON.parse(answer.body)).toMatchObject({ message: expect.stringContaining(message) });
    }
  });

  it("[AC55] a call that conflicts with what is there is answered with 409, a wrong one with 400", async () => {
    const { conversation = "" } = await harness.call("conversation.create", {});
    const done = { ...text, status: "done", content: "a\nb\n" };
    const { block_id = "" } = await harness.call("block.create", { conversation, ...done });
    const replace = { op: "replace", start_line: 0, end_line: 1, content: "x" };
    const rows: [string, object, number][] = [
      ["block.apply_patch", { patch: "@@ -1,1 +1,1 @@\n-c\n+d\n" }, 409],
      ["block.apply_patch", { patch: "no diff at all" }, 400],
      ["block.edit", { operations: [{ ...replace, expected_text: "c" }] }, 409],
      ["block.edit", { operations: [replace, replace] }, 409],
      ["block.append", { text: "late" }, 409],
      ["block.redo", { count: 1 }, 409],
      ["block.edit", { operations: [{ op: "insert", line: 9, content: "x" }] }, 400],
    ];
    for (const [tool, input, status] of rows) {
      const body = JSON.stringify({ block_id, ...input });
      const answer = await harness.ask(`/v1/tools/${tool}`, { method: "POST", body, token: harness.owner });
      expect([tool, input, answer.status]).toEqual([tool, input, status]);
    }
  });

  it("[AC31] a stream over HTTP follows what changes and ends with its reader", async () => {
    const { conversation = "" } = await harness.call("conversation.create", {});
    const { block_id = "" } = await harness.call("block.create", { conversation, ...text, content: "x" });
    const stop = new AbortController();
    const response = await fetch(`${harness.running.url}/v1/tools/block.subscribe`, {
      method: "POST",
      headers: { authorization: `Bearer ${harness.owner}` },
      body: JSON.stringify({ block_ids: [block_id] }),
      signal: stop.signal,
    });
    const reader = (response.body as unknown as ReadableStream<BufferSource>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
    expect(JSON.parse((await reader.read()).value ?? "")).toMatchObject({ type: "snapshot", content: "x" });
    await harness.call("block.edit", { block_id, operations: [{ op: "insert", line: 0, content: "new" }] });
    const patched = JSON.parse((await reader.read()).value ?? "") as { type: string; version: number };
    expect(patched).toMatchObject({ type: "patch" });
    stop.abort();
    await expect(reader.read()).rejects.toThrow();
  });
});

it("[T44] a wait that its caller has given up is given up here", async () => {
  const { kernel } = harness.running;
  const listen = kernel.listen.bind(kernel);
  let listening = 0;
  kernel.listen = (listener) => {
    const stop = listen(listener);
    listening++;
    return () => {
      listening--;
      stop();
    };
  };
  const { conversation } = (await harness.call("conversation.create", { title: "t" })) as {
    conversation: string;
  };
  const gone = new AbortController();
  const asked = fetch(`${harness.running.url}/v1/tools/block.sync`, {
    method: "POST",
    headers: { authorization: `Bearer ${harness.owner}` },
    body: JSON.stringify({ conversation, since_seq: 1, wait_ms: 30_000 }),
    signal: gone.signal,
  }).catch(() => undefined);
  await expect.poll(() => listening).toBe(1);
  gone.abort();
  await asked;
  await expect.poll(() => listening).toBe(0);
  kernel.listen = listen;
});
