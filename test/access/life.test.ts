/** A server's life as a process: stopping under load, restarting, its messages, and conflicts with itself. */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeConfig, serve } from "@blockyard/server";
import { afterAll, describe, expect, it, vi } from "vitest";
import { openClient } from "../../packages/server/src/cli/command-client.ts";
import { METRICS } from "../../packages/server/src/system/metrics.ts";
import { TestHarness } from "./harness.ts";
import { Process } from "./process.ts";
import { openReplica } from "./transports.ts";

const folder = mkdtempSync(join(tmpdir(), "blockyard-life-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("[R26] a process", () => {
  it("[AC50] that is told to stop keeps what it has accepted, says goodbye and ends within five seconds", async () => {
    const home = join(folder, "stop");
    const first = await Process.start(home, folder);
    const { conversation } = (await first.call("conversation.create", { title: "x" })) as {
      conversation: string;
    };
    const made = { conversation, kind: "text", role: "user", content: "" };
    const { block_id } = (await first.call("block.create", made)) as { block_id: string };
    const held = (await first.call("block.create", { ...made, role: "model", content: "left open" })) as {
      block_id: string;
    };
    const { replica, socket } = await openReplica(first.url, first.token);
    replica.subscribe(conversation);
    const goodbye = new Promise<number>((closed) => socket.on("close", closed));
    // Writers that do not stop: some with an answer that means durable, some streamed and only accepted.
    const durable = new Set<string>();
    const accepted = new Set<string>();
    let isOver = false;
    const writer = async (name: string, wait: boolean) => {
      for (let i = 0; !isOver; i++) {
        const marker = `<${name}-${i}>`;
        const answer = await first
          .call("block.append", { block_id, text: `${marker}\n`, wait })
          .catch(() => undefined);
        if (answer === undefined || "problem" in answer) break;
        (wait ? durable : accepted).add(marker);
        if (durable.size >= 30) stopping ??= first.stop();
      }
    };
    let stopping: ReturnType<Process["stop"]> | undefined;
    await Promise.all([writer("a", true), writer("b", true), writer("c", false)]);
    const ended = await (stopping ?? first.stop());
    isOver = true;
    expect([ended.code, ended.signal]).toEqual([0, null]);
    expect(ended.ms).toBeLessThan(5_000);
    expect(await goodbye).toBe(4000);
    expect(replica.bye).toMatchObject({ code: "closing", resumable: true });
    expect(readdirSync(home)).not.toContain("server.json");

    const second = await Process.start(home, folder);
    const read = (await second.call("block.read", { block_id, line_numbers: false })) as { content: string };
    const times = (marker: string) => read.content.split(marker).length - 1;
    expect([...durable, ...accepted].filter((marker) => times(marker) !== 1)).toEqual([]);
    expect(durable.size).toBeGreaterThan(10);
    expect(accepted.size).toBeGreaterThan(5);

    // [AC51] What an agent holds belongs to no process: it continues after a stop and after a kill.
    const { block_id: id } = held;
    expect(await second.call("block.read", { block_id: id })).toMatchObject({ status: "running" });
    await second.call("block.append", { block_id: id, text: ", gone on", wait: true });
    expect((await second.stop("SIGKILL")).signal).toBe("SIGKILL");
    const third = await Process.start(home, folder);
    expect(await third.call("block.status", { block_id: id, status: "done" })).toMatchObject({
      status: "done",
    });
    expect(await third.call("block.read", { block_id: id, line_numbers: false })).toMatchObject({
      content: "left open, gone on",
    });

    // [AC19] Whatever was printed and stored, the token is only in its file.
    expect((await third.stop("SIGINT")).code).toBe(0);
    for (const { output, token } of [first, second, third]) {
      expect(output.err).not.toContain(token);
      expect(output.out).not.toContain(token);
      for (const line of output.err.trim().split("\n").filter(Boolean))
        expect(JSON.parse(line)).toHaveProperty("event");
    }
    const files = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "token")
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.filter((path) => readFileSync(path).includes(third.token))).toEqual([]);
  }, 120_000);
});

