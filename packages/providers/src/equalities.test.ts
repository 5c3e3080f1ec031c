/**
 * What holds for every recording of every provider: how it is cut does not matter, a cut end is a beginning with
 * everything closed, calls start and end once, metadata is valid, and nothing that was said is lost.
 */
import { type BlockEvent, checkMetadata, isProblem, type Json, type JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { bytesOf, logFilesOf, logs, type Recording, streams } from "../../../test/recordings.ts";
import { type Folded, fold } from "./fold.ts";
import { isObject, parseJson } from "./framing/json.ts";
import { Normalizer } from "./normalize.ts";
import { recognise } from "./recognise.ts";
import { type Provider, providers } from "./registry.ts";
import { readTraffic } from "./traffic.ts";

function providerOf(recording: Recording): Provider {
  const provider = providers.get(recording.provider);
  if (provider === undefined) throw new Error(`no provider ${recording.provider}`);
  return provider;
}

function eventsOf(
  provider: Provider,
  chunks: Iterable<Uint8Array>,
  raw?: (line: string) => void,
): BlockEvent[] {
  const normalizer = new Normalizer(provider, raw === undefined ? {} : { raw });
  const events: BlockEvent[] = [];
  for (const chunk of chunks) events.push(...normalizer.push(chunk));
  events.push(...normalizer.end());
  return events;
}

function* inPieces(bytes: Uint8Array, size: () => number): Iterable<Uint8Array> {
  for (let from = 0; from < bytes.length; ) {
    const to = Math.min(bytes.length, from + size());
    yield bytes.subarray(from, to);
    from = to;
  }
}

/** A small generator of our own: the same sizes for everyone. */
function randomSizes(seed: number, most: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return 1 + ((state >>> 8) % most);
  };
}

/** As `toEqual`, which takes its time over thousands of events: it is asked only where they differ, to say how. */
function expectSame(actual: readonly BlockEvent[], expected: readonly BlockEvent[]): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) expect(actual).toEqual(expected);
}

const named = (list: readonly Recording[]) => list.map((recording) => [recording.name, recording] as const);
const small = streams.filter((recording) => bytesOf(recording).length < 200_000);

describe("chunking", () => {
  it.each(named(small))("[P3] %s fed byte by byte", (_, recording) => {
    const bytes = bytesOf(recording);
    const provider = providerOf(recording);
    const bytewise = inPieces(bytes, () => 1);
    expectSame(eventsOf(provider, bytewise), eventsOf(provider, [bytes]));
  });

  it.each(named(streams))("[P3] %s fed in random pieces", (_, recording) => {
    const bytes = bytesOf(recording);
    const provider = providerOf(recording);
    const whole = eventsOf(provider, [bytes]);
    for (const [seed, most] of [
      [1, 7],
      [2, 100],
      [3, 5_000],
    ] as const) {
      expectSame(eventsOf(provider, inPieces(bytes, randomSizes(seed, most))), whole);
    }
  });

  it.each(named(streams))("[P4] %s again from its raw lines", (_, recording) => {
    const provider = providerOf(recording);
    const lines: string[] = [];
    const live = eventsOf(provider, [bytesOf(recording)], (line) => lines.push(line));
    const stored = new TextEncoder().encode(lines.join("\n"));
    expectSame(eventsOf(provider, [stored]), live);
  });

  it.each(named(streams.filter((recording) => !recording.name.endsWith(".json"))))(
    "[P5] %s with CRLF and a BOM",
    (_, recording) => {
      const provider = providerOf(recording);
      const text = new TextDecoder().decode(bytesOf(recording));
      const changed = new TextEncoder().encode(`\ufeff${text.replaceAll("\n", "\r\n")}`);
      expectSame(eventsOf(provider, [changed]), eventsOf(provider, [bytesOf(recording)]));
    },
  );
});

/** What may follow the cut: ends, nothing that says more. */
const CLOSING = new Set(["block-end", "turn-end", "message-usage"]);

function checkCut(provider: Provider, bytes: Uint8Array, whole: readonly string[], cut: number): void {
  const events = eventsOf(provider, [bytes.subarray(0, cut)]);
  const texts = events.map((event) => JSON.stringify(event));
  let common = 0;
  while (common < texts.length && texts[common] === whole[common]) common++;
  const rest = events.slice(common);
  if (rest.some((event) => !CLOSING.has(event.type))) {
    expect.fail(`cut after ${cut} bytes: ${JSON.stringify(rest.find((event) => !CLOSING.has(event.type)))}`);
  }
  expect(fold(events).faults, `cut after ${cut} bytes`).toEqual([]);
}

