/** Leases in the running server: a call renews one, and so does an open connection. Its clock is advanced by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Env, isProblem, limits } from "@blockyard/kernel";
import { afterEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { makeConfig } from "../config/config.ts";
import { nodeEnv } from "../system/env.ts";
import { type Running, serve } from "./serve.ts";

const LOOK_MS = limits.agentLeaseMs / 10;

/** The real environment, except for the timer that checks leases and for the clock, which moves with it. */
class HandEnv implements Env {
  #later = 0;
  #look: (() => void) | undefined;
  readonly now = nodeEnv.now;
  readonly soon = nodeEnv.soon;
  readonly random = nodeEnv.random;

  monotonic(): number {
    return nodeEnv.monotonic() + this.#later;
  }

  after(delayMs: number, run: () => void): () => void {
    if (delayMs !== LOOK_MS) return nodeEnv.after(delayMs, run);
    this.#look = run;
    return () => undefined;
  }

  /** Runs this many lease checks, each when it is due; resolves when the last is over. */
  async pass(looks: number): Promise<void> {
    for (let i = 0; i < looks; i++) {
      this.#later += LOOK_MS;
      const look = this.#look;
      this.#look = undefined;
      look?.();
      while (this.#look === undefined) await new Promise((soon) => setImmediate(soon));
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), "blockyard-leases-"));
let running: Running | undefined;
afterEach(async () => {
  await running?.stop();
  rmSync(folder, { recursive: true, force: true });
});

it("[K70] an open connection keeps what its agent holds; when it is closed, the lease expires", async () => {
  const env = new HandEnv();
  running = await serve(
    makeConfig({ env: {}, home: join(folder, "home"), root: folder, port: 0 }),
    () => {},
    env,
  );
  const { url, auth, kernel } = running;
  const token = auth.create("my-loop", "agent");
  const headers = { authorization: `Bearer ${token}` };
  const call = async (tool: string, input: object) => {
    const body = JSON.stringify(input);
    return (await (
      await fetch(`${url}/v1/tools/${tool}`, { method: "POST", headers, body })
    ).json()) as Record<string, string>;
  };
  const status = async (id: string) => {
    const block = await kernel.block(id);
    return isProblem(block) ? block.message : block.status;
  };
  await env.pass(11); // past the time in which a start ends nothing
  const { conversation } = await call("conversation.create", {});
  const { block_id = "" } = await call("block.create", {
    conversation,
    kind: "text",
    role: "model",
    content: "a",
  });
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/feed`, { headers });
  await new Promise((open) => socket.once("open", open));
  await env.pass(25);
  expect(await status(block_id)).toBe("running");
  const closed = new Promise((gone) => socket.once("close", gone));
  socket.close();
  await closed;
  for (let i = 0; i < 3; i++) {
    await env.pass(8);
    await call("conversation.list", {});
  }
  expect(await status(block_id)).toBe("running");
  await env.pass(12);
  expect(await status(block_id)).toBe("error");
  expect(await call("block.append", { block_id, text: "b", wait: true } as object)).toMatchObject({
    accepted: true,
  });
  expect(await status(block_id)).toBe("running");
});
