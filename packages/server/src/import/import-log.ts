/**
 * A session log into its conversation: always the same one for the same log, so that importing again finds what is there.
 * Ingest recognises blocks by their keys; the conversation remembers the log's stamp, so that a log that has not changed
 * need not be sent again, and how many of its raw bytes are kept.
 */

import {
  Ingest,
  isProblem,
  type JsonObject,
  type Kernel,
  type Problem,
  problem,
  sameJson,
  sessionDeletedAt,
} from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { z } from "zod";
import type { Caller } from "../access/auth.ts";
import { IMPORT_MARK } from "../ingest/import-mark.ts";
import { keepPictures } from "../ingest/kept-pictures.ts";
import type { BodyImport, Imported } from "./body-import.ts";
import { checkEvent } from "./event-schema.ts";
import { deletedBefore, importPlace } from "./import-place.ts";
import { time } from "./imported-time.ts";

const logHead = z.strictObject({
  type: z.literal("log"),
  provider: z.string().min(1).max(64),
  /** The log's own name, which never changes: the file's, without its folders. */
  name: z.string().min(1).max(500),
  path: z.string().max(4_096),
  /** Changes whenever the log does. */
  stamp: z.string().max(500),
  /** When it began, for what carries no time of its own. */
  from: time,
  /** Somebody is still writing it: what is open stays open. */
  open: z.boolean(),
  /** Where the raw text that is sent begins, in bytes of the log. */
  raw_from: z.number().int().nonnegative(),
  /** The provider's own name for the session. */
  session: z.string().max(500).optional(),
  /** Somebody has named this very log: it is imported although its conversation was deleted. */
  again: z.boolean().optional(),
});

export type LogHead = z.infer<typeof logHead>;

/** What a conversation remembers of the log that it came from. */
const markSchema = z.object({
  provider: z.string(),
  name: z.string(),
  path: z.string().default(""),
  stamp: z.string(),
  open: z.boolean().default(false),
  raw_bytes: z.number().default(0),
});

export type LogMark = Readonly<z.output<typeof markSchema>>;

/** Undefined where an export was imported, or nothing. */
export function markOf(metadata: JsonObject): LogMark | undefined {
  return markSchema.safeParse(metadata[IMPORT_MARK]).data;
}

export class LogImport implements BodyImport {
  readonly #kernel: Kernel;
  readonly #owner: string;
  readonly #head: LogHead;
  readonly #conversation: string;
  readonly #ingest: Ingest;
  readonly #blocksBefore: number;
  /** Raw bytes that an earlier, cut import has kept already. */
  #skipBytes: number;
  #rawBytes = 0;
  #isWhole = false;

  /** Where another process has made the conversation at the same moment, it is there when this is tried once more. */
  static async begin(kernel: Kernel, caller: Caller, line: unknown): Promise<LogImport | Problem> {
    const begun = await LogImport.#beginOnce(kernel, caller, line);
    return isProblem(begun) && begun.details?.["again"] === true
      ? LogImport.#beginOnce(kernel, caller, line)
      : begun;
  }

