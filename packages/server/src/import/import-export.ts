/**
 * Turns an export back into a conversation: the same blocks in the same order, with their agents, places, texts,
 * metadata and times; the same turns; the same record. Only ids, versions and sequence numbers are new, because they
 * belong to this store; references to a block of the export point to its copy.
 *
 * The conversation's id and the key of every write are derived from the export, so an interrupted import continues
 * where it was, and a complete one adds nothing the second time. Blocks that were open when exported are closed as
 * interrupted: nobody will ever write to them again. A call that waits for its result keeps waiting: anybody may bring
 * it.
 *
 * Somebody else may have made the export. Its content stays inside the conversation that the import creates: it writes
 * under none of the server's names, becomes no workspace file, includes no block from elsewhere, and asks for nothing.
 */

import {
  type BlockId,
  conversationMetadataField,
  copiedKind,
  type Draft,
  defined,
  expiredAsk,
  isAgentId,
  isEnded,
  isProblem,
  type JsonObject,
  jsonText,
  type Kernel,
  KINDS,
  limits,
  type Problem,
  problem,
  ROLES,
  STATUSES,
  type Turn,
  turnSchema,
} from "@blockyard/kernel";
import { z } from "zod";
import { RESERVED } from "../access/auth.ts";
import { IMPORT_MARK } from "../ingest/import-mark.ts";
import { keepPicturesIn } from "../ingest/kept-pictures.ts";
import type { BodyImport, Imported } from "./body-import.ts";
import { importPlace } from "./import-place.ts";
import { time } from "./imported-time.ts";
import { BATCH_BLOCKS, BATCH_CHARS, MOST_SESSIONS, SAID_CHARS } from "./limits.ts";

/** Names appear in every list: one that cannot be displayed would break all of them. */
const label = z.string().max(limits.titleChars);
const agentName = z
  .string()
  .refine(isAgentId, "not a valid agent name")
  .refine((name) => !RESERVED.includes(name), "a name reserved for the server");

const headLine = z.object({
  epoch: z.string().max(200),
  conversation: z.string().min(1).max(80),
  seq: z.number().int().nonnegative(),
  title: z.string().transform((title) => title.slice(0, limits.titleChars).toWellFormed()),
  created_by: agentName,
  created_at: time,
  updated_at: time,
  provider: label.optional(),
  model: label.optional(),
  forked_from: z.string().max(200).optional(),
  head: z.string().nullable(),
  sessions: z
    .record(z.string().max(200), z.string().max(1_000))
    .refine((sessions) => Object.keys(sessions).length <= MOST_SESSIONS, "too many sessions"),
  included: z.array(z.string()),
  // The owner chooses here what the agent may do without asking, not the author of the export.
  metadata: conversationMetadataField
    .transform(({ mode: _mode, choices: _choices, switched: _switched, ...metadata }) => metadata)
    .refine((metadata) => JSON.stringify(metadata).length <= limits.metadataChars, "too long"),
});

const blockLine = z.object({
  block_id: z.string().min(1).max(200),
  agent: agentName,
  kind: z.enum(KINDS),
  role: z.enum(ROLES),
  status: z.enum(STATUSES),
  parent_id: z.string().nullable(),
  side: z.boolean(),
  created_at: time,
  updated_at: time,
  pruned: z.boolean(),
  metadata: z.record(z.string(), z.json()),
  content: z.string(),
});

const turnLine = turnSchema.extend({
  turn: z.string().min(1).max(1_000),
  provider: label,
  agent: label.refine((name) => !RESERVED.includes(name), "a name reserved for the server"),
  model: label.optional(),
  started_at: time,
  ended_at: time.optional(),
});

type HeadLine = z.output<typeof headLine>;
type BlockLine = Omit<z.output<typeof blockLine>, "metadata"> & { readonly metadata: JsonObject };
type TurnLine = z.output<typeof turnLine>;

export class ExportImport implements BodyImport {
  readonly #kernel: Kernel;
  readonly #head: HeadLine;
  readonly #conversation: string;
  readonly #ids = new Map<BlockId, BlockId>();
  readonly #turns: TurnLine[] = [];
  #batch: BlockLine[] = [];
  #batchChars = 0;
  #writes = 0;
  #count = 0;
  /** It was imported whole before. */
  readonly #isKnown: boolean;
  #isWhole = false;

