/**
 * Turns that continue later: a turn that stopped at its account's usage limit knows when it can continue, and does so
 * by itself if somebody requested it. Stored in the data directory, so that a restart forgets none; one that is overdue
 * continues at the start.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AgentId,
  type ConversationId,
  defined,
  type Env,
  ITSELF,
  isProblem,
  type Kernel,
  type Problem,
  problem,
} from "@blockyard/kernel";
import { z } from "zod";
import { writePrivate } from "../system/private-file.ts";
import { LATER_GRACE_MS, LATER_LOOK_MS, LATER_MESSAGES, LATER_MS } from "./limits.ts";
import { SANDBOXES } from "./mode.ts";
import type { TurnRequest, TurnStart } from "./run.ts";
import { chosenIn } from "./switched.ts";
import type { TurnEnd } from "./turn-end.ts";

const rowSchema = z.strictObject({
  conversation: z.string(),
  provider: z.string(),
  at: z.number(),
  by: z.string(),
  cwd: z.string().optional(),
  model: z.string().optional(),
  effort: z.string().optional(),
  sandbox: z.enum(SANDBOXES).optional(),
});
type Row = z.infer<typeof rowSchema>;

interface LaterOptions {
  readonly kernel: Kernel;
  readonly home: string;
  /** Starts the turn. A problem is shown in the conversation. */
  readonly start: (by: AgentId, request: TurnRequest) => Promise<unknown>;
}

export const GO_ON = "The usage limit that stopped you has been reset. Continue where you stopped.";

export class Later {
  readonly #options: LaterOptions;
  readonly #env: Env;
  readonly #file: string;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  constructor(options: LaterOptions) {
    this.#options = options;
    this.#env = options.kernel.env;
    this.#file = join(options.home, "later.json");
    this.#arm();
  }

  list(): readonly Row[] {
    return this.#read();
  }

  /** Continues a conversation at that time; replaces an earlier plan for it. */
  set(row: Row): Problem | undefined {
    const others = this.#read().filter(({ conversation }) => conversation !== row.conversation);
    if (others.length >= LATER_MESSAGES)
      return problem("busy", `${others.length} conversations are already waiting to continue`);
    if (row.at - this.#env.now() > LATER_MS)
      return problem("out_of_range", "that is more than eight days away");
    this.#write([...others, row]);
    this.#arm();
    return undefined;
  }

  /** What a turn ran with at last, for the one that continues it. */
  async chosenFor({ id, request }: TurnStart): Promise<ReturnType<typeof chosenIn>> {
    const record = await this.#options.kernel.conversation(request.conversation);
    if (isProblem(record)) return {};
    return chosenIn(record.metadata, defined({ id, model: request.model }));
  }

  /** Whether something was scheduled there. */
  drop(conversation: ConversationId): boolean {
    const all = this.#read();
    const rest = all.filter((row) => row.conversation !== conversation);
    if (rest.length < all.length) this.#write(rest);
    return rest.length < all.length;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #arm(): void {
    this.#cancel?.();
    const next = Math.min(...this.#read().map(({ at }) => at));
    if (this.#isClosed || next === Number.POSITIVE_INFINITY) return;
    const ms = Math.min(Math.max(next + LATER_GRACE_MS - this.#env.now(), 0), LATER_LOOK_MS);
    this.#cancel = this.#env.after(ms, () => void this.#look());
  }

  async #look(): Promise<void> {
    const due = this.#read().filter(({ at }) => at + LATER_GRACE_MS <= this.#env.now());
    for (const { at: _at, by, ...request } of due) {
      const { conversation } = request;
      // Removed first: whatever the outcome, it is tried once.
      this.drop(conversation);
      const record = await this.#options.kernel.conversation(conversation);
      if (isProblem(record) || this.#isClosed) continue;
      await this.#options.start(by, { ...defined(request), prompt: GO_ON, author: ITSELF });
    }
    this.#arm();
  }

  #read(): readonly Row[] {
    try {
      const found = z.array(rowSchema).safeParse(JSON.parse(readFileSync(this.#file, "utf8")));
      return found.success ? found.data : [];
    } catch {
      return [];
    }
  }

  #write(rows: readonly Row[]): void {
    writePrivate(this.#file, JSON.stringify(rows, null, 1));
  }
}

/** None if nothing can be stored. */
export function laterIn(home: string | undefined, options: Omit<LaterOptions, "home">): Later | undefined {
  return home === undefined ? undefined : new Later({ ...options, home });
}

/** A turn has stopped at a limit: says when it can continue, and continues then, if that was requested. */
export async function atLimit(
  end: TurnEnd,
  later: Later | undefined,
  start: TurnStart,
  resetsAt: number | undefined,
): Promise<void> {
  const { conversation, provider, cwd, goesOn } = start.request;
  const isAsked = goesOn === true && resetsAt !== undefined && later !== undefined;
  const row = {
    conversation,
    provider,
    by: start.by,
    at: resetsAt ?? 0,
    ...(cwd === undefined ? {} : { cwd }),
  };
  const refused = isAsked ? later.set({ ...row, ...(await later.chosenFor(start)) }) : undefined;
  const details = { provider, resets_at: resetsAt ?? null };
  await end.show(start, limitText(resetsAt, isAsked && !refused), { code: "usage_limit", details });
}

/** When it can continue, for people. */
export function limitText(resetsAt: number | undefined, isAsked: boolean): string {
  if (resetsAt === undefined)
    return "The account's usage limit is reached. The agent does not say when it resets.";
  const at = new Date(resetsAt);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const when = `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
  const then = isAsked ? "The turn continues automatically then." : "";
  return `The account's usage limit is reached. It resets at ${when}. ${then}`.trimEnd();
}
