/** The MCP transport with the official client, over HTTP and over the standard input and output of `blockyard mcp`. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Client } from "@modelcontextprotocol/client";
import { Client as StdioClient } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CACHED } from "../e2e/server.ts";
import { TestHarness } from "./harness.ts";
import { mcpClient, stdioClient } from "./transports.ts";

/** Starting a process takes its time on a busy machine. */
const SLOW_MS = 90_000;

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));

let harness: TestHarness;
let conversation: string;
let block: string;

beforeAll(async () => {
  harness = await TestHarness.start();
  conversation = (await harness.call("conversation.create", { title: "A talk" }))["conversation"] ?? "";
  const made = { conversation, kind: "text", role: "model", content: "one\ntwo\n" };
  block = (await harness.call("block.create", made))["block_id"] ?? "";
});
afterAll(() => harness.stop());

const ways: readonly [string, (token: string) => Promise<Client>][] = [
  ["HTTP", (token) => mcpClient(harness.running.url, token, true)],
  ["HTTP, an older client", (token) => mcpClient(harness.running.url, token, false)],
  ["stdio", (token) => stdioClient(harness, token)],
  ["stdio, an older client", (token) => stdioClient(harness, token, false)],
];

describe.each(ways)("MCP over %s", (name, connect) => {
  let client: Client;
  const agent = `mcp-${name.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  beforeAll(async () => {
    client = await connect(harness.agent(agent));
  }, SLOW_MS);
  afterAll(() => client.close());

  it("[AC32] lists the tools with schemas and hints, and none that streams", async () => {
    const { tools } = await client.listTools();
    const names = tools.map((tool) => tool.name);
    expect(names).toContain("block_edit");
    expect(names).not.toContain("block_subscribe");
    expect(names.every((each) => /^[a-zA-Z0-9_-]{1,64}$/.test(each))).toBe(true);
    for (const tool of tools) {
      expect(tool.description?.length).toBeGreaterThan(20);
      expect(tool.inputSchema.type).toBe("object");
      expect(tool.annotations).toMatchObject({ readOnlyHint: expect.any(Boolean) });
    }
    const read = tools.find((tool) => tool.name === "block_read");
    expect(read).toMatchObject({ annotations: { readOnlyHint: true }, outputSchema: { type: "object" } });
  });

  it("[AC32] answers with structured content that fits the tool's own schema, as the credential's agent", async () => {
    await client.listTools(); // from now on the client checks answers against the schemas
    const read = await client.callTool({
      name: "block_read",
      arguments: { block_id: block, line_numbers: false },
    });
    expect(read.structuredContent).toMatchObject({ content: expect.stringContaining("one") });
    const input = { conversation, kind: "text", role: "model", content: "mine\n" };
    const made = await client.callTool({ name: "block_create", arguments: input });
    const { block_id } = made.structuredContent as { block_id: string };
    expect(block_id).toContain(`/${agent}/`);
    const edit = { block_id, operations: [{ op: "insert", line: 1, content: "more" }] };
    const calls: [string, object][] = [
      ["block_edit", edit],
      ["block_append", { block_id, text: "end\n", wait: true }],
      ["block_undo", { block_id }],
      ["block_redo", { block_id }],
      ["block_history", { block_id }],
      ["block_list", { conversation }],
      ["block_search", { block_id, query: "mine" }],
      ["kernel_search", { query: "mine" }],
      ["block_sync", { versions: [{ block_id, version: 1 }], conversation }],
      ["block_status", { block_id, status: "done" }],
      ["conversation_list", {}],
      ["conversation_read", { conversation }],
      ["conversation_prune", { block_id }],
      ["cursor_set", { block_id }],
      ["turn_list", { conversation }],
    ];
    for (const [tool, args] of calls) {
      const result = await client.callTool({ name: tool, arguments: args as Record<string, unknown> });
      expect([tool, result.isError ?? false]).toEqual([tool, false]);
    }
  });

  it("[AC33] a problem is an answer that a model can act on", async () => {
    const operations = [{ op: "replace", start_line: 0, end_line: 1, content: "x", expected_text: "zero" }];
    const conflict = await client.callTool({
      name: "block_edit",
      arguments: { block_id: block, operations },
    });
    expect(conflict.isError).toBe(true);
    const said = JSON.parse((conflict.content as { text: string }[])[0]?.text ?? "") as Record<
      string,
      unknown
    >;
    expect(said).toMatchObject({ problem: "mismatch", details: expect.anything() });
    expect(JSON.stringify(said)).toContain("one");
    const unknown = await client
      .callTool({ name: "block_write", arguments: {} })
      .catch((error: Error) => error);
    expect(JSON.stringify(unknown instanceof Error ? unknown.message : unknown)).toContain("block_");
    const wrong = await client.callTool({ name: "block_edit", arguments: { block_id: block } });
    expect(wrong.isError).toBe(true);
    expect(JSON.stringify(wrong.content)).toContain("operations");
    const listed = (await client.listTools()).tools.map((tool) => tool.name);
    const nothing = await client.callTool({ name: "block_write", arguments: {} }).catch(() => undefined);
    if (nothing) expect(textOf(nothing)).toMatchObject({ details: { valid_tools: listed } });
  });

  it("[AC31] a tool that streams is answered with what to do instead", async () => {
    const streams = harness.running.tools.schemas().filter((schema) => schema.streams);
    expect(streams.length).toBeGreaterThan(0);
    for (const { modelName } of streams) {
      const said = await client.callTool({ name: modelName, arguments: { conversation } });
      expect(said.isError).toBe(true);
      expect(textOf(said)).toMatchObject({ problem: "invalid", message: expect.stringContaining("instead") });
    }
  });

  it("[AC34] conversations and blocks are resources, with templates; missing ones are reported as missing", async () => {
    const { resources } = await client.listResources();
    expect(resources).toContainEqual(
      expect.objectContaining({ uri: `blockyard://conversation/${conversation}`, name: "A talk" }),
    );
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ name: each }) => each)).toEqual(["conversation", "block"]);
    const read = await client.readResource({ uri: `blockyard://block/${block}` });
    expect(read.contents[0]).toMatchObject({ mimeType: "text/plain", text: expect.stringContaining("one") });
    for (const uri of [
      "blockyard://block/no/body/1",
      "blockyard://conversation/none",
      "file:///etc/passwd",
      "x",
    ])
      await expect(client.readResource({ uri })).rejects.toThrow();
  });

  it("[AC34] the list of resources has every conversation, in pages", async () => {
    const made = await Promise.all(
      Array.from({ length: 120 }, () => harness.call("conversation.create", { title: "one of many" })),
    );
    const uris: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await client.listResources(cursor === undefined ? undefined : { cursor });
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    expect(new Set(uris).size).toBe(uris.length);
    for (const each of made) expect(uris).toContain(`blockyard://conversation/${each["conversation"]}`);
    await expect(client.listResources({ cursor: "no cursor" })).rejects.toThrow("cursor");
  });

  it("[AC35] prompts exist, are filled in, and state what they need", async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.length).toBeGreaterThanOrEqual(3);
    const prompt = await client.getPrompt({ name: "review-conversation", arguments: { conversation } });
    expect(JSON.stringify(prompt.messages)).toContain(conversation);
    await expect(client.getPrompt({ name: "no-such", arguments: {} })).rejects.toThrow("review-conversation");
    await expect(client.getPrompt({ name: "edit-together", arguments: { change: "x" } })).rejects.toThrow(
      "needs block_id",
    );
  });

  it("[AC31] is told what to do instead of a stream, and that works", async () => {
    const streamed = await client.callTool({ name: "block_subscribe", arguments: { block_ids: [block] } });
    const { message } = textOf(streamed) as { readonly message: string };
    expect(message).toContain("block_sync");
    const canSubscribe = client.getServerCapabilities()?.resources?.subscribe ?? false;
    expect(message.includes("blockyard://block/")).toBe(canSubscribe);
    const versions = [{ block_id: block, version: 0 }];
    const synced = await client.callTool({ name: "block_sync", arguments: { versions, wait_ms: 10 } });
    expect(synced.isError ?? false).toBe(false);
  });

  it("[AC36] is notified of its subscriptions, batched; or is not promised to be", async () => {
    const id = await write();
    const other = await write();
    const uri = `blockyard://block/${id}`;
    const heard: string[] = [];
    const first = Promise.withResolvers<void>();
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      heard.push(params.uri);
      first.resolve();
    });
    if (name === "HTTP, an older client") {
      expect(client.getServerCapabilities()?.resources?.subscribe ?? false).toBe(false);
      return;
    }
    const stop = await subscribe(client, uri, name.includes("older"));
    const startMs = performance.now();
    await append(other, 2);
    await append(id, 40);
    await first.promise;
    const passedMs = performance.now() - startMs;
    expect(new Set(heard)).toEqual(new Set([uri]));
    expect(heard.length).toBeLessThanOrEqual(Math.ceil(passedMs / 250) + 1);
    await stop();
  });
});

