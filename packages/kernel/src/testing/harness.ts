/**
 * A harness for the tests of tools: a kernel in memory with virtual time, callers of each role, and a look at everything
 * that is stored, so that "nothing was written" can be checked as it is said. Only tests use it.
 */

import { assert } from "../model/assert.ts";
import type { BlockId, ConversationId } from "../model/ids.ts";
import { type Json, sameJson } from "../model/json.ts";
import type { Op } from "../model/op.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import type { BlockLog, LogPoint } from "../ports/store.ts";
import { inlineMatcher } from "../search/search.ts";
import { callTool, coreTable } from "../tools/index.ts";
import type { Call, Caller, Signal, Streamed } from "../tools/tool.ts";
import { Cursors } from "../write/cursors.ts";
import { Kernel } from "../write/kernel.ts";
import { MemoryStore } from "./memory-store.ts";
import { VirtualEnv } from "./virtual-env.ts";

export const ann: Caller = { agent: "ann", role: "owner" };
export const bob: Caller = { agent: "bob", role: "agent" };
export const eve: Caller = { agent: "eve", role: "viewer" };

type Answer = Record<string, unknown> & { readonly version: number };

/** A store that merges appends of one undo step into runs at once, as others do eventually. */
class MergingStore extends MemoryStore {
  override async log(block: BlockId, after: LogPoint): Promise<BlockLog> {
    const { ops } = await super.log(block, { version: 0 });
    const merged: Op[] = [];
    for (const op of ops) {
      const last = merged.at(-1);
      if (op.body.type === "append" && last?.body.type === "append" && last.unit === op.unit) {
        const body = { ...last.body, text: last.body.text + op.body.text };
        merged[merged.length - 1] = { ...op, versionFrom: last.versionFrom, seqFrom: last.seqFrom, body };
      } else merged.push(op);
    }
    const isAfter = (op: Op) => ("version" in after ? op.version > after.version : op.seq > after.seq);
    const { compacted } = await super.log(block, after);
    return { ...(compacted ? { compacted } : {}), ops: merged.filter(isAfter) };
  }
}

export class TestHarness {
  readonly env = new VirtualEnv(1);
  readonly store: MemoryStore;
  readonly faults: unknown[] = [];
  kernel: Kernel;
  cursors: Cursors;

  constructor(options: { merging?: boolean } = {}) {
    this.store = options.merging ? new MergingStore("desk") : new MemoryStore("desk");
    this.kernel = new Kernel(this.env, this.store);
    this.cursors = new Cursors(this.kernel);
  }

  /** A new process on the same store. */
  restart(): void {
    this.cursors.close();
    this.kernel = new Kernel(this.env, this.store);
    this.cursors = new Cursors(this.kernel);
  }

  as(caller: Caller, options: { key?: string; signal?: Signal } = {}): Call {
    const { kernel, cursors } = this;
    const matcher = inlineMatcher(() => this.env.monotonic());
    const onFault = (_tool: string, error: unknown) => this.faults.push(error);
    return { kernel, caller, matcher, cursors, onFault, ...options };
  }

  /** The raw answer, good or bad. */
  ask(name: string, input: unknown, caller: Caller = ann, key?: string): Promise<unknown> {
    return callTool(this.as(caller, key === undefined ? {} : { key }), name, input);
  }

  /** The answer, which must not be a problem and must match the tool's schema. */
  async ok(name: string, input: unknown, caller: Caller = ann, key?: string): Promise<Answer> {
    const answer = await this.ask(name, input, caller, key);
    assert(!isProblem(answer), `${name}: ${JSON.stringify(answer)}`);
    const parsed = coreTable.find(name)?.output.safeParse(answer);
    assert(parsed?.success, `${name} answers ${JSON.stringify(answer)}: ${parsed?.error?.message}`);
    assert(sameJson(parsed.data as Json, answer as Json), `${name} answers more than its schema says`);
    return answer as Answer;
  }

  async problem(name: string, input: unknown, caller: Caller = ann): Promise<Problem> {
    const answer = await this.ask(name, input, caller);
    assert(isProblem(answer), `${name} should be refused: ${JSON.stringify(answer)}`);
    return answer;
  }

  async stream<T>(
    name: string,
    input: unknown,
    caller: Caller = ann,
    signal?: Signal,
  ): Promise<AsyncIterator<T>> {
    const answer = await callTool(this.as(caller, signal ? { signal } : {}), name, input);
    assert(!isProblem(answer), `${name}: ${JSON.stringify(answer)}`);
    return (answer as Streamed<T>).stream[Symbol.asyncIterator]();
  }

  async conversation(title = ""): Promise<ConversationId> {
    await this.kernel.deletions.ready(); // as a server does at its start: calls keep their order from the first one on
    return (await this.ok("conversation.create", { title }))["conversation"] as string;
  }

  /** The block of a file, as a workspace would make it; its id. */
  async file(
    conversation: ConversationId,
    path: string,
    text: string,
    metadata: object = {},
  ): Promise<string> {
    const made = await this.kernel.write(conversation, {
      agent: "disk",
      plan: (draft) =>
        draft.create({
          kind: "file",
          role: "system",
          status: "running",
          text,
          metadata: { path, ...metadata },
        }),
    });
    assert(!isProblem(made), JSON.stringify(made));
    return made.id;
  }

  /** A new text block that is still written; its id. */
  async block(
    conversation: ConversationId,
    content: string,
    caller: Caller = ann,
    more: object = {},
  ): Promise<string> {
    const status = content === "" ? {} : { status: "running" };
    const given = { conversation, role: "model", kind: "text", content, ...status, ...more };
    return (await this.ok("block.create", given, caller))["block_id"] as string;
  }

  async text(id: string): Promise<string> {
    const whole = await this.kernel.whole(id);
    assert(!isProblem(whole), `${id}: ${JSON.stringify(whole)}`);
    return whole.text;
  }

  /** Everything that is stored, as one string. */
  async everything(): Promise<string> {
    const conversations = await this.store.conversations({ limit: 1e9 });
    const blocks = await this.store.blocks({ order: "first", limit: 1e9 });
    const parts: unknown[] = [...conversations, ...blocks];
    for (const { id } of blocks)
      parts.push(await this.store.log(id, { version: 0 }), await this.store.text(id));
    for (const { id } of conversations) {
      parts.push(await this.store.conversationOps(id, 0), await this.store.turns(id));
    }
    return JSON.stringify(parts);
  }
}