/** Ends of lines; of at most `most` of them, evenly spread, where there are more. */
function lineEnds(bytes: Uint8Array, most: number): number[] {
  const ends: number[] = [];
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) ends.push(at + 1);
  const step = Math.max(1, Math.ceil(ends.length / most));
  return ends.filter((_, i) => i % step === 0 || i === ends.length - 1);
}

/** Small recordings of every provider that between them have text, thinking, calls, results and errors. */
const bytewise = [
  "anthropic-sse/api-anthropic-tool-use.sse",
  "anthropic-sse/api-anthropic-thinking.sse",
  "openai-sse/api-chat-tool-call.sse",
  "openai-sse/api-responses-function-call.sse",
  "openai-sse/api-responses-reasoning.sse",
  "codex/command-fail.jsonl",
  "codex/mcp.jsonl",
  "gemini/tools.jsonl",
  "opencode/subagent.jsonl",
  "claude/text-tool-text-nopartial.jsonl",
];

describe("a cut stream", () => {
  it.each(named(streams))("[P6] [R19] %s cut after every line", (_, recording) => {
    const bytes = bytesOf(recording);
    const provider = providerOf(recording);
    const whole = eventsOf(provider, [bytes]).map((event) => JSON.stringify(event));
    for (const end of lineEnds(bytes, bytes.length > 100_000 ? 40 : 500))
      checkCut(provider, bytes, whole, end);
  });

  it.each(bytewise)("[P6] [R19] %s cut after every byte", (name) => {
    const recording = streams.find((one) => one.name === name);
    if (recording === undefined) throw new Error(`no recording ${name}`);
    const bytes = bytesOf(recording);
    const provider = providerOf(recording);
    const whole = eventsOf(provider, [bytes]).map((event) => JSON.stringify(event));
    for (let cut = 0; cut <= bytes.length; cut++) checkCut(provider, bytes, whole, cut);
  });
});

describe("final blocks", () => {
  it.each(named(streams))("[P7] %s: calls start and end once, metadata is valid", (_, recording) => {
    checkFolded(fold(eventsOf(providerOf(recording), [bytesOf(recording)])));
  });

  it.each(named(importable(logs)))("[P7] %s: calls start and end once, metadata is valid", (_, recording) => {
    const importLog = providerOf(recording).importLog;
    if (importLog !== undefined) checkFolded(fold(importLog(logFilesOf(recording), "run")));
  });

  it.each(named(streams))("[P8] %s loses no text", (_, recording) => {
    const { blocks } = fold(eventsOf(providerOf(recording), [bytesOf(recording)]));
    const said = new Said();
    for (const event of rawEvents(recording)) said.hear(event);
    const texts = blocks.map((block) => block.text);
    for (const text of said.texts()) {
      if (!texts.some((one) => one.includes(text)))
        expect.fail(`lost: ${JSON.stringify(text.slice(0, 200))}`);
    }
  });

  it.each(named(streams.filter((recording) => bytesOf(recording).length > 0)))(
    "[P9] %s is recognised",
    (_, recording) => {
      const head = new TextDecoder().decode(bytesOf(recording).subarray(0, 64 * 1024));
      expect(recognise(head)).toEqual({ provider: recording.provider, source: "stream" });
    },
  );

  it.each(named(logs))("[P9] %s is recognised", (_, recording) => {
    const head = new TextDecoder().decode(bytesOf(recording).subarray(0, 64 * 1024));
    expect(recognise(head)).toEqual({ provider: recording.provider, source: "log" });
  });

  it("[P10] nothing in the recordings is unknown", () => {
    const unknown = streams.flatMap((recording) =>
      Object.keys(fold(eventsOf(providerOf(recording), [bytesOf(recording)])).unknown).map(
        (type) => `${recording.name}: ${type}`,
      ),
    );
    expect(unknown).toEqual([]);
  });
});

function importable(list: readonly Recording[]): readonly Recording[] {
  return list.filter((recording) => providerOf(recording).importLog !== undefined);
}