  static async begin(kernel: Kernel, line: unknown): Promise<ExportImport | Problem> {
    const parsed = headLine.safeParse(line);
    if (!parsed.success) return wrong("the first line", parsed.error);
    const head = parsed.data;
    const { epoch, conversation: source, seq } = head;
    const place = await importPlace(
      kernel,
      `export:${epoch}:${source}:${seq}`,
      (mark) => mark["epoch"] === epoch && mark["conversation"] === source && mark["seq"] === seq,
      true,
    );
    if (isProblem(place)) return place;
    const isKnown = place.mark !== undefined && place.mark["cut"] !== true;
    const work = new ExportImport(kernel, head, place.conversation, isKnown);
    const refused = isKnown ? undefined : await work.#open();
    return refused ?? work;
  }

  private constructor(kernel: Kernel, head: HeadLine, conversation: string, isKnown: boolean) {
    this.#kernel = kernel;
    this.#head = head;
    this.#conversation = conversation;
    this.#isKnown = isKnown;
  }

  async line(line: Readonly<Record<string, unknown>>): Promise<Problem | undefined> {
    if (this.#isWhole) return problem("invalid", "there is text after the export's last line");
    if (line["type"] === "turn") return this.#turn(line);
    if (line["type"] === "block") return this.#block(line);
    if (line["type"] !== "end")
      return problem(
        "invalid",
        `an export has no line of type ${jsonText(line["type"]).slice(0, SAID_CHARS)}`,
      );
    this.#isWhole = line["blocks"] === this.#count;
    return this.#isWhole
      ? undefined
      : problem(
          "invalid",
          `the export announces ${jsonText(line["blocks"]).slice(0, SAID_CHARS)} blocks but contains ${this.#count}`,
        );
  }

  async end(): Promise<Imported | Problem> {
    const { title } = this.#head;
    const conversation = this.#conversation;
    if (!this.#isWhole) {
      const message = `the export is incomplete: its last line is missing after ${this.#count} blocks. Import the whole file`;
      return problem("invalid", message, { conversation, blocks: this.#count });
    }
    if (this.#isKnown) return { conversation, title, added: 0, blocks: this.#count };
    const refused = (await this.#flush()) ?? (await this.#close());
    return refused ?? { conversation, title, added: this.#count, blocks: this.#count };
  }

  #turn(line: unknown): Problem | undefined {
    const parsed = turnLine.safeParse(line);
    if (!parsed.success) return wrong(`turn ${this.#turns.length + 1}`, parsed.error);
    this.#turns.push(parsed.data);
    return undefined;
  }

  async #block(line: unknown): Promise<Problem | undefined> {
    const parsed = blockLine.safeParse(line);
    if (!parsed.success) return wrong(`block ${this.#count + 1}`, parsed.error);
    this.#count++;
    if (this.#isKnown) return undefined;
    const metadata = await keepPicturesIn(this.#kernel, parsed.data.metadata);
    const block = { ...parsed.data, metadata };
    const [first] = this.#batch;
    const isFull = this.#batch.length >= BATCH_BLOCKS || this.#batchChars >= BATCH_CHARS;
    const refused = isFull || (first && first.agent !== block.agent) ? await this.#flush() : undefined;
    this.#batch.push(block);
    this.#batchChars += block.content.length;
    return refused;
  }

  #open(): Promise<Problem | undefined> {
    const { title, created_at, forked_from, sessions } = this.#head;
    return this.#write(this.#head.created_by, (draft) => {
      if (draft.record.seq > 0) return problem("conflict", "this conversation was not created by the import");
      draft.dated(created_at);
      const metadata = { [IMPORT_MARK]: { ...this.#mark(), cut: true } };
      draft.conversation({
        title,
        metadata,
        ...(forked_from === undefined ? {} : { forkedFrom: forked_from }),
      });
      for (const [provider, id] of Object.entries(sessions))
        draft.conversation({ session: { provider, id } });
      return [];
    });
  }

  /** The blocks that wait, all of one agent, in one write. */
  async #flush(): Promise<Problem | undefined> {
    const batch = this.#batch;
    const [first] = batch;
    if (!first) return undefined;
    this.#batch = [];
    this.#batchChars = 0;
    return this.#write(first.agent, (draft) => {
      const ids: [BlockId, BlockId][] = [];
      const known = new Map(this.#ids);
      for (const block of batch) {
        const copy = copyBlock(draft, block, known);
        if (isProblem(copy)) return problem(copy.problem, `${block.block_id}: ${copy.message}`);
        ids.push([block.block_id, copy]);
        known.set(block.block_id, copy);
      }
      return ids;
    });
  }

  /** References to blocks come last: turns, the head, included blocks; then the mark that says it is complete. */
  #close(): Promise<Problem | undefined> {
    const { updated_at, provider, model, included, metadata, head } = this.#head;
    const turned = (id: BlockId) => this.#ids.get(id) ?? id;
    return this.#write(this.#head.created_by, (draft) => {
      draft.dated(updated_at);
      for (const turn of this.#turns) draft.setTurn(copyTurn(turn, turned));
      for (const id of included.flatMap((each) => this.#ids.get(each) ?? []))
        draft.conversation({ include: id });
      const at = head === null ? undefined : this.#ids.get(head);
      draft.conversation({
        ...(provider === undefined ? {} : { provider }),
        ...(model === undefined ? {} : { model }),
        ...(at === undefined || at === draft.record.head ? {} : { head: at }),
        metadata: {
          ...metadata,
          [IMPORT_MARK]: { ...this.#mark(), until: draft.record.seq },
        },
      });
      return [];
    });
  }

  #mark(): JsonObject {
    const { epoch, conversation, seq } = this.#head;
    return { epoch, conversation, seq };
  }

  async #write(
    agent: string,
    plan: (draft: Draft) => [BlockId, BlockId][] | Problem,
  ): Promise<Problem | undefined> {
    const answer = await this.#kernel.write(this.#conversation, {
      agent,
      key: `import-${this.#writes++}`,
      create: true,
      plan: (draft) => {
        const ids = plan(draft);
        return isProblem(ids) ? ids : { ids };
      },
    });
    if (isProblem(answer)) return answer;
    for (const [from, to] of answer.ids) this.#ids.set(from, to);
    return undefined;
  }
}