function textOf(result: { readonly content: unknown }): unknown {
  return JSON.parse((result.content as { text: string }[])[0]?.text ?? "null");
}

async function subscribe(client: Client, uri: string, isOlder: boolean): Promise<() => Promise<unknown>> {
  if (isOlder) {
    await client.subscribeResource({ uri });
    return () => client.unsubscribeResource({ uri });
  }
  const subscription = await client.listen({ resourceSubscriptions: [uri] });
  expect(subscription.honoredFilter.resourceSubscriptions).toEqual([uri]);
  return () => subscription.close();
}

async function write(): Promise<string> {
  const { block_id = "" } = await harness.call("block.create", { conversation, kind: "text", role: "user" });
  await append(block_id, 1);
  return block_id;
}

/** Appends in as many commits. */
async function append(block_id: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++)
    await harness.call("block.append", { block_id, text: `line ${i}\n`, wait: true });
}

describe("the owner's token", () => {
  it("[AC60] opens no MCP, by any method or body, and is told how to make another", async () => {
    const call = (name: string) => ({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: {} },
    });
    const bodies = [
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
      ...harness.running.tools.schemas().map(({ modelName }) => call(modelName)),
    ];
    const before = await harness.state();
    const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const page = { ...(await harness.browser()).headers, origin: harness.origin };
    for (const body of bodies.map((each) => JSON.stringify(each)))
      for (const asking of [{ token: harness.owner, headers }, { headers: { ...headers, ...page } }]) {
        const { status, body: said } = await harness.ask("/mcp", { method: "POST", body, ...asking });
        expect([body, status]).toEqual([body, 403]);
        expect(said).toContain("blockyard token create --agent");
      }
    for (const method of ["GET", "DELETE", "PUT"])
      expect((await harness.ask("/mcp", { method, token: harness.owner, headers })).status).toBe(403);
    expect(await harness.state()).toBe(before);
  });

  it.each<[string, (owner: string) => Record<string, string>]>([
    ["no variable", () => ({})],
    ["an empty variable, as a failed $(…) leaves it", () => ({ BLOCKYARD_TOKEN: "" })],
    ["a variable of blanks", () => ({ BLOCKYARD_TOKEN: " \t" })],
    ["the owner's own token", (owner) => ({ BLOCKYARD_TOKEN: owner })],
    ["a token that the running server does not know", () => ({ BLOCKYARD_TOKEN: "x".repeat(43) })],
    [
      "the owner's own token, of a server of another home",
      (owner) => ({
        BLOCKYARD_TOKEN: owner,
        BLOCKYARD_URL: harness.running.url,
        BLOCKYARD_HOME: harness.root,
      }),
    ],
  ])(
    "[AC61] blockyard mcp serves nothing with %s, and says how to make a token",
    async (_name, variables) => {
      const env = {
        PATH: process.env["PATH"] ?? "",
        HOME: harness.root,
        ...CACHED,
        BLOCKYARD_HOME: harness.home,
        ...variables(harness.owner),
      };
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, "mcp"], { env });
      const said = { out: "", error: "" };
      child.stdout.on("data", (piece: Buffer) => {
        said.out += piece.toString();
      });
      child.stderr.on("data", (piece: Buffer) => {
        said.error += piece.toString();
      });
      child.stdin.on("error", () => undefined); // it may end before it has read
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })}\n`);
      const code = await new Promise((ended) => child.once("close", ended));
      expect({ code, out: said.out }).toEqual({ code: 2, out: "" });
      expect(said.error).toContain("blockyard token create --agent claude-mcp");
    },
    SLOW_MS,
  );
});

describe("blockyard mcp without a server", () => {
  it(
    "[AC37] lists the same tools; calls say how to start one, and the list is announced when it is there",
    async () => {
      const away = await TestHarness.start();
      const token = away.agent("lonely");
      const client = new StdioClient({ name: "test", version: "1" });
      const env = {
        PATH: process.env["PATH"] ?? "",
        HOME: away.root,
        ...CACHED,
        BLOCKYARD_TOKEN: token,
      };
      const args = ["--disable-warning=ExperimentalWarning", MAIN, "mcp", "--home", away.home];
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args, env, stderr: "inherit" }),
      );
      const there = (await client.listTools()).tools;
      const told = Promise.withResolvers<void>();
      client.setNotificationHandler("notifications/tools/list_changed", () => told.resolve());
      const { home, root } = away;
      await away.running.stop();
      expect((await client.listTools()).tools).toEqual(there);
      const result = await client.callTool({ name: "conversation_list", arguments: {} });
      expect(result.isError).toBe(true);
      expect(JSON.stringify(result.content)).toMatch(/Start (it|one): blockyard/);
      const back = await TestHarness.start({ home, root });
      await told.promise;
      await client.close();
      await back.stop();
    },
    SLOW_MS,
  );
});

describe("blockyard mcp with the server started again", () => {
  it.each([true, false])(
    "[AC36] subscribers are told to read again, since changes may have been missed (stream: %s)",
    async (isModern) => {
      const first = await TestHarness.start();
      const config = { home: first.home, root: first.root };
      const made = await first.call("conversation.create", { title: "t" });
      const uri = `blockyard://conversation/${made["conversation"]}`;
      const mode = isModern ? "auto" : "legacy";
      const client = new StdioClient({ name: "test", version: "1" }, { versionNegotiation: { mode } });
      const env = {
        PATH: process.env["PATH"] ?? "",
        HOME: first.root,
        ...CACHED,
        BLOCKYARD_TOKEN: first.agent("mira"),
      };
      const args = ["--disable-warning=ExperimentalWarning", MAIN, "mcp", "--home", first.home];
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args, env, stderr: "inherit" }),
      );
      const heard = Promise.withResolvers<string>();
      client.setNotificationHandler("notifications/resources/updated", ({ params }) =>
        heard.resolve(params.uri),
      );
      await subscribe(client, uri, !isModern);
      await first.running.stop();
      const second = await TestHarness.start(config);
      expect(await heard.promise).toBe(uri);
      await client.close();
      await second.stop();
    },
    SLOW_MS,
  );
});
