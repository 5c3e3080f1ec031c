/**
 * What is read of a request, and when: first its sender, then whether that may call, then no more than its limit. The
 * rows are made from the table of tools, so that a new tool is covered.
 */
import { limits, type ToolSchema } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { statusOf, TestHarness } from "./harness.ts";
import { mcpClient, openReplica } from "./transports.ts";

let harness: TestHarness;
let viewer: string;
let agent: string;
let schemas: readonly ToolSchema[];

const MB = 1024 * 1024;
type Role = "viewer" | "agent" | "owner";

beforeAll(async () => {
  harness = await TestHarness.start();
  viewer = harness.viewer("wall");
  agent = harness.agent("ann");
  schemas = harness.running.tools.schemas();
});

afterAll(() => harness.stop());

const tokenOf = (role: Role) => ({ viewer, agent, owner: harness.owner })[role];

/** The answer to a request of which only the head has arrived. */
async function headAlone(path: string, token: string, length: number): Promise<string> {
  const head = `POST ${path} HTTP/1.1\r\nhost: ${harness.host}\r\nauthorization: Bearer ${token}\r\n`;
  return harness.raw(`${head}content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`);
}

function maxBytes({ carriesText }: ToolSchema, role: Role): number {
  if (!carriesText) return limits.callBytes;
  return role === "owner" ? limits.ownerCallBytes : limits.textCallBytes;
}

function mayCall({ access }: ToolSchema, role: Role): boolean {
  return role === "owner" || access === "read" || (access === "write" && role === "agent");
}

describe("before a body is read", () => {
  it.each(["viewer", "agent", "owner"] as const)(
    "[AC220] [AC221] the %s is refused by the head alone, for its role or its size",
    async (role) => {
      const token = tokenOf(role);
      let refused = 0;
      for (const schema of schemas) {
        const over = maxBytes(schema, role) + 1;
        for (const length of [over, 12 * MB, 63 * MB].filter((bytes) => bytes >= over)) {
          const status = statusOf(await headAlone(`/v1/tools/${schema.name}`, token, length));
          const expected = mayCall(schema, role) ? 413 : 403;
          expect([schema.name, length, status]).toEqual([schema.name, length, expected]);
          if (status === 403) refused++;
        }
      }
      expect(refused > 0).toBe(role !== "owner");
      expect(statusOf(await headAlone("/v1/tools/no.such", token, 12 * MB))).toBe(404);
    },
  );

  it.each(["/v1/ingest", "/v1/import", "/v1/blobs"])(
    "[AC220] %s refuses a viewer by the head alone",
    async (path) => {
      expect(statusOf(await headAlone(path, viewer, 12 * MB))).toBe(403);
    },
  );

  it("[AC220] MCP refuses the owner, and a viewer more than reading takes, by the head alone", async () => {
    expect(statusOf(await headAlone("/mcp", harness.owner, 12 * MB))).toBe(403);
    expect(statusOf(await headAlone("/mcp", viewer, 128 * 1024))).toBe(413);
    expect(statusOf(await headAlone("/mcp", agent, 9 * MB))).toBe(413);
  });
});

it("[AC220] only who is let in is told to go on with a body", async () => {
  const ask = async (token: string) => {
    const head = `POST /v1/tools/conversation.list HTTP/1.1\r\nhost: ${harness.host}\r\nauthorization: Bearer ${token}\r\n`;
    return statusOf(await harness.raw(`${head}expect: 100-continue\r\ncontent-length: 2\r\n\r\n`));
  };
  expect(await ask("x".repeat(43))).toBe(401);
  expect(await ask(harness.owner)).toBe(100);
  expect(await ask(viewer)).toBe(100);
  const head = `POST /v1/tools/conversation.list HTTP/1.1\r\nhost: ${harness.host}\r\nauthorization: Bearer ${harness.owner}\r\n`;
  const whole = await harness.raw(
    `${head}expect: 100-continue\r\ncontent-length: 2\r\n\r\n{}`,
    undefined,
    "conversations",
  );
  expect(whole).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
});

