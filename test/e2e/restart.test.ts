/** The shipped examples against the real server, which is stopped and started again while they are at work. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "@blockyard/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serverFlags } from "../../scripts/setup.mjs";
import { Server } from "./server.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const main = join(repository, "packages/server/src/main.ts");
let folder: string;
let server: Server;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "blockyard-restart-"));
  // As an installed package: the client under the name that programs know it by.
  const installed = join(folder, "node_modules/blockyard");
  mkdirSync(installed, { recursive: true });
  const exported = { name: "blockyard", exports: { "./client": "./client.mjs" } };
  writeFileSync(join(installed, "package.json"), JSON.stringify(exported));
  const client = JSON.stringify(join(repository, "packages/client/src/index.ts"));
  writeFileSync(join(installed, "client.mjs"), `export * from ${client};\n`);
  for (const name of ["own-loop.mjs", "note-keeper.mjs"])
    cpSync(join(repository, "examples", name), join(folder, name));
  mkdirSync(join(folder, "home"), { mode: 0o700 });
  server = await Server.start({ home: join(folder, "home"), root: folder });
});

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function restart(): Promise<void> {
  const { port } = new URL(server.url);
  await server.stop();
  server = await Server.start({ home: join(folder, "home"), root: folder, port });
}

function token(agent: string): string {
  const args = [...serverFlags, main, "token", "create", "--agent", agent, "--home", join(folder, "home")];
  return execFileSync(process.execPath, args, { env: { ...process.env, HOME: folder } })
    .toString()
    .trim();
}

interface Example {
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly ended: Promise<number | null>;
}

function example(name: string, args: readonly string[]): Example {
  const child = spawn(process.execPath, [join(folder, name), ...args], { cwd: folder });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      text += data.toString();
    });
  return { child, said: () => text, ended: new Promise((done) => child.on("exit", (code) => done(code))) };
}

/** Resolves with the first text in the conversation that fits, as a client of its own sees it. */
function until(client: Client, conversation: string, fits: (text: string) => boolean): Promise<string> {
  const view = client.replica.subscribe(conversation);
  return new Promise((resolve) => {
    const look = () => {
      for (const [id, text] of view.texts) if (fits(text.toString())) resolve(id);
    };
    client.replica.listen(look);
    look();
  });
}

it("[CL9] a loop of one's own goes on after a restart in the middle of its answer", async () => {
  const { conversation } = await server.do("conversation.create", { title: "own" });
  await server.do("block.create", { conversation, kind: "text", role: "user", content: "Count." });
  const client = await connect({ url: server.url, token: server.token });
  const loop = example("own-loop.mjs", [server.url, token("my-loop"), conversation]);
  loop.child.stdin?.write("One. ");
  const answer = await until(client, conversation, (text) => text === "One. ");
  await restart();
  expect((await server.do("block.read", { block_id: answer })).status).toBe("running");
  loop.child.stdin?.write("Two. ");
  loop.child.stdin?.end("Three.");
  expect([await loop.ended, loop.said()]).toEqual([0, expect.stringContaining("done: turn-")]);
  const blocks = await server.blocks(conversation);
  expect(blocks.map(({ role, status, content }) => [role, status, content])).toEqual([
    ["user", "done", "Count."],
    ["model", "done", "One. Two. Three."],
  ]);
  const { turns } = await server.do("turn.list", { conversation });
  expect(turns).toMatchObject([
    {
      agent: "my-loop",
      provider: "pipe",
      status: "done",
      stop_reason: "end_turn",
      usage: { output: expect.any(Number) },
    },
  ]);
  client.close();
}, 60_000);

it("[CL9] the note keeper goes on with its note after a restart, and ends it", async () => {
  const { conversation } = await server.do("conversation.create", { title: "noted" });
  const client = await connect({ url: server.url, token: server.token });
  const keeper = example("note-keeper.mjs", [server.url, token("keeper"), conversation]);
  const note = await until(client, conversation, (text) => text.startsWith("# Tool calls"));
  const callTool = async (name: string) => {
    const metadata = { toolUseId: name, toolName: name };
    const spec = { conversation, kind: "tool_call", role: "model", content: "{}", metadata };
    const { block_id } = await server.do("block.create", spec);
    await server.do("block.status", { block_id, status: "done" });
    await until(
      client,
      conversation,
      (text) => text.startsWith("# Tool calls") && text.includes(`ok: ${name}`),
    );
  };
  await callTool("before");
  await restart();
  await callTool("after");
  keeper.child.kill("SIGINT");
  expect([await keeper.ended, keeper.said()]).toEqual([0, expect.stringContaining("ok: after")]);
  expect(await server.do("block.read", { block_id: note, line_numbers: false })).toMatchObject({
    status: "done",
    content: expect.stringMatching(/before.*\n.*after/),
  });
  client.close();
}, 60_000);
