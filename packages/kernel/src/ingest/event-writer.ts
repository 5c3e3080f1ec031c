/**
 * The event writer: applies the events of one batch to a draft. It collects new state in its own maps, which Ingest adopts
 * after the commit, because a plan may run more than once.
 */

import { askOf, unanswered } from "../model/ask.ts";
import { assert } from "../model/assert.ts";
import type { Turn } from "../model/conversation.ts";
import type { BlockEvent, BlockKey } from "../model/event.ts";
import type { BlockId } from "../model/ids.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { Role } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { pastSessions } from "../model/past-sessions.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import { sessionWith } from "../model/session-facts.ts";
import { difference } from "../text/difference.ts";
import { cleanText } from "../text/sanitize.ts";
import type { Draft } from "../write/draft.ts";
import { titleFrom, titlePatch } from "../write/title.ts";
import { withKeyOf } from "./imported.ts";
import type { IngestOptions, Place } from "./place.ts";
import { TurnWriter } from "./turn-writer.ts";

/** What a run knows about one of its blocks. */
export interface Known {
  id: BlockId;
  /** The text that the stream has written; undefined once the block has ended. */
  written: string | undefined;
  startedAt: number | undefined;
  /** It existed and had ended before this run: its events are ignored. */
  readonly old: boolean;
  /** It existed and was open before this run: its text is completed at its end. */
  readonly resumed?: boolean;
  /** A call whose result comes separately, so the stream leaves it open. */
  readonly isOwed?: boolean;
}

export type Item =
  | BlockEvent
  | { readonly type: "flush"; readonly key: BlockKey; readonly text: string }
  | { readonly type: "usage-due" };

/** The events of one plan, applied to a draft. */
export class EventWriter {
  readonly known = new Map<BlockKey, Known>();
  readonly place: Place;
  refused = 0;
  readonly #draft: Draft;
  readonly #options: IngestOptions;
  readonly #before: ReadonlyMap<BlockKey, Known>;
  readonly #turns: TurnWriter;

  constructor(
    draft: Draft,
    options: IngestOptions,
    before: ReadonlyMap<BlockKey, Known>,
    turnsBefore: ReadonlyMap<string, Turn>,
    place: Place,
  ) {
    this.#draft = draft;
    this.#options = options;
    this.#before = before;
    this.place = { ...place };
    this.#turns = new TurnWriter(draft, options, turnsBefore, this.place);
    if (place.at !== undefined) draft.dated(place.at);
  }

  /** Turns that have changed. */
  get turns(): ReadonlyMap<string, Turn> {
    return this.#turns.changed;
  }

  apply(item: Item): void {
    if (this.place.at !== undefined && "at" in item && item.at !== undefined) {
      this.place.at = item.at;
      this.#draft.dated(item.at);
    }
    switch (item.type) {
      case "session":
        return this.#session(item);
      case "turn-start":
        // A turn sets the conversation's provider and model, which a guest may not.
        return this.#isVisiting ? undefined : this.#turns.start(item);
      case "turn-end":
        return this.#turns.end(item);
      case "message-usage":
        return this.#turns.usage(item, this.#parentOf(item));
      case "usage-due":
        return this.#turns.usageDue();
      case "block-start":
        return this.#start(item);
      case "block-append":
      case "flush":
        return this.#append(item.key, item.text);
      case "block-meta":
        return this.#meta(item);
      case "block-end":
        return this.#end(item);
    }
  }

