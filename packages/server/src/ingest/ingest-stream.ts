/**
 * A provider's byte stream into a conversation: framing and adapter from providers, blocks through the kernel's ingest,
 * the raw lines kept beside them. Used by the ingest route, by turns and by replay.
 */

import {
  type AgentId,
  type Ask,
  type AskSuggestion,
  askOf,
  type Block,
  type BlockEvent,
  type BlockId,
  type BlockKey,
  cleanText,
  Ingest,
  isAgentId,
  isProblem,
  type Json,
  type JsonObject,
  type Kernel,
  limits,
  mayDirect,
  mayNot,
  type Problem,
  patiently,
  problem,
  type Reason,
  randomName,
  titleFrom,
  titlePatch,
} from "@blockyard/kernel";
import { type Before, countedIn, Normalizer, type Provider } from "@blockyard/providers";
import { type Caller, RESERVED } from "../access/auth.ts";
import { CallStarts } from "./call-starts.ts";
import type { EventRedactor } from "./event-redactor.ts";
import { fenced } from "./fence.ts";
import { keepPictures } from "./kept-pictures.ts";
import { lineKeeper, RawLines } from "./raw-lines.ts";
import { repeatedIn } from "./repeated.ts";
import type { Secrets } from "./secrets.ts";
import { providerOf, readHead, sessionIn } from "./stream-head.ts";

export interface StreamOptions {
  readonly conversation: string;
  readonly agent: string;
  readonly turn?: string;
  /** The parent of its first block; the conversation's head by default. */
  readonly parent?: BlockId;
  readonly provider: Provider;
  /** The session's counters before this run, if it resumes one. */
  readonly before?: Before;
  /** The agent's briefing before its prompt: stored before its output, in a line of our own. */
  readonly told?: string;
  /** The agent asks nobody for approval: its calls start when it says so. */
  readonly neverAsks?: boolean;
  /** An agent's own stream, not the owner's: see IngestOptions. */
  readonly guest?: boolean;
  /** See IngestOptions. */
  readonly bringer?: AgentId;
  /** What becomes of an event before it is written: the cost of a turn whose agent names none. */
  readonly price?: (event: BlockEvent) => BlockEvent;
  /** The answers to an ask besides yes and no, including the agent's suggestions. */
  readonly suggest?: ((ask: Ask) => readonly AskSuggestion[]) | undefined;
  /** Removes secrets from stored text. A turn that runs here then stores no raw lines: they are not scanned as a whole. */
  readonly secrets?: Secrets | undefined;
  /** Gets every event, before it is written. */
  readonly onEvent?: (event: BlockEvent) => void;
  /** The same process's stream of its last turn: this one continues what is open there. */
  readonly after?: StreamIngest | undefined;
  /** See IngestOptions. */
  readonly begins?: "first" | "later";
}

/** Why a stream is ended, where that is known. */
export interface StreamEnd {
  readonly reason?: Reason | undefined;
  readonly error?: string | undefined;
  /** What a call says that was interrupted. */
  readonly callError?: string | undefined;
}

/** One run of one provider: bytes in, blocks out. */
export class StreamIngest {
  readonly run: string;
  readonly #kernel: Kernel;
  readonly #options: Omit<StreamOptions, "after">;
  readonly #normalizer: Normalizer;
  readonly #ingest: Ingest;
  readonly #raw: RawLines;
  readonly #keep: (line: string) => void;
  readonly #redactor: EventRedactor | undefined;
  #known: StreamEnd = {};
  readonly #starts: CallStarts;