  static async #beginOnce(kernel: Kernel, caller: Caller, line: unknown): Promise<LogImport | Problem> {
    const parsed = logHead.safeParse(line);
    if (!parsed.success) return problem("invalid", `the first line: ${parsed.error.issues[0]?.message}`);
    const head = parsed.data;
    if (!providers.get(head.provider)?.importLog)
      return problem("invalid", `${head.provider} has no session logs that can be imported`);
    const place = await importPlace(
      kernel,
      `log:${head.provider}:${head.name}`,
      (mark) => mark["provider"] === head.provider && mark["name"] === head.name,
      head.again === true,
    );
    if (isProblem(place)) return place;
    if (place.mark === undefined && !head.again) {
      const deletedAt = await sessionDeletedAt(kernel.store, head.provider, head.session ?? head.name);
      if (deletedAt !== undefined) return deletedBefore({ details: { deleted_at: deletedAt } });
    }
    const { conversation } = place;
    const opened = await kernel.write(conversation, {
      agent: caller.agent,
      create: true,
      plan: (draft) => {
        const { blocks, seq } = draft.record;
        if (seq > 0 && place.mark === undefined)
          return problem("conflict", "this conversation was not created by the import; try again", {
            again: true,
          });
        if (seq > 0) return { blocks };
        draft.dated(head.from);
        const { provider, name, path } = head;
        // Whose conversation this is stands in it from its first op on, also where the import is cut.
        const mark: LogMark = { provider, name, path, stamp: "", open: true, raw_bytes: 0 };
        draft.conversation({ provider, metadata: { [IMPORT_MARK]: mark } });
        return { blocks };
      },
    });
    if (isProblem(opened)) return opened;
    const { provider: agent, from } = head;
    const ingest = new Ingest(kernel, { conversation, agent, keep: true, from });
    const refused = await ingest.open();
    if (refused) return refused;
    const kept = await kernel.store.raw({ conversation, run: rawRun(head) });
    return new LogImport(kernel, caller.agent, head, conversation, ingest, opened.blocks, kept.length);
  }

  private constructor(
    kernel: Kernel,
    owner: string,
    head: LogHead,
    conversation: string,
    ingest: Ingest,
    blocks: number,
    kept: number,
  ) {
    this.#kernel = kernel;
    this.#owner = owner;
    this.#head = head;
    this.#conversation = conversation;
    this.#ingest = ingest;
    this.#blocksBefore = blocks;
    this.#skipBytes = kept;
  }

  async line(line: Readonly<Record<string, unknown>>): Promise<Problem | undefined> {
    if (this.#isWhole) return problem("invalid", "there is text after the last line");
    if (line["type"] === "end") {
      this.#isWhole = true;
      return undefined;
    }
    if (line["type"] === "raw" && typeof line["text"] === "string")
      return this.#keepRaw(Buffer.from(line["text"]));
    if (line["type"] === "raw" && typeof line["base64"] === "string")
      return this.#keepRaw(Buffer.from(line["base64"], "base64"));
    if (line["type"] === "events" && Array.isArray(line["events"])) return this.#push(line["events"]);
    return problem("invalid", "a log's lines have the types raw, events and end");
  }

  async end(): Promise<Imported | Problem> {
    const open = this.#head.open || !this.#isWhole;
    const refused = open ? await this.#ingest.drain() : await this.#ingest.finish();
    if (refused) return refused;
    if (!this.#isWhole) return problem("invalid", "the log's last line is missing; send it again");
    const { blocks, title } = await this.#mark();
    const added = blocks - this.#blocksBefore;
    const raw_bytes = this.#head.raw_from + this.#rawBytes;
    return { conversation: this.#conversation, title, added, blocks, raw_bytes };
  }

  async #push(values: readonly unknown[]): Promise<Problem | undefined> {
    const events = [];
    for (const value of values) {
      const event = checkEvent(value);
      if (typeof event === "string") return problem("invalid", event);
      events.push(event);
    }
    return this.#ingest.push(await keepPictures(this.#kernel, events));
  }

  async #keepRaw(bytes: Buffer): Promise<Problem | undefined> {
    this.#rawBytes += bytes.length;
    const skipped = Math.min(this.#skipBytes, bytes.length);
    this.#skipBytes -= skipped;
    if (skipped === bytes.length) return undefined;
    // Where another import has taken over, its raw text is enough.
    const refused = await this.#ingest.drain();
    if (refused) return refused;
    const run = { conversation: this.#conversation, run: rawRun(this.#head) };
    await this.#kernel.store.appendRaw(run, bytes.subarray(skipped));
    return undefined;
  }

  /** Remembers how far the log was read, at the log's own time: an import is no news in a list of conversations. */
  async #mark(): Promise<{ blocks: number; title: string }> {
    const { provider, name, path, stamp, open, raw_from } = this.#head;
    const mark: LogMark = { provider, name, path, stamp, open, raw_bytes: raw_from + this.#rawBytes };
    const answer = await this.#kernel.write(this.#conversation, {
      agent: this.#owner,
      plan: (draft) => {
        const { record } = draft;
        if (!sameJson(record.metadata[IMPORT_MARK], mark)) {
          draft.dated(record.updatedAt);
          draft.conversation({ metadata: { [IMPORT_MARK]: mark } });
        }
        return { blocks: record.blocks, title: record.title };
      },
    });
    return isProblem(answer) ? { blocks: this.#blocksBefore, title: "" } : answer;
  }
}

/** One run per piece of the log, in the order of its bytes. */
function rawRun({ raw_from }: LogHead): string {
  return `log-${String(raw_from).padStart(12, "0")}`;
}
