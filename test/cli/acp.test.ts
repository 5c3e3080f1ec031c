/** `blockyard acp`: bytes between an editor and its agent, and what is stored of them. */
import { type ChildProcess, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { openClient } from "../../packages/server/src/cli/command-client.ts";
import { CACHED } from "../e2e/server.ts";

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));
const FAKE = fileURLToPath(new URL("../e2e/agents/fake-acp.mjs", import.meta.url));
const RECORDING = fileURLToPath(
  new URL("../../packages/providers/fixtures/acp/opencode/text.jsonl", import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), "blockyard-tee-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const line = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
const PROMPT = line(2, "session/prompt", { sessionId: "?", prompt: [{ type: "text", text: "Hi" }] });
const agent = (name: string) => [process.execPath, FAKE, RECORDING, join(folder, `${name}-heard`)];

function start(args: readonly string[], home: string): ChildProcess {
  const [command = "", ...rest] = args;
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, ...CACHED, BLOCKYARD_HOME: home };
  return spawn(command, rest, { env, stdio: ["pipe", "pipe", "pipe"] });
}

const teed = (args: readonly string[]) => [process.execPath, MAIN, "acp", "--", ...args];

/** A whole talk with an agent: what it said, byte by byte, and how it ended. */
async function talk(
  args: readonly string[],
  home = join(folder, "home"),
): Promise<{ out: Buffer; code: number | null }> {
  const child = start(args, home);
  const chunks: Buffer[] = [];
  const text = () => Buffer.concat(chunks).toString("utf8");
  child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
  const said = async (pattern: RegExp) => {
    while (!pattern.test(text())) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  child.stdin?.write(line(0, "initialize", { protocolVersion: 1 }));
  await said(/"id":0,/);
  child.stdin?.write(line(1, "session/new", { cwd: folder, mcpServers: [] }));
  await said(/"sessionId":"[^"]+"/);
  const session = /"sessionId":"([^"]+)"/.exec(text())?.[1] ?? "";
  child.stdin?.write(PROMPT.replace("?", session));
  await said(/"stopReason"/);
  child.stdin?.end();
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { out: Buffer.concat(chunks), code };
}

/** The recorder is a process of its own: it is done when its file is gone. */
async function kept(home: string): Promise<void> {
  const files = () => (existsSync(join(home, "unfinished")) ? readdirSync(join(home, "unfinished")) : []);
  while (files().length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
}

async function conversations(home: string): Promise<readonly { readonly conversation: string }[]> {
  const client = await openClient({ home, create: true });
  const answer = (await client.call("conversation.list", {})) as never as {
    conversations: { conversation: string }[];
  };
  await client.close();
  return answer.conversations;
}

describe("the tee", () => {
  it("[Y41] passes every byte of both directions, and the exit code", async () => {
    const direct = await talk(agent("direct"));
    const through = await talk(teed(agent("through")));
    expect(through.out.equals(direct.out)).toBe(true);
    expect(through.code).toBe(direct.code);
    const heard = (name: string) => readFileSync(join(folder, `${name}-heard`), "utf8");
    expect(heard("through")).toBe(heard("direct"));
  });

  it("[Y42] keeps a session as a conversation, without a server too", async () => {
    const home = join(folder, "kept");
    await talk(teed(agent("kept")), home);
    await kept(home);
    const found = await conversations(home);
    expect(found).toHaveLength(1);
    const client = await openClient({ home });
    const texts: string[] = [];
    for await (const each of client.lines(found[0]?.conversation ?? ""))
      if (each.type === "block" && each.kind === "text") texts.push(each.content);
    await client.close();
    expect(texts.slice(0, 2)).toEqual(["Hi", "Hello! How can I help you today?"]);
  });

  it("[Y43] works the same if nothing can be stored", async () => {
    const home = join(folder, "a-file");
    writeFileSync(home, "no folder");
    chmodSync(home, 0o600);
    expect(await talk(teed(agent("nowhere")), home)).toMatchObject({ code: 0 });
  });

  it.each([
    ["an exit code", ["-e", "process.exit(7)"], 7, null],
    ["a signal", ["-e", "process.kill(process.pid, 'SIGTERM')"], null, "SIGTERM"],
  ])("[Y41] passes on %s", async (_, args, code, signal) => {
    const child = start(teed([process.execPath, ...args]), join(folder, "ends"));
    const ended = await new Promise((resolve) => child.on("close", (...end) => resolve(end)));
    expect(ended).toEqual([code, signal]);
  });

  it("[Y41] passes a signal to the agent, and reports a missing one", async () => {
    const child = start(
      teed([process.execPath, "-e", "console.log(1); setInterval(() => 0, 1000)"]),
      join(folder, "ends"),
    );
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    child.kill("SIGTERM");
    expect(await new Promise((resolve) => child.on("close", (...end) => resolve(end)))).toEqual([
      null,
      "SIGTERM",
    ]);
    const none = start(teed(["no-such-agent"]), join(folder, "ends"));
    let said = "";
    none.stderr?.on("data", (bytes) => {
      said += bytes;
    });
    expect(await new Promise((resolve) => none.on("close", resolve))).toBe(127);
    expect(said).toContain("cannot start no-such-agent: program not found");
  });
});