describe("a start", () => {
  it("[AC53] takes another port if the default one is taken, and says so; a requested one is required", async () => {
    const other = createServer();
    const port = await new Promise<number>((listening) => {
      other.listen(0, "127.0.0.1", () => listening((other.address() as { port: number }).port));
    });
    const home = join(folder, "port");
    const config = { ...makeConfig({ env: {}, home, root: folder, port }), anyPort: true };
    const logged: string[] = [];
    const running = await serve(config, (_, event) => void logged.push(event));
    expect(running.url).not.toContain(`:${port}`);
    expect(running.notes.join()).toContain(`port ${port} is in use by another program`);
    // The command prints it; on a terminal, the log would be a second time, above the link.
    expect(logged.join("\n")).not.toMatch(/port|sandbox/);
    expect((await fetch(running.link, { redirect: "manual" })).status).toBe(303);
    await running.stop();
    await expect(serve({ ...config, anyPort: false }, () => undefined)).rejects.toThrow("EADDRINUSE");
    // What a failed start had opened is closed again: the next one works.
    await (await serve(config, () => undefined)).stop();
    other.close();
  });

  it("[AC296] answers nobody that they are in the wrong place, from the first connection on", async () => {
    const other = createServer();
    const port = await new Promise<number>((listening) => {
      other.listen(0, "127.0.0.1", () => listening((other.address() as { port: number }).port));
    });
    await new Promise((closed) => other.close(closed));
    const slow = mkdtempSync(join(tmpdir(), "blockyard-slow-"));
    // What a start tries out behind the opening of its port may take its time.
    for (const name of ["bwrap", "sandbox-exec"])
      writeFileSync(join(slow, name), "#!/bin/sh\nsleep 0.5\n", { mode: 0o755 });
    vi.stubEnv("PATH", `${slow}:${process.env["PATH"]}`);
    const home = join(folder, "early");
    const config = { ...makeConfig({ env: {}, home, root: folder, port }), anyPort: false };
    const seen: number[] = [];
    let isOver = false;
    const come = async () => {
      while (!isOver) {
        const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
        if (answer) seen.push(answer.status);
        await answer?.body?.cancel();
      }
    };
    const comers = [come(), come()];
    const running = await serve(config, () => undefined);
    await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(5), { timeout: 30_000 });
    isOver = true;
    await Promise.all(comers);
    await running.stop();
    vi.unstubAllEnvs();
    rmSync(slow, { recursive: true });
    expect(new Set(seen)).toEqual(new Set([401]));
  });

  it("[AC53] for a data directory with a server says so: where it is, which folder it serves, and the way out", async () => {
    const harness = await TestHarness.start();
    const config = makeConfig({ env: {}, home: harness.home, root: folder, port: 0 });
    const told = await serve(config, () => undefined).catch((error: Error) => error.message);
    expect(told).toContain(`serving ${harness.root}`);
    expect(told).toContain(`${harness.running.url}/?link=`);
    expect(told).toContain(`blockyard ${folder} --home ${harness.home}-2`);
    const same = await serve({ ...config, root: harness.root }, () => undefined).catch(
      (error: Error) => error,
    );
    expect(String(same)).not.toContain("--home");
    expect((await harness.ask("/health", { token: harness.owner })).status).toBe(200);
    await harness.stop();
  });

  it("[AC53] beside a command that has the database it names no server that was killed", async () => {
    const home = join(folder, "command");
    const config = makeConfig({ env: {}, home, root: folder, port: 0 });
    const first = await serve(config, () => undefined);
    const address = JSON.parse(readFileSync(join(home, "server.json"), "utf8"));
    await first.stop();
    const command = await openClient({ home });
    const { pid } = spawnSync(process.execPath, ["--version"]);
    writeFileSync(join(home, "server.json"), JSON.stringify({ ...address, pid }));
    const refused = await serve(config, () => undefined).catch((error: Error) => error.message);
    await command.close();
    expect(refused).toMatch(/^another blockyard command is using the database in \S+command\. Wait for it/);
    expect(refused).not.toContain("http");
  });
});

describe("a start that fails", () => {
  it("[AC53] says why in a sentence and ends, with everything closed that it had opened", async () => {
    const home = join(folder, "no-address");
    mkdirSync(join(home, "server.json", "inside"), { recursive: true, mode: 0o700 });
    const failed = await Process.start(home, folder).catch((error: Error) => error.message);
    expect(failed).toMatch(/^ended with 1: /);
    expect(failed).toMatch(/^(ended with 1: )?blockyard: cannot use \S+server\.json \(E\w+\)/m);
    expect(failed).not.toMatch(/\n\s+at /);
    rmSync(join(home, "server.json"), { recursive: true });
    expect((await (await Process.start(home, folder)).stop()).code).toBe(0);
  }, 60_000);

  it("[AC53] closes what it had opened, in one process as well", async () => {
    const home = join(folder, "no-address-here");
    mkdirSync(join(home, "server.json", "inside"), { recursive: true, mode: 0o700 });
    const config = makeConfig({ env: {}, home, root: folder, port: 0 });
    await expect(serve(config, () => undefined)).rejects.toThrow("server.json");
    rmSync(join(home, "server.json"), { recursive: true });
    await (await serve(config, () => undefined)).stop();
  });
});