  #find(key: BlockKey): Known | undefined {
    return this.known.get(key) ?? this.#before.get(key);
  }

  #parentOf({ parent }: { readonly parent?: BlockKey }): BlockId | undefined {
    return parent === undefined ? undefined : this.#find(parent)?.id;
  }

  #change(key: BlockKey, known: Known): void {
    this.known.set(key, known);
  }

  #session(event: BlockEvent & { type: "session" }): void {
    const { record } = this.#draft;
    if (this.#isVisiting) return;
    const { provider, sessionId: id, model, cwd, version, title } = event;
    const metadata: Record<string, Json> = {};
    const session = sessionWith(record.metadata.session, event);
    if (session !== undefined) metadata.session = session;
    // For a turn started here, our folder is more reliable than the agent's.
    const isKnown = this.#options.turn !== undefined && record.metadata.cwd !== undefined;
    if (cwd !== undefined && !isKnown && record.metadata.cwd !== cwd) metadata.cwd = cwd;
    if (version !== undefined && record.metadata.version !== version) metadata.version = version;
    const isNew = id !== undefined && record.sessions[provider] !== id;
    const past = isNew ? pastSessions(record, provider) : undefined;
    if (past !== undefined) metadata.pastSessions = past;
    const named = title === undefined ? undefined : titlePatch(record, cleanTitle(title), "provider");
    if (!isNew && !named && record.provider === provider && (model ?? record.model) === record.model) {
      if (Object.keys(metadata).length === 0) return;
    }
    this.#draft.conversation({
      provider,
      ...(model === undefined ? {} : { model }),
      ...(isNew ? { session: { provider, id } } : {}),
      ...named,
      ...(named || Object.keys(metadata).length > 0 ? { metadata: { ...metadata, ...named?.metadata } } : {}),
    });
    if (named) this.place.titled = true;
  }

  #start(event: BlockEvent & { type: "block-start" }): void {
    const again = this.#find(event.key);
    if (again?.resumed && again.written === "")
      this.#change(event.key, { ...again, written: cleanText(event.text ?? "") });
    if (again) return; // a repeated start
    const parent = this.#parentOf(event);
    const side = event.parent !== undefined;
    const text = event.text ?? "";
    const { keep } = this.#options;
    const extra = keep
      ? { extra: { ...(event.metadata.extra as JsonObject | undefined), key: event.key } }
      : {};
    const spec = {
      kind: event.kind,
      role: this.#roleOf(event.role),
      parent: parent ?? this.place.head,
      side,
      text,
      metadata: {
        ...(this.place.turn === undefined ? {} : { turn: this.place.turn }),
        ...(event.at === undefined ? {} : { startedAt: event.at }),
        ...this.#claimed(event.metadata),
        ...(side ? {} : this.#authorOf(event.role)),
        ...extra,
      },
    };
    const block = this.#draft.create(spec);
    if (isProblem(block)) return this.#refuse(event, block);
    const startedAt = event.at ?? this.#draft.at;
    this.#change(event.key, { id: block.id, written: cleanText(text), startedAt, old: false });
    if (!side) this.place.head = block.id;
    if (!side) this.#title(event.role, event.kind, text);
  }

  /** Titles an untitled conversation after a person's first prompt, not after an agent's prompt to a sub-agent. */
  #title(role: string, kind: string, text: string): void {
    if (this.place.titled || this.#isVisiting || role !== "user" || kind !== "text") return;
    const named = titlePatch(this.#draft.record, titleFrom(text), "prompt");
    if (!named) return;
    this.#draft.conversation(named);
    this.place.titled = true;
  }

  #append(key: BlockKey, text: string): void {
    const known = this.#find(key);
    if (!known || known.old) return;
    if (known.written === undefined) return; // it has ended, and the end was authoritative
    const clean = cleanText(text);
    this.#change(key, { ...known, written: known.written + clean });
    if (known.resumed) return; // completed at its end
    const block = this.#draft.append(known.id, clean);
    if (isProblem(block)) this.refused++;
  }

  #meta(event: BlockEvent & { type: "block-meta" }): void {
    const known = this.#find(event.key);
    if (!known || known.old || known.written === undefined) return;
    const metadata = this.#withoutAnswer(known.id, this.#claimed(event.metadata));
    if (Object.keys(metadata).length === 0) return;
    const block = this.#draft.meta(known.id, metadata);
    if (isProblem(block)) this.#refuse(event, block);
    else if (metadata.waiting === "result") this.#change(event.key, { ...known, isOwed: true });
  }

  /** Keeps a person's answer, which is more exact than the stream's, and the block's key. */
  #withoutAnswer(id: BlockId, metadata: JsonObject): JsonObject {
    const block = this.#draft.block(id);
    if (isProblem(block)) return metadata;
    return withKeyOf(
      block,
      unanswered(metadata, block.metadata, (key) => this.#find(key)?.id),
    );
  }

  #end(event: BlockEvent & { type: "block-end" }): void {
    const known = this.#find(event.key);
    if (!known || known.old || known.written === undefined) return;
    this.#finalText(known, event.text);
    const took = event.at === undefined ? undefined : this.#took(known, event.at);
    const metadata: JsonObject = {
      ...(event.reason === undefined ? {} : { reason: event.reason }),
      ...(took === undefined || took < 0 ? {} : { durationMs: took }),
      ...this.#withoutAnswer(known.id, this.#claimed(event.metadata ?? {})),
    };
    const block = this.#draft.status(known.id, event.status, metadata);
    if (isProblem(block) && block.problem === "invalid") {
      this.#refuse(event, block);
      this.#draft.status(known.id, event.status, event.reason === undefined ? {} : { reason: event.reason });
    }
    if (isProblem(block) && block.problem === "too_large") this.#endWithin(known.id, event.status, metadata);
    this.#change(event.key, { ...known, written: undefined });
  }

  /** The duration since the start, or since the answer to the block's ask. */
  #took({ id, startedAt }: Known, at: number): number | undefined {
    const block = this.#draft.block(id);
    const answeredAt = isProblem(block) ? undefined : askOf(block.metadata)?.answeredAt;
    if (startedAt === undefined || answeredAt === undefined || answeredAt > at)
      return startedAt === undefined ? undefined : at - startedAt;
    return at - Math.max(startedAt, answeredAt);
  }

  /** A block's metadata can exceed the limit in total. It ends without the largest keys, and names them in `omitted`. */
  #endWithin(id: BlockId, status: "done" | "error", metadata: JsonObject): void {
    const block = this.#draft.block(id);
    const before = isProblem(block) ? {} : block.metadata.extra;
    const large = Object.keys(metadata).filter(
      (key) => JSON.stringify(metadata[key]).length > limits.smallMetadataChars,
    );
    const small = Object.fromEntries(Object.entries(metadata).filter(([key]) => !large.includes(key)));
    const extra = { ...before, ...(small["extra"] as JsonObject | undefined) };
    const ended = this.#draft.status(id, status, { ...small, extra: { ...extra, omitted: large } });
    if (!isProblem(ended)) return;
    const omitted = [...large, "input"];
    this.#draft.status(id, status, { ...small, input: null, extra: { ...extra, omitted } });
  }

  /** Changes the stream's part of the text to the provider's final text; other people's edits stay. */
  #finalText(known: Known, final: string | undefined): void {
    if (known.resumed) return this.#catchUp(known, cleanText(final ?? known.written ?? ""));
    if (final === undefined || known.written === undefined) return;
    const text = cleanText(final);
    if (text === known.written) return;
    if (text.startsWith(known.written)) {
      this.#draft.append(known.id, text.slice(known.written.length));
      return;
    }
    const at = this.#draft.text(known.id).toString().indexOf(known.written);
    if (at === -1) return; // someone has edited inside it: not overwritten
    this.#draft.splice(known.id, [difference(at, known.written, text)]);
  }

  /** Completes a block that an earlier import left open, unless someone has edited it. */
  #catchUp(known: Known, text: string): void {
    const present = this.#draft.text(known.id).toString();
    if (text.startsWith(present)) this.#draft.append(known.id, text.slice(present.length));
  }

  /** Whether a guest writes to someone else's conversation. */
  get #isVisiting(): boolean {
    return this.#options.guest === true && this.#draft.record.createdBy !== this.#options.agent;
  }

  /** User and system messages in a guest's stream were addressed to the guest, not written here. */
  #roleOf(role: Role): Role {
    return this.#options.guest && (role === "user" || role === "system") ? "tool" : role;
  }

  /** A prompt in a stream is written under the agent's name, but its author is the person who brought it. */
  #authorOf(role: Role): JsonObject {
    const { bringer, guest } = this.#options;
    return bringer === undefined || guest || role !== "user" ? {} : { author: bringer };
  }

  /** A guest's asks happened elsewhere: here they neither ask nor allow anything. */
  #claimed(metadata: JsonObject): JsonObject {
    if (!this.#options.guest) return metadata;
    const { ask: _ask, approval: _approval, ...rest } = metadata;
    return rest;
  }

  #refuse(event: BlockEvent, why: Problem): void {
    this.refused++;
    const text = JSON.stringify({ refused: why.message, event }, null, 2).slice(0, limits.writeTextChars);
    const shown = this.#draft.create({
      kind: "unknown",
      role: this.#roleOf("system"),
      side: true,
      parent: this.place.head,
      status: "done",
      text,
      metadata: { type: `refused ${event.type}` },
    });
    assert(!isProblem(shown), "an unknown block can always be made");
    if (event.type === "block-start") {
      this.#change(event.key, { id: shown.id, written: undefined, startedAt: undefined, old: false });
    }
  }
}

/** A provider's title, in one line. */
function cleanTitle(text: string): string {
  return cleanText(text.replace(/\s+/g, " ").trim().slice(0, limits.titleChars).toWellFormed());
}