function copyBlock(draft: Draft, block: BlockLine, ids: ReadonlyMap<BlockId, BlockId>): BlockId | Problem {
  const { role, side, content: text } = block;
  const includes = block.metadata.includes;
  const { kind, metadata } = copiedKind(block.kind, {
    ...unasked(block.metadata),
    ...(typeof includes === "string" ? { includes: ids.get(includes) ?? includes } : {}),
    ...(isSettled(block) ? {} : { reason: "interrupted" }),
  });
  const status = isSettled(block) ? block.status : "error";
  const parent = block.parent_id === null ? null : (ids.get(block.parent_id) ?? null);
  // A call that ends in an op of its own gets `success`; one that has none must end as it is created.
  const isLate = block.updated_at > block.created_at && (kind !== "tool_call" || "success" in metadata);
  draft.dated(block.created_at);
  const made = draft.create({
    ...{ kind, role, side, parent, text, metadata },
    status: isLate ? "running" : status,
  });
  if (isProblem(made)) return made;
  const isWaiting = !isEnded(status);
  if (isLate || isWaiting || block.pruned) draft.dated(block.updated_at);
  const waits = isWaiting ? draft.meta(made.id, { stage: "running" }) : made;
  const ended = isLate && !isWaiting ? draft.status(made.id, status) : waits;
  if (isProblem(ended)) return ended;
  const pruned = block.pruned ? draft.prune(made.id, true) : ended;
  return isProblem(pruned) ? pruned : made.id;
}

function isSettled({ status, metadata }: BlockLine): boolean {
  return isEnded(status) || metadata.waiting === "result";
}

/** An ask from there is not asked here. */
function unasked(metadata: JsonObject): JsonObject {
  return { ...metadata, ...expiredAsk(metadata) };
}

function copyTurn(view: TurnLine, turned: (id: BlockId) => BlockId): Turn {
  const { turn: id, provider, agent, usage, messages } = view;
  const isOpen = view.status === "running";
  return defined({
    ...{ id, provider, agent },
    model: view.model,
    sessionId: view.session_id,
    status: isOpen ? "error" : view.status,
    reason: isOpen ? "interrupted" : view.reason,
    stopReason: view.stop_reason,
    error: view.error,
    startedAt: view.started_at,
    endedAt: view.ended_at,
    durationMs: view.duration_ms,
    usage: usage && copyUsage(usage),
    costUsd: view.cost_usd,
    uncounted: view.uncounted ?? (isOpen ? true : undefined),
    messages:
      messages &&
      Object.fromEntries(
        Object.entries(messages).map(([message, { usage, model, parent_id }]) => [
          message,
          defined({
            usage: copyUsage(usage),
            model,
            parent: parent_id === undefined ? undefined : turned(parent_id),
          }),
        ]),
      ),
    native: view.native,
  });
}

function copyUsage({ input, cache_read, cache_write, output, reasoning }: NonNullable<TurnLine["usage"]>) {
  return { input, cacheRead: cache_read, cacheWrite: cache_write, output, reasoning };
}

function wrong(where: string, error: z.ZodError): Problem {
  const [issue] = error.issues;
  return problem("invalid", `${where}: ${issue?.path.map(String).join(".")}: ${issue?.message}`);
}