describe("its messages about itself", () => {
  it("[AC52] health and metrics are figures with names that are written down, and need the token too", async () => {
    const harness = await TestHarness.start();
    const { conversation = "" } = await harness.call("conversation.create", { title: "x" });
    await harness.call("block.read", { block_id: "no/such/1" });
    await harness.ask("/health", { from: "127.0.66.1" });
    const { socket } = await openReplica(harness.running.url, harness.owner);
    expect(JSON.parse((await harness.ask("/health", { token: harness.owner })).body)).toMatchObject({
      ok: true,
      version: expect.any(String),
      epoch: expect.any(String),
      sockets: 1,
      turns: 0,
    });
    const { body } = await harness.ask("/metrics", { token: harness.owner });
    const figures = new Map(
      [...body.matchAll(/^(\w+) (\S+)$/gm)].map(([, name, value]) => [name as string, Number(value)]),
    );
    expect([...figures.keys()]).toEqual(Object.keys(METRICS));
    expect([...figures.values()].every(Number.isFinite)).toBe(true);
    expect(figures.get("blockyard_ops_total")).toBeGreaterThan(0);
    expect(figures.get("blockyard_calls_total")).toBe(2);
    expect(figures.get("blockyard_problems_total")).toBe(1);
    expect(figures.get("blockyard_refused_total")).toBe(1);
    expect(figures.get("blockyard_sockets")).toBe(1);
    expect(figures.get("process_resident_memory_bytes")).toBeGreaterThan(1e7);
    const page = readFileSync(new URL("../../docs/security.md", import.meta.url), "utf8");
    for (const name of figures.keys()) expect(page).toContain(`\`${name}\``);
    expect(conversation).not.toBe("");
    socket.terminate();
    await harness.stop();
  });

  it("[AC52] a fault inside is logged and counted, and the client learns no more than that", async () => {
    const harness = await TestHarness.start();
    harness.running.store.blob = () => Promise.reject(new Error("the disk said no"));
    const answer = await harness.ask(`/v1/blobs/${"0".repeat(64)}`, { token: harness.owner });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      503,
      expect.objectContaining({ problem: "unavailable" }),
    ]);
    expect(answer.body).not.toContain("disk");
    expect(harness.lines.join()).toContain("the disk said no");
    expect((await harness.ask("/metrics", { token: harness.owner })).body).toContain(
      "blockyard_faults_total 1",
    );
    await harness.stop();
  });

  it("[AC51] a sender that vanishes in the middle of an ingest leaves nothing open", async () => {
    const harness = await TestHarness.start();
    const { conversation = "" } = await harness.call("conversation.create", { title: "x" });
    const lines = [
      { type: "system", subtype: "init", session_id: "s", model: "m", tools: [], cwd: "/" },
      {
        type: "stream_event",
        session_id: "s",
        parent_tool_use_id: null,
        uuid: "1",
        event: {
          type: "message_start",
          message: {
            id: "m1",
            type: "message",
            role: "assistant",
            model: "m",
            content: [],
            stop_reason: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
      },
      {
        type: "stream_event",
        session_id: "s",
        parent_tool_use_id: null,
        uuid: "2",
        event: { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      },
      {
        type: "stream_event",
        session_id: "s",
        parent_tool_use_id: null,
        uuid: "3",
        event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello,\n" } },
      },
    ];
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const chunk = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;
    const head = `POST /v1/ingest?provider=claude&conversation=${conversation} HTTP/1.1\r\nhost: ${harness.host}\r\n`;
    const closed = Promise.withResolvers<void>();
    const open = Promise.withResolvers<void>();
    harness.running.kernel.listen(({ blocks }) => {
      if (blocks.some(({ kind, status }) => kind === "text" && status === "running")) open.resolve();
      if (blocks.some(({ kind, status }) => kind === "text" && status === "error")) closed.resolve();
    });
    const socket = harness.socket(
      `${head}authorization: Bearer ${harness.owner}\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`,
    );
    await open.promise;
    socket.resetAndDestroy();
    await closed.promise;
    const blocks = await harness.running.store.blocks({ conversation, order: "first", limit: 100 });
    expect(blocks.filter(({ status }) => status === "pending" || status === "running")).toEqual([]);
    await harness.stop();
  });
});