describe("how much may be sent", () => {
  /** A call of exactly this length, which is then refused for its content. */
  const filled = (bytes: number) => `{"x":"${"x".repeat(bytes - 8)}"}`;
  const post = (path: string, body: string, token: string) =>
    harness.ask(path, { method: "POST", body, token, headers: { "content-type": "application/json" } });

  it("[AC221] every tool accepts its limit, and not a byte more", async () => {
    for (const schema of schemas.filter(({ carriesText }) => !carriesText)) {
      const most = limits.callBytes;
      const statuses = [filled(most), filled(most + 1)].map(async (body) => {
        const { status } = await post(`/v1/tools/${schema.name}`, body, harness.owner);
        return status;
      });
      expect([schema.name, ...(await Promise.all(statuses))]).toEqual([schema.name, 400, 413]);
    }
    const texts = schemas.filter(({ carriesText, access }) => carriesText && access === "write");
    expect(texts.length).toBeGreaterThan(5);
    for (const { name } of texts) {
      const { status } = await post(`/v1/tools/${name}`, filled(limits.textCallBytes), agent);
      expect([name, status]).toEqual([name, 400]);
    }
  });

  it("[AC222] a body with too many values is refused before it is parsed, on every transport", async () => {
    const zeros = (bytes: number) => `[${"0,".repeat(bytes / 2)}0]`;
    const made = (list: string) => `{"conversation":"x","kind":"text","metadata":{"a":${list}}}`;
    for (const bytes of [limits.callValues * 2, 7 * MB]) {
      const { status, body } = await post("/v1/tools/block.create", made(zeros(bytes)), agent);
      expect([status, JSON.parse(body)]).toMatchObject([413, { details: { max_values: limits.callValues } }]);
    }
    const { status } = await post("/v1/tools/block.create", made(zeros(62 * MB)), harness.owner);
    expect(status).toBe(413);
    const call = (list: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"block_create","arguments":${made(list)}}}`;
    const mcp = await post("/mcp", call(zeros(7 * MB)), agent);
    expect([mcp.status, mcp.body]).toEqual([400, expect.stringContaining("JSON is limited to")]);
    const { socket } = await openReplica(harness.running.url, agent);
    const closed = new Promise((gone) => socket.once("close", (code) => gone(code)));
    socket.send(`{"type":"call","id":1,"tool":"block.create","input":${made(zeros(900_000))}}`);
    expect(await closed).toBe(4011);
  });

  it("[AC222] a line of a stream with too many values is kept as it came, and not parsed", async () => {
    const line = `{"type":"user","message":[${"0,".repeat(limits.lineValues)}0]}`;
    const path = "/v1/ingest?provider=claude";
    const { body } = await post(path, `${line}\n`, agent);
    const { conversation } = JSON.parse(body) as { conversation: string };
    const [block] = await harness.running.store.blocks({ conversation, order: "first", limit: 9 });
    expect(block?.kind).toBe("unknown");
    const [run = ""] = await harness.running.store.rawRuns(conversation);
    const raw = await harness.running.store.raw({ conversation, run });
    expect(Buffer.from(raw).toString("utf8").trim()).toBe(line);
  });

  it("[AC221] over MCP and sockets a tool has the bound that it has over HTTP", async () => {
    const long = { block_id: "x".repeat(limits.callBytes + 20_000) };
    const client = await mcpClient(harness.running.url, agent);
    const called = client.callTool({ name: "block_read", arguments: long });
    await expect(called).rejects.toThrow(/too_large|413/);
    await client.close();
    const { replica, socket } = await openReplica(harness.running.url, agent);
    expect(await replica.call("block.read", long, { write: true })).toMatchObject({ problem: "too_large" });
    const text = { block_id: "x", text: long.block_id };
    expect(await replica.call("block.append", text, { write: true })).not.toMatchObject({
      problem: "too_large",
    });
    socket.close();
  });

  it("[AC221] a viewer's socket takes short messages only", async () => {
    const { socket } = await openReplica(harness.running.url, viewer);
    const closed = new Promise((gone) => socket.once("close", (code) => gone(code)));
    socket.send(JSON.stringify({ type: "ping", n: 1, pad: "x".repeat(200_000) }));
    expect(await closed).toBe(1009);
    expect(socket.readyState).toBe(WebSocket.CLOSED);
  });

  it("[AC222] sending 12 MB with a viewer's token keeps nobody else waiting", async () => {
    const deaf = harness.socket(
      `POST /v1/tools/conversation.list HTTP/1.1\r\nhost: ${harness.host}\r\nauthorization: Bearer ${viewer}\r\ncontent-length: ${12 * MB}\r\n\r\n[`,
    );
    deaf.write("0,".repeat(6 * MB - 1));
    const { conversations } = await harness.call("conversation.list", {});
    expect(conversations).toBeDefined();
    deaf.destroy();
  });
});
