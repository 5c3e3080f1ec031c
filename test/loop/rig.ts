/**
 * A rig for tests of the loop: the real server with a fresh home and workspace, and the project's own scripted model
 * server, joined by the environment that the SDKs read. Nothing in it sleeps: it waits for commits.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Block, type BlockId, isProblem, type Turn, type WholeBlock } from "@blockyard/kernel";
import { type Caller, makeConfig, type Running, serve } from "@blockyard/server";
import { vi } from "vitest";
import { ModelServer } from "../model/server.ts";

/** Two providers, three APIs. */
export type Flavour = "anthropic" | "responses" | "chat";
export const FLAVOURS: readonly Flavour[] = ["anthropic", "responses", "chat"];

export interface Ran {
  readonly conversation: string;
  readonly turn: Turn;
  readonly blocks: readonly WholeBlock[];
}

const owner: Caller = { agent: "ann", role: "owner", by: "token" };

export class Rig {
  readonly model: ModelServer;
  readonly server: Running;
  readonly home: string;
  readonly root: string;
  readonly faults: unknown[] = [];

  static async start(sandbox: "on" | "off" = "off"): Promise<Rig> {
    const home = mkdtempSync(join(tmpdir(), "blockyard-home-"));
    const root = mkdtempSync(join(tmpdir(), "blockyard-root-"));
    const faults: unknown[] = [];
    const log = (level: string, _: string, fields?: object) => {
      if (level === "error") faults.push(fields);
    };
    const server = await serve(makeConfig({ env: { BLOCKYARD_SANDBOX: sandbox }, home, root, port: 0 }), log);
    return new Rig(await ModelServer.start(), server, home, root, faults);
  }

  private constructor(model: ModelServer, server: Running, home: string, root: string, faults: unknown[]) {
    this.model = model;
    this.server = server;
    this.home = home;
    this.root = root;
    this.faults = faults;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.model.stop();
    rmSync(this.home, { recursive: true });
    rmSync(this.root, { recursive: true });
  }

  /** An empty workspace. */
  clear(): void {
    for (const name of readdirSync(this.root)) rmSync(join(this.root, name), { recursive: true });
  }

  /** What the SDKs and the loop read, until vitest unstubs it. */
  speak(flavour: Flavour): string {
    vi.stubEnv("ANTHROPIC_API_KEY", "key-a");
    vi.stubEnv("ANTHROPIC_BASE_URL", this.model.url);
    vi.stubEnv("OPENAI_API_KEY", "key-o");
    vi.stubEnv("OPENAI_BASE_URL", `${this.model.url}/v1`);
    if (flavour !== "anthropic") vi.stubEnv("BLOCKYARD_OPENAI_API", flavour);
    return flavour === "anthropic" ? "anthropic" : "openai";
  }

  ask(name: string, input: object, caller: Caller = owner): Promise<unknown> {
    return this.server.tools.call(caller, name, input);
  }

  async tool<T>(name: string, input: object): Promise<T> {
    const answer = await this.ask(name, input);
    if (isProblem(answer)) throw new Error(`${name}: ${JSON.stringify(answer)}`);
    return answer as T;
  }

  async conversation(): Promise<string> {
    return (await this.tool<{ conversation: string }>("conversation.create", { title: "t" })).conversation;
  }

  /** Starts a turn; the rest goes on by itself. */
  async start(
    flavour: Flavour,
    prompt: string,
    more: { readonly conversation?: string; readonly [name: string]: unknown } = {},
  ): Promise<{ readonly conversation: string; readonly turn: string; readonly block: BlockId }> {
    const conversation = more.conversation ?? (await this.conversation());
    const request = { provider: this.speak(flavour), prompt, ...more, conversation };
    const started = await this.tool<{ turn: string; block_id: string }>("turn.start", request);
    return { conversation, turn: started.turn, block: started.block_id };
  }

  /** A turn from its start to its end. */
  async run(...start: Parameters<Rig["start"]>): Promise<Ran> {
    const { conversation, turn } = await this.start(...start);
    return this.ended(conversation, turn);
  }

  async ended(conversation: string, id: string): Promise<Ran> {
    const turn = await this.until(conversation, async () => {
      const turns = await this.server.kernel.turns(conversation);
      return isProblem(turns) ? undefined : turns.find((each) => each.id === id && each.status !== "running");
    });
    return { conversation, turn, blocks: await this.blocks(conversation) };
  }

  async blocks(conversation: string): Promise<readonly WholeBlock[]> {
    const found = await this.server.kernel.blocks({ conversation, order: "first", limit: 1_000 });
    if (isProblem(found)) throw new Error(found.message);
    return Promise.all(found.map(async ({ id }) => (await this.server.kernel.whole(id)) as WholeBlock));
  }

  /** The first block that fits, as soon as there is one. */
  async block(conversation: string, fits: (block: WholeBlock) => boolean): Promise<WholeBlock> {
    return this.until(conversation, async () => (await this.blocks(conversation)).find(fits));
  }

  /** Resolves when `look` finds something; it looks after every commit. */
  async until<T>(conversation: string, look: () => Promise<T | undefined>): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () =>
        look().then((found) => {
          if (found === undefined) return;
          stop();
          resolve(found);
        }, reject);
      const stop = this.server.kernel.listen((told) => {
        if (told.conversation === conversation) void check();
      });
      void check();
    });
  }
}

/** Blocks in a line each: kind, status, and what is special. */
export function shown(blocks: readonly Block[]): readonly string[] {
  return blocks.map(({ kind, status, pruned, metadata }) =>
    [kind, status, pruned ? "pruned" : "", metadata["notice"] ?? "", metadata["reason"] ?? ""]
      .filter(Boolean)
      .join(" "),
  );
}
