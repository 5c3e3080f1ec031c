/** The client against the real server: calls, copies that survive cuts, tool updates, refusals. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Server } from "../../../test/e2e/server.ts";
import { type Client, connect, type LinkState, Refusal } from "./index.ts";

let home: string;
let server: Server;
const clients: Client[] = [];

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "blockyard-client-"));
  server = await Server.start({ home, root: home });
});

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

afterAll(async () => {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

async function open(onState?: (state: LinkState) => void): Promise<Client> {
  const options = { url: server.url, token: server.token, ...(onState ? { onState } : {}) };
  const client = await connect(options);
  clients.push(client);
  return client;
}

async function write(client: Client): Promise<{ conversation: string; block: string }> {
  const { conversation } = await client.call("conversation.create", { title: "t" });
  const spec = { conversation, kind: "text", role: "model", content: "one\n", status: "running" } as const;
  const { block_id: block } = await client.call("block.create", spec);
  return { conversation, block };
}

describe("client", () => {
  it("[CL1] follows another client's writes, and throws a tool's refusals", async () => {
    const writer = await open();
    const { conversation, block } = await write(writer);
    const reader = await open();
    const arrived = Promise.withResolvers<void>();
    const view = await reader.follow(conversation, (_, { texts }) => {
      if (texts.get(block)?.toString() === "one\ntwo\n") arrived.resolve();
    });
    expect(view.record?.title).toBe("t");
    await writer.call("block.append", { block_id: block, text: "two\n" });
    await arrived.promise;
    const refused = await reader.call("block.read", { block_id: "no/such/1" }).catch((error) => error);
    expect(refused).toBeInstanceOf(Refusal);
    expect((refused as Refusal).problem.problem).toBe("not_found");
    await expect(reader.follow("nowhere", () => {})).rejects.toThrow("nowhere");
  });

  it("[CL2] tells the life of a tool call once, from its start to its end", async () => {
    const client = await open();
    const { conversation } = await write(client);
    const stages: string[] = [];
    const over = Promise.withResolvers<void>();
    client.onTool((update) => {
      stages.push(`${update.name} ${update.stage}`);
      if (update.stage === "end") over.resolve();
    });
    await client.follow(conversation, () => {});
    const metadata = { toolUseId: "t1", toolName: "Bash" };
    const spec = { conversation, kind: "tool_call", role: "model", content: "{}", metadata } as const;
    const call = await client.call("block.create", spec);
    await client.call("block.status", { block_id: call.block_id, status: "done" });
    await over.promise;
    expect(stages[0]).toBe("Bash start");
    expect(stages.filter((stage) => stage.endsWith("end"))).toHaveLength(1);
  });

  it("[CL3] reconnects by itself after an outage, and gets what it missed", async () => {
    const states: string[] = [];
    const back = Promise.withResolvers<void>();
    const reader = await open(({ state }) => {
      states.push(state);
      if (state === "open" && states.includes("waiting")) back.resolve();
    });
    const { conversation, block } = await write(reader);
    const whole = Promise.withResolvers<void>();
    await reader.follow(conversation, (_, { texts }) => {
      if (texts.get(block)?.toString().endsWith("while you were away\n")) whole.resolve();
    });
    const port = new URL(server.url).port;
    await server.stop();
    server = await Server.start({ home, root: home, port });
    await server.do("block.edit", {
      block_id: block,
      operations: [{ op: "insert", line: 1, content: "while you were away" }],
    });
    await back.promise;
    await whole.promise;
    expect(reader.state.state).toBe("open");
  });

  it("[CL7] adds llm_* events up to messages, also over a restart of the server, and says why it cannot", async () => {
    const client = await open();
    const { conversation } = await client.call("conversation.create", {
      title: "t",
    });
    const body = (id: string, text: string) =>
      JSON.stringify({
        id,
        type: "message",
        model: "m",
        stop_reason: "end_turn",
        content: [{ type: "text", text }],
      });
    const ingest = async (id: string, text: string) => {
      const url = `${server.url}/v1/ingest?provider=anthropic&conversation=${conversation}`;
      const headers = { authorization: `Bearer ${server.token}` };
      const response = await fetch(url, { method: "POST", headers, body: body(id, text) });
      expect(response.status).toBe(200);
    };
    let news = () => undefined as unknown;
    const stream = client.llm(conversation, () => news());
    const until = (count: number) =>
      new Promise<void>((there) => {
        news = () =>
          stream.messages.length === count &&
          stream.messages.every(({ isComplete }) => isComplete) &&
          there();
        news();
      });
    await stream.opened;
    await ingest("m1", "one");
    await until(1);
    const port = new URL(server.url).port;
    await server.stop();
    server = await Server.start({ home, root: home, port });
    await ingest("m2", "while you were away");
    await until(2);
    expect(stream.messages.map(({ contentBlocks }) => contentBlocks.map(({ content }) => content))).toEqual([
      ["one"],
      ["while you were away"],
    ]);
    stream.stop();
    expect(await stream.ended).toBe(undefined);
    const [first] = stream.messages;
    const again = client.llm(conversation, () => news(), { from: first?.messageId ?? "" });
    await new Promise<void>((there) => {
      news = () => again.messages.length === 2 && there();
      news();
    });
    expect(again.messages[0]).toEqual(first);
    expect(await client.llm("nowhere", () => undefined).ended).toMatchObject({ problem: "not_found" });
  });

  it("[CL4] says why a token is not accepted, and does not try for ever", async () => {
    const refused = connect({ url: server.url, token: "wrong" });
    await expect(refused).rejects.toThrow("does not accept this token");
  });

  it("[CL11] reports that nothing answers at an address, and waits for a server that is being started", async () => {
    const port = new URL(server.url).port;
    await server.stop();
    const nobody = connect({ url: server.url, token: server.token, connectMs: 1 });
    await expect(nobody).rejects.toThrow(`nothing answers at ${server.url}. Start the server`);
    const early = connect({ url: server.url, token: server.token });
    server = await Server.start({ home, root: home, port });
    const client = await early;
    expect(client.state.state).toBe("open");
    client.close();
  });
});