function checkFolded(folded: Folded): void {
  expect(folded.faults).toEqual([]);
  expect(folded.turns.filter((turn) => turn.status === "running")).toEqual([]);
  for (const [key, stages] of folded.stages) {
    const ends = {
      start: stages.filter((stage) => stage === "start").length,
      end: stages.filter((stage) => stage === "end").length,
    };
    const isOwed = folded.blocks.find(({ id }) => id === key)?.metadata.waiting === "result";
    expect(ends, key).toEqual({ start: 1, end: isOwed ? 0 : 1 });
  }
  for (const block of folded.blocks) {
    const checked = checkMetadata(block.kind, block.metadata);
    if (isProblem(checked)) expect.fail(`${block.id}: ${checked.message}`);
  }
}

function rawEvents(recording: Recording): readonly Json[] {
  const text = new TextDecoder().decode(bytesOf(recording));
  const whole = recording.name.endsWith(".json") ? parseJson(text) : undefined;
  if (Array.isArray(whole)) return whole as readonly Json[];
  return text.split("\n").flatMap((line) => {
    const event = parseJson(line.replace(/^data: /, ""));
    return event === undefined ? [] : [event];
  });
}

/** What a recording says, read independently of the adapters: whole texts, and deltas joined per block. */
class Said {
  readonly #joined = new Map<string, string>();
  readonly #whole: string[] = [];
  #message = "";
  /** An id may come twice. */
  #messages = 0;

  texts(): readonly string[] {
    return [...this.#whole, ...this.#joined.values()].filter((text) => text !== "");
  }

  hear(event: Json): void {
    if (!isObject(event)) return;
    const traffic = readTraffic(event);
    if (traffic !== undefined) return traffic.dir === "out" ? this.#hearMessage(traffic.message) : undefined;
    if (event.type === "stream_event" && isObject(event.event)) return this.hear(event.event);
    const message = isObject(event.message) ? event.message : undefined;
    if (event.type === "message_start" && message !== undefined)
      this.#message = `${message.id} ${this.#messages++}`;
    if (event.type === "content_block_delta" && isObject(event.delta)) {
      const { delta } = event;
      this.#join(`${this.#message} ${event.index}`, delta.text ?? delta.thinking);
    }
    if (event.type === "assistant" && message !== undefined && Array.isArray(message.content)) {
      for (const block of message.content as readonly Json[])
        if (isObject(block)) this.#say(block.text ?? block.thinking);
    }
    this.#hearOpenai(event);
    if (isObject(event.item)) this.#hearItem(event.item);
    if (isObject(event.part)) this.#say(event.part.text);
    if (event.type === "message" && event.role === "assistant") this.#say(event.content);
  }

  #hearOpenai(event: JsonObject): void {
    if (
      /^response\.(output_text|refusal|reasoning_text|reasoning_summary_text)\.delta$/.test(
        String(event.type),
      )
    ) {
      this.#join(`${event.type} ${event.item_id} ${event.content_index ?? event.summary_index}`, event.delta);
    }
    if (!Array.isArray(event.choices)) return;
    for (const choice of event.choices as readonly Json[]) {
      if (!isObject(choice) || !isObject(choice.delta)) continue;
      // Gemini's reasoning is content between tags.
      const { content } = choice.delta;
      const isThought = JSON.stringify(choice.delta.extra_content ?? "").includes('"thought":true');
      const said = typeof content === "string" ? content.replace(/^<\/?thought>/, "") : content;
      this.#join(`${event.id} ${choice.index}${isThought ? " thought" : ""}`, said);
      this.#join(`${event.id} ${choice.index} thinking`, choice.delta.reasoning_content);
    }
  }

  /** A message of a protocol with items. */
  #hearMessage(message: Json | undefined): void {
    const params = isObject(message) && isObject(message.params) ? message.params : {};
    if (isObject(params.item)) this.#hearItem(params.item);
    if (
      typeof params.itemId === "string" &&
      isObject(message) &&
      !/outputDelta|reasoning/.test(String(message.method))
    )
      this.#join(params.itemId, params.delta);
  }

  #hearItem(item: JsonObject): void {
    this.#say(item.text);
    this.#say(item.message);
    this.#say(item.aggregated_output ?? item.aggregatedOutput);
  }

  #say(text: Json | undefined): void {
    if (typeof text === "string") this.#whole.push(text);
  }

  #join(key: string, text: Json | undefined): void {
    if (typeof text === "string") this.#joined.set(key, (this.#joined.get(key) ?? "") + text);
  }
}
