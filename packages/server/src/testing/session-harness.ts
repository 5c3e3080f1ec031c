/**
 * A harness for the tests of sessions: a kernel in memory and a conversation, with turns that are written as the server and
 * the agents' streams write them. Only tests use it.
 */

import {
  type BlockEvent,
  type BlockId,
  Cursors,
  callTool,
  Ingest,
  inlineMatcher,
  isProblem,
  Kernel,
  MemoryStore,
  type Reason,
  VirtualEnv,
} from "@blockyard/kernel";
import { AGENTS, type Agent } from "../turns/agents.ts";
import { openingOf } from "../turns/opening.ts";

interface Played {
  readonly provider?: string;
  readonly parent?: BlockId;
  readonly fresh?: boolean;
  /** How the turn ends, `other`: in another session; `died` and `stopped`: in its words; `lost` and `unheard` never get as far as one. */
  readonly end?: "done" | "failed" | "other" | "died" | "stopped" | "lost" | "unheard";
  /** Happens while the answer is written. */
  readonly meanwhile?: (answer: BlockId) => Promise<unknown>;
}

/** The session of a turn, and what was new to it. */
interface Outcome {
  readonly session: string;
  readonly isNew: boolean;
  /** The session and turn that it is a copy of. */
  readonly from: { readonly session: string; readonly turn: string } | undefined;
  readonly turn: string;
  /** Texts as they were told. */
  readonly news: readonly string[];
  readonly told: ReadonlyMap<BlockId, string>;
  readonly prompt: BlockId;
  readonly answer: BlockId;
}

const LOST: Readonly<Record<string, string>> = {
  claude: "No conversation found with session ID: s",
  codex: "no rollout found for thread id s",
};

const CUT: Readonly<Record<string, { readonly status: "error"; readonly reason: Reason }>> = {
  died: { status: "error", reason: "interrupted" },
  stopped: { status: "error", reason: "cancelled" },
};

export class SessionHarness {
  readonly kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  conversation = "";
  turns = 0;

  static async open(): Promise<SessionHarness> {
    const harness = new SessionHarness();
    harness.conversation = must(await harness.kernel.createConversation("ann", ""));
    return harness;
  }

  async tool(name: string, input: object): Promise<Record<string, unknown>> {
    const { kernel } = this;
    const onFault = (_: string, error: unknown) => {
      throw error;
    };
    const caller = { agent: "ann", role: "owner" } as const;
    const call = { kernel, caller, matcher: inlineMatcher(() => 0), cursors: new Cursors(kernel), onFault };
    return must(await callTool(call, name, input)) as Record<string, unknown>;
  }

  async edit(block_id: BlockId, content: string): Promise<void> {
    const operations = [{ op: "replace", start_line: 0, end_line: 1, content }];
    await this.tool("block.edit", { block_id, operations });
  }

  async remark(content: string, conversation = this.conversation): Promise<BlockId> {
    const made = { conversation, kind: "text", role: "user", status: "done", content };
    return (await this.tool("block.create", made))["block_id"] as BlockId;
  }

  /** Opened with its prompt, told what is new, and answered by the agent's stream. */
  async turn(said: string, played: Played = {}): Promise<Outcome> {
    const { provider = "claude", fresh = false, end = "done" } = played;
    const { kernel, conversation } = this;
    const id = `turn-${++this.turns}`;
    const prompt = await this.#ask(id, said, provider, played.parent);
    const start = { id, request: { conversation, provider, prompt: said, fresh }, by: "ann", prompt };
    const opening = must(await openingOf(kernel, AGENTS.get(provider) as Agent, start));
    const news = new Map<BlockId, string>();
    const texts: string[] = [];
    for (const { block, how } of opening.news) {
      const { text } = must(await kernel.whole(block.id));
      news.set(block.id, text);
      texts.push(how === "new" ? text : `${how}: ${text}`);
    }
    const { session: known, cut } = opening;
    const isCopy = known !== undefined && cut !== undefined;
    const from = isCopy ? { session: known, turn: cut.turn } : undefined;
    const session = (end === "other" || isCopy ? undefined : known) ?? `session-${this.turns}`;
    const answer = await this.#answer(id, said, prompt, session, { ...played, provider, end });
    const isNew = known === undefined;
    return { session, isNew, from, turn: id, news: texts, told: news, prompt, answer };
  }

  async #ask(id: string, text: string, provider: string, parent: BlockId | undefined): Promise<BlockId> {
    const block = await this.kernel.write(this.conversation, {
      agent: "ann",
      plan: (draft) => {
        draft.setTurn({ id, provider, agent: provider, startedBy: "ann", status: "running", startedAt: 0 });
        const place = parent === undefined ? {} : { parent };
        const spec = { kind: "text", role: "user", side: false, status: "done" } as const;
        return draft.create({ ...spec, text, metadata: { turn: id }, ...place });
      },
    });
    return must(block).id;
  }

  /** The agent's words; its prompt where it said none. */
  async #answer(
    turn: string,
    said: string,
    parent: BlockId,
    sessionId: string,
    { provider, end, meanwhile }: Played & { readonly provider: string },
  ): Promise<BlockId> {
    const { kernel, conversation } = this;
    const ingest = new Ingest(kernel, { conversation, agent: provider, turn, parent });
    await ingest.open();
    const isHeard = end !== "lost" && end !== "unheard";
    const start: BlockEvent = { type: "turn-start", turn: "t", provider };
    if (isHeard) {
      const text = `re: ${said}`;
      await ingest.push([
        { type: "session", provider, sessionId },
        { ...start, sessionId },
        { type: "block-start", key: "a", kind: "text", role: "model", metadata: {}, text },
      ]);
      await ingest.drain();
      await meanwhile?.(ingest.idOf("a") as BlockId);
      await ingest.push([{ type: "block-end", key: "a", ...(CUT[end ?? ""] ?? { status: "done" }) }]);
    } else await ingest.push([start]);
    const status = end === "done" || end === "other" ? "done" : "error";
    const error = end === "lost" ? { error: LOST[provider] as string } : CUT[end ?? ""];
    // Where Claude Code can cut its session.
    const native = provider === "claude" && isHeard ? { native: { resume_at: `at-${turn}` } } : {};
    await ingest.push([{ type: "turn-end", turn: "t", status, ...error, ...native }]);
    await ingest.finish();
    return ingest.idOf("a") ?? parent;
  }
}

export function must<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}