  constructor(kernel: Kernel, { after, ...options }: StreamOptions) {
    this.#kernel = kernel;
    this.#options = options;
    const { conversation, agent, turn, parent, told, guest = false, bringer } = options;
    this.run = after?.run ?? randomName(kernel.env, 8);
    this.#raw = after ? after.#raw : new RawLines(kernel, { conversation, run: this.run });
    const before = options.before === undefined ? {} : { before: options.before };
    this.#keep = lineKeeper(this.#raw, {
      isRedacted: options.secrets !== undefined,
      isOfTurn: turn !== undefined,
    });
    const reading = { run: this.run, raw: this.#keep, ...before };
    this.#normalizer = after ? after.#normalizer : new Normalizer(options.provider, reading);
    this.#redactor = options.secrets?.redactor(turn ?? this.run);
    if (told !== undefined) this.keepLine(JSON.stringify({ type: "blockyard_told", turn, text: told }));
    const place = { ...(turn === undefined ? {} : { turn }), ...(parent === undefined ? {} : { parent }) };
    this.#ingest = new Ingest(fenced(kernel, turn), {
      ...{ conversation, agent, guest, ...place },
      ...(bringer === undefined ? {} : { bringer }),
      ...(options.begins === undefined ? {} : { begins: options.begins }),
    });
    if (after) this.#ingest.takeOver(after.#ingest);
    this.#starts = new CallStarts(kernel.env, (event) => void this.#ingest.push([event]), options.neverAsks);
  }

  /** Waits while the store is unavailable. */
  async open(): Promise<Problem | undefined> {
    const lost = await this.#raw.flush();
    return lost ?? patiently(this.#kernel.env, () => this.#ingest.open());
  }

  async push(bytes: Uint8Array): Promise<Problem | undefined> {
    const events = this.#normalizer.push(bytes).map((event) => this.#complete(event));
    for (const event of events) this.#options.onEvent?.(event);
    const kept = await this.#kept(events);
    const refused = await this.#ingest.push(this.#starts.take(kept));
    const lost = this.#raw.isDue ? await this.#raw.flush() : undefined;
    return refused ?? lost;
  }

  /** Stores output that is not part of the conversation. */
  async keepAside(bytes: Uint8Array): Promise<void> {
    this.keepLine(Buffer.from(bytes).toString("utf8").trimEnd());
    await this.#raw.flush();
  }

  /** Stores a line, also one that is no event: its meaning is written elsewhere. */
  keepLine(line: string): void {
    this.#keep(line);
  }

  /** Events as they are stored: pictures beside them, and without secrets if requested. */
  async #kept(events: readonly BlockEvent[]): Promise<readonly BlockEvent[]> {
    const kept = await keepPictures(this.#kernel, events);
    return this.#redactor?.take(kept) ?? kept;
  }

  /** Lets another writer append after all output so far; later output comes after that. */
  async aside(write: () => Promise<void>): Promise<Problem | undefined> {
    const failed = await this.#ingest.drain();
    if (failed) return failed;
    await write();
    this.#ingest.follow();
    return undefined;
  }

  /** The next turn that begins is the one that it was opened for. */
  claim(): void {
    this.#ingest.claim();
  }

  /** Something that it has begun continues. */
  get hasOpen(): boolean {
    return this.#ingest.hasOpen;
  }

  /** Everything is written; continuing blocks stay open, for the next stream. */
  async leave(): Promise<Problem | undefined> {
    const kept = this.#redactor?.end() ?? [];
    const refused = await this.#ingest.push([...this.#starts.take(kept), ...this.#starts.end()]);
    const failed = await this.#ingest.drain();
    const lost = await this.#raw.flush();
    return refused ?? failed ?? lost;
  }

  /** The block that an event's key was given, once it is written. */
  idOf(key: BlockKey): BlockId | undefined {
    return this.#ingest.idOf(key);
  }

  /** Calls that wait for results which do not come in this stream. */
  get owed(): readonly BlockId[] {
    return this.#ingest.owed;
  }

  /** From here on, interruptions have a reason that the caller knows better than the stream. */
  explain(known: StreamEnd): void {
    this.#known = known;
  }

  #complete(event: BlockEvent): BlockEvent {
    const { price, suggest } = this.#options;
    const known = explained(event, this.#known);
    const priced = price === undefined ? known : price(known);
    return suggest === undefined ? priced : suggested(priced, suggest);
  }

  /** The stream is over. Its open blocks are closed. */
  async end(): Promise<Problem | undefined> {
    const left = this.#normalizer.end().map((event) => this.#complete(event));
    const kept = [...(await this.#kept(left)), ...(this.#redactor?.end() ?? [])];
    const refused = await this.#ingest.push([...this.#starts.take(kept), ...this.#starts.end()]);
    const failed = (await this.#ingest.finish()) ?? refused;
    const lost = await this.#raw.flush();
    return failed ?? lost;
  }
}

function suggested(event: BlockEvent, suggest: NonNullable<StreamOptions["suggest"]>): BlockEvent {
  if (event.type !== "block-start" && event.type !== "block-meta") return event;
  const ask = askOf(event.metadata);
  if (ask?.state !== "asked") return event;
  const offered = suggest(ask);
  if (offered.length + (ask.suggestions?.length ?? 0) === 0) return event;
  const full = { ...ask, suggestions: [...offered] };
  return { ...event, metadata: { ...event.metadata, ask: full as JsonObject } };
}

/** An adapter knows only that its stream was cut, not by whom. */
function explained(event: BlockEvent, { reason, error, callError }: StreamEnd): BlockEvent {
  if ((event.type !== "block-end" && event.type !== "turn-end") || event.reason !== "interrupted")
    return event;
  const known = { ...event, reason: reason ?? event.reason };
  if (known.type === "block-end" && known.metadata?.success === false && callError !== undefined)
    return { ...known, metadata: { ...known.metadata, error: callError } };
  if (known.type !== "turn-end" || error === undefined) return known;
  // An agent's own error for being stopped ("aborted streaming") explains nothing to the person who stopped it.
  return reason === "cancelled" ? { ...known, error } : { error, ...known };
}

/** The ingest route: `provider` (or recognised from the first bytes), `conversation` (or a new one). */
export async function ingestStream(
  kernel: Kernel,
  caller: Caller,
  query: Readonly<Record<string, string>>,
  body: AsyncIterable<Uint8Array>,
  secrets?: Secrets,
): Promise<Json | Problem> {
  const forbidden = mayNot(caller.role, "ingest");
  if (forbidden) return forbidden;
  const head = await readHead(body[Symbol.asyncIterator](), query["provider"]);
  const { start } = head;
  const provider = providerOf(query["provider"], start);
  if (isProblem(provider)) return provider;
  const agent = caller.role === "owner" ? (query["agent"] ?? provider.name) : caller.agent;
  if (!isAgentId(agent) || RESERVED.includes(agent))
    return problem("invalid", `"${agent.slice(0, 80)}" is not a valid agent for a stream`, {
      agent: agent.slice(0, 80),
    });
  // What continues a session may be what the session has said already; held back as long as nobody can tell.
  const told = await repeatedIn(kernel, query["unless_in"]?.split(",") ?? [], head);
  if (isProblem(told)) return told;
  const title = cleanText(query["title"] ?? "")
    .slice(0, limits.titleChars)
    .toWellFormed();
  const conversation = query["conversation"] ?? (await kernel.createConversation(caller.agent, title));
  if (isProblem(conversation)) return conversation;
  const before = await countedBefore(kernel, conversation, provider, sessionIn(provider, start)?.id);
  const guest = caller.role === "owner" ? {} : { guest: true };
  const bringer = agent === provider.name ? {} : { bringer: caller.agent };
  const stream = new StreamIngest(kernel, {
    ...{ conversation, agent, provider, secrets },
    ...{ ...before, ...guest, ...bringer },
  });
  const refused = await stream.open();
  if (refused) return refused;
  try {
    let lost: Problem | undefined;
    for (const chunk of told.chunks) lost ??= await stream.push(chunk);
    for (let next = await told.rest.next(); !next.done && !lost; next = await told.rest.next())
      lost = await stream.push(next.value);
  } catch (error) {
    // The sender is gone: open blocks end here, or they would stay open.
    await stream.end();
    throw error;
  }
  const failed = await stream.end();
  if (failed) return failed;
  await entitle(kernel, conversation, caller, provider.name);
  const waiting = await owedCalls(kernel, stream.owed);
  return { conversation, provider: provider.name, run: stream.run, waiting };
}

/** What the sender of the stream needs to attach results. */
async function owedCalls(kernel: Kernel, ids: readonly BlockId[]): Promise<Json[]> {
  const blocks = await Promise.all(ids.map((id) => kernel.block(id)));
  return blocks.flatMap((block) => {
    if (isProblem(block)) return [];
    const { toolUseId = null, toolName = null } = block.metadata;
    return [{ block_id: block.id, tool_use_id: toolUseId, tool_name: toolName }];
  });
}

/** The stream of a single run does not contain its prompt: its title is the agent's first text. */
async function entitle(
  kernel: Kernel,
  conversation: string,
  caller: Caller,
  provider: string,
): Promise<void> {
  const record = await kernel.conversation(conversation);
  if (isProblem(record) || record.title !== "" || mayDirect(caller, record)) return;
  const blocks = await kernel.allBlocks(conversation);
  const said = isProblem(blocks) ? undefined : blocks.find((each) => isSaid(each) && each.chars > 0);
  const whole = said && (await kernel.whole(said.id));
  const text = whole === undefined || isProblem(whole) ? "" : whole.text;
  const folder = (record.metadata.cwd ?? "").split("/").findLast((part) => part !== "");
  const title = titleFrom(text) || (folder === undefined ? `${provider} run` : `${provider} in ${folder}`);
  await kernel.write(conversation, {
    agent: caller.agent,
    plan: (draft) => {
      const named = titlePatch(draft.record, title, "prompt");
      if (named) draft.conversation(named);
      return null;
    },
  });
}

function isSaid({ kind, role, side }: Block): boolean {
  return kind === "text" && role === "model" && !side;
}

/** The total of a session's turns so far, if the stream continues a session of the conversation. */
async function countedBefore(
  kernel: Kernel,
  conversation: string,
  { name }: Provider,
  session: string | undefined,
): Promise<{ readonly before?: Before }> {
  const turns = session === undefined ? [] : await kernel.turns(conversation);
  if (isProblem(turns)) return {};
  const earlier = turns.filter((turn) => turn.provider === name && turn.sessionId === session);
  if (earlier.length === 0) return {};
  return { before: countedIn(earlier) };
}
