/**
 * How fast recordings become blocks, and whether a long tool input stays linear.
 *
 * The yardstick for throughput is the least that any reader of these streams does: decode the same chunks, split them
 * into lines, JSON.parse each (and the agent's line in a record of traffic). The yardstick for linearity is our own time for a tenth of the input; beside it, as
 * notes, what others take for the same deltas when the input so far is looked at after each of them.
 *
 * Then one answer as Anthropic's SDK and the AI SDK read it, whole, beside ours (normalize/readers.peer.ts).
 *
 * The promised figures are ratios of this thread's processor time: what other programs do meanwhile is left out.
 */
import { liveInput, PartialJson } from "@blockyard/kernel";
import { Normalizer, type Provider, providers } from "@blockyard/providers";
import { bytesOf, streams } from "../test/recordings.ts";
import { alternate, type Bench, elapsedMs, type Figure, type Report, type TableRow } from "./bench.ts";
import { seeded, tokens } from "./corpus/prose.ts";
import { answerOf } from "./normalize/answer.ts";
import { ours, type Peer, type Reader } from "./normalize/readers.ts";
import { loadPeer } from "./peer.ts";

const chunkBytes = 64 * 1024;
const totalBytes = 100 * 1024 * 1024;
const deltaChars = 4;
const SEED = 20266;
const PAIRS = 7;
/** Deltas of the answer that others read too, and how often it is read for one measurement. */
const ANSWER_DELTAS = 1_500;
const ANSWERS = 3;

export const bench: Bench = {
  name: "normalize",
  question: "How fast do recorded streams become blocks, and does a long tool input stay linear?",
  targets: { shareOfJsonParse: { min: 0.5 }, linearity: { max: 12 } },
  async run(report) {
    const peer = await loadPeer<Peer>(new URL("./normalize/readers.peer.ts", import.meta.url));
    return {
      ...(await throughput(report)),
      ...(await readers(report, peer)),
      ...(await linearity(report, peer)),
    };
  },
};

interface Run {
  readonly provider: Provider;
  readonly bytes: Uint8Array;
}

async function throughput(report: Report): Promise<Record<string, Figure>> {
  const runs = streams.flatMap((recording): Run[] => {
    const provider = providers.get(recording.provider);
    const bytes = bytesOf(recording);
    return provider === undefined || bytes.length === 0 ? [] : [{ provider, bytes }];
  });
  const passBytes = runs.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const pairs = 15;
  const passes = Math.ceil(totalBytes / passBytes / pairs);
  const repeat = (work: () => void) => () =>
    processorMs(() => {
      for (let pass = 0; pass < passes; pass++) work();
    });
  const parseAll = () => runs.forEach(parseOnly);
  const normalizeAll = () => runs.forEach(normalizeOnly);
  for (let warm = 0; warm < 10; warm++) {
    parseAll();
    normalizeAll();
  }
  const result = await alternate(pairs, repeat(parseAll), repeat(normalizeAll));
  const megabytes = (passBytes * passes) / 1024 / 1024;
  report.note(
    `${runs.length} recordings, ${Math.round(megabytes * pairs)} MB each way: parsing alone ${Math.round((megabytes / result.medianA) * 1000)} MB/s, ` +
      `to block events ${Math.round((megabytes / result.medianB) * 1000)} MB/s (spread ${result.spread.toFixed(2)})`,
  );
  return {
    shareOfJsonParse: result.figure,
    normalizeMegabytesPerSecond: (megabytes / result.medianB) * 1000,
  };
}

function processorMs(work: () => void): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

function normalizeOnly({ provider, bytes }: Run): void {
  const normalizer = new Normalizer(provider);
  for (let at = 0; at < bytes.length; at += chunkBytes) normalizer.push(bytes.subarray(at, at + chunkBytes));
  normalizer.end();
}

function parseOnly({ bytes }: Run): void {
  const decoder = new TextDecoder();
  let rest = "";
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const lines = (rest + decoder.decode(bytes.subarray(at, at + chunkBytes), { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) parseEvent(line);
  }
  parseEvent(rest);
}

function parseEvent(line: string): unknown {
  const text = line.startsWith("data: ") ? line.slice(6) : line;
  const value = text.startsWith("{") || text.startsWith("[{") ? tryParse(text) : undefined;
  return isTraffic(value) ? tryParse(value.line) : value;
}

/** Recordings of both directions have the agent's line inside of their own: a driver's reader parses that too. */
function isTraffic(value: unknown): value is { readonly line: string } {
  return typeof value === "object" && value !== null && "dir" in value && "line" in value;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Other readers of the same answer

async function readers(report: Report, { others }: Peer): Promise<Record<string, Figure>> {
  const source = tokens(seeded(SEED));
  const answer = answerOf(Array.from({ length: ANSWER_DELTAS }, () => source.next().value as string));
  const time = (reader: Reader) => async () => {
    const start = process.cpuUsage();
    for (let i = 0; i < ANSWERS; i++)
      if ((await reader.read(answer)) !== answer.text) throw new Error(`${reader.name} read something else`);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000 / ANSWERS;
  };
  report.note(
    `One answer of ${ANSWER_DELTAS} text deltas and a short tool call, ${Math.round(answer.events.length / 1024)} KB of events, read into whole ` +
      "blocks or messages; processor time, in alternating pairs. The AI SDK gets the chunks that its own server would send.",
  );
  const rows: TableRow[] = [];
  const figures: Record<string, Figure> = {};
  for (const [name, other] of [
    ["timesFasterThanAnthropicSdk", others[0]],
    ["timesFasterThanAiSdk", others[1]],
  ] as const) {
    for (const reader of [ours, other]) await time(reader)();
    const { medianA, medianB, ratio, figure } = await alternate(PAIRS, time(other), time(ours));
    rows.push({
      reader: other.name,
      ms: ms(medianA),
      "Blockyard, ms": ms(medianB),
      "times ours": ratio.toFixed(1),
    });
    figures[name] = figure;
  }
  report.table(rows);
  return figures;
}

// ---------------------------------------------------------------------------------------------------------------------
// A long tool input

async function linearity(report: Report, { whileWritten }: Peer): Promise<Record<string, Figure>> {
  const provider = providers.get("anthropic");
  if (provider === undefined) throw new Error("no provider anthropic");
  const small = deltasOf(100_000);
  const large = deltasOf(1_000_000);
  const smallBytes = streamOf(small);
  const largeBytes = streamOf(large);
  for (let warm = 0; warm < 3; warm++) readLive(provider, smallBytes);
  const ownMs = (chars: number) => elapsedMs(() => readLive(provider, streamOf(deltasOf(chars))));
  const compared = await alternate(
    PAIRS,
    () => processorMs(() => readLive(provider, largeBytes)),
    () => processorMs(() => readLive(provider, smallBytes)),
  );
  report.note("A Write call in deltas of 4 characters, its content read after each of them:");
  const rows = [
    {
      reader: "Blockyard",
      "10 KB": ms(await ownMs(10_000)),
      "20 KB": ms(await ownMs(20_000)),
      "100 KB": ms(compared.medianB),
      "1 MB": ms(compared.medianA),
    },
  ];
  for (const [reader, read] of whileWritten) {
    const shorter = ms(await elapsedMs(() => read(deltasOf(10_000), eventsOf)));
    const longer = ms(await elapsedMs(() => read(deltasOf(20_000), eventsOf)));
    rows.push({ reader, "10 KB": shorter, "20 KB": longer, "100 KB": "not tried", "1 MB": "not tried" });
  }
  report.table(rows);
  return { linearity: compared.figure, toolInputMs: compared.medianA };
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

function deltasOf(chars: number): string[] {
  const line = 'export const answer = "forty-two"; // ünïcödé \\ and quotes\n';
  const input = JSON.stringify({ file_path: "/src/answer.ts", content: line.repeat(chars / line.length) });
  const deltas: string[] = [];
  for (let at = 0; at < input.length; at += deltaChars) deltas.push(input.slice(at, at + deltaChars));
  return deltas;
}

function eventsOf(deltas: readonly string[]): object[] {
  const content_block = { type: "tool_use", id: "toolu_1", name: "Write", input: {} };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block },
    ...deltas.map((partial_json) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

function streamOf(deltas: readonly string[]): Uint8Array {
  return new TextEncoder().encode(
    eventsOf(deltas)
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join(""),
  );
}

/** The whole way: bytes to events, and the file being written read from the call's text after each delta. */
function readLive(provider: Provider, bytes: Uint8Array): void {
  const normalizer = new Normalizer(provider);
  const reader = new PartialJson();
  let shown = 0;
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    for (const event of normalizer.push(bytes.subarray(at, at + chunkBytes))) {
      if (event.type !== "block-append") continue;
      reader.push(event.text);
      shown += reader.string(["content"])?.since(shown).length ?? 0;
    }
  }
  normalizer.end();
  const live = liveInput("Write", reader);
  if (live?.kind !== "file_change" || live.content?.length !== shown)
    throw new Error("the input was not read");
}
