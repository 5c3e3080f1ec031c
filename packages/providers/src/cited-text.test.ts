/** Cited answers: one text, however its parts come. */
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { answer, blockStart, blockStop, delta, eventsOf, init, opening } from "../../../test/claude-lines.ts";
import { anthropicAdapter } from "./anthropic/adapter.ts";
import { placesIn } from "./cited-text.ts";
import { fold } from "./fold.ts";

const cite = (name: string) => ({
  type: "web_search_result_location",
  url: `https://e.example/${name}`,
  cited_text: name,
});

/** The parts of an answer: text, and the names of its citations. */
type Part = readonly [string, ...string[]];

const ANSWERS: readonly (readonly [string, readonly Part[], readonly string[]])[] = [
  ["one cited text", [["All.", "a"]], ["All. a@0-4"]],
  [
    "passages and what stands between them",
    [["The default is "], ["100", "a"], [", and "], ["needs a restart", "b", "a"], [". So."]],
    ["The default is 100, and needs a restart. So. a@15-18 b@24-39 a@24-39"],
  ],
  ["nothing cited: texts of their own", [["First."], ["Second."]], ["First.", "Second."]],
  ["only the last of three", [["One."], ["Two, "], ["three", "a"]], ["One.", "Two, three a@5-10"]],
  ["an empty one between", [["One", "a"], [""], [" two"]], ["One two a@0-3"]],
];

/** `text name@start-end …` for each text block. */
function shown(events: readonly BlockEvent[]): string[] {
  const { blocks, faults } = fold(events);
  expect(faults).toEqual([]);
  return blocks
    .filter(({ kind }) => kind === "text")
    .map(({ text, metadata }) => {
      const citations = (metadata.citations ?? []) as readonly JsonObject[];
      return [text, ...citations.map(({ snippet, start, end }) => `${snippet}@${start}-${end}`)].join(" ");
    });
}

function apiEvents(events: readonly Json[]): BlockEvent[] {
  let state = anthropicAdapter.start("r");
  const out: BlockEvent[] = [];
  for (const event of events) {
    const [next, made] = anthropicAdapter.step(state, event);
    state = next;
    out.push(...made);
  }
  return [...out, ...anthropicAdapter.end(state)];
}

/** With the citations before the text, or after it. */
function deltasOf([text, ...names]: Part, citesFirst: boolean): JsonObject[] {
  const half = Math.ceil(text.length / 2);
  const texts = [text.slice(0, half), text.slice(half)].map((part) => ({ type: "text_delta", text: part }));
  const cites = names.map((name) => ({ type: "citations_delta", citation: cite(name) }));
  return citesFirst ? [...cites, ...texts] : [...texts, ...cites];
}

const blockOf = ([text, ...names]: Part) => ({
  type: "text",
  text,
  ...(names.length === 0 ? {} : { citations: names.map(cite) }),
});

const START = { type: "message_start", message: { id: "m", model: "m", content: [] } };
const STOP = [{ type: "message_delta", delta: { stop_reason: "end_turn" } }, { type: "message_stop" }];

function streamOf(parts: readonly Part[], citesFirst: boolean): Json[] {
  const blocks = parts.flatMap((part, index) => [
    { type: "content_block_start", index, content_block: { type: "text", text: "" } },
    ...deltasOf(part, citesFirst).map((change) => ({ type: "content_block_delta", index, delta: change })),
    { type: "content_block_stop", index },
  ]);
  return [START, ...blocks, ...STOP] as Json[];
}

describe.each(ANSWERS)("[A8] %s", (_, parts, expected) => {
  const said = expected.filter((text) => text !== "");

  it.each([true, false])("in a stream, citations first: %s", (citesFirst) => {
    expect(shown(apiEvents(streamOf(parts, citesFirst))).filter((text) => text !== "")).toEqual(said);
  });

  it("in a whole message", () => {
    const message = { type: "message", id: "m", model: "m", content: parts.map(blockOf) } as Json;
    expect(shown(apiEvents([message])).filter((text) => text !== "")).toEqual(said);
  });

  it.each([true, false])(
    "in Claude Code, with partial messages and without, citations first: %s",
    (citesFirst) => {
      const lines = parts.map((part) => answer("m", [blockOf(part)]));
      expect(shown(eventsOf([init(), ...lines]))).toEqual(said);
      const partial = parts.flatMap((part, index) => [
        blockStart(index, { type: "text", text: "" }),
        ...deltasOf(part, citesFirst).map((change) => delta(index, change)),
        lines[index] as JsonObject,
        blockStop(index),
      ]);
      expect(shown(eventsOf([init(), opening("m"), ...partial]))).toEqual(said);
      const alone = partial.filter(({ type }) => type === "stream_event");
      const stop = { type: "stream_event", event: { type: "message_stop" } };
      expect(shown(eventsOf([init(), opening("m"), ...alone, stop]))).toEqual(said);
    },
  );

  it("cut anywhere, all the text is there, and only ends follow", () => {
    const events = streamOf(parts, false);
    const whole = apiEvents(events).map((event) => JSON.stringify(event));
    for (let cut = 1; cut < events.length; cut++) {
      const texts = events.slice(0, cut).flatMap((event) => {
        const change = (event as { delta?: { text?: string } }).delta;
        return change?.text === undefined ? [] : [change.text];
      });
      const cutEvents = apiEvents(events.slice(0, cut));
      const { blocks } = fold(cutEvents);
      expect(blocks.map(({ text }) => text).join("")).toBe(texts.join(""));
      const first = cutEvents.findIndex((event, i) => JSON.stringify(event) !== whole[i]);
      const rest = first === -1 ? [] : cutEvents.slice(first);
      expect(rest.filter(({ type }) => !/-end$|message-usage/.test(type))).toEqual([]);
    }
  });
});

it("[A8] something else between two texts parts them", () => {
  const call = { type: "tool_use", id: "t", name: "x", input: {} };
  const content = [blockOf(["One", "a"]), call, blockOf(["two", "b"])];
  expect(shown(apiEvents([{ type: "message", id: "m", content } as Json]))).toEqual([
    "One a@0-3",
    "two b@0-3",
  ]);
  const lines = content.map((block) => answer("m", [block]));
  expect(shown(eventsOf(lines))).toEqual(["One a@0-3", "two b@0-3"]);
  expect(shown(eventsOf([answer("m", [blockOf(["One", "a"])]), answer("n", [blockOf(["two"])])]))).toEqual([
    "One a@0-3",
    "two",
  ]);
});

it("[A8] a line overrides its deltas", () => {
  const lines = [
    opening("m"),
    blockStart(0, { type: "text", text: "" }),
    ...deltasOf(["One ", "a"], true).map((change) => delta(0, change)),
    answer("m", [blockOf(["One ", "a"])]),
    blockStop(0),
    blockStart(1, { type: "text", text: "" }),
    delta(1, { type: "text_delta", text: "tow" }),
    answer("m", [blockOf(["two"])]),
    blockStop(1),
  ];
  expect(shown(eventsOf(lines))).toEqual(["One two a@0-4"]);
});

it("[A8] a text that is whole does not wait for its message where something else follows", () => {
  const lines = [
    answer("m", [blockOf(["One"])]),
    answer("m", [{ type: "tool_use", id: "t", name: "x", input: {} }]),
  ];
  const types = eventsOf(lines, false).map((event) => `${event.type} ${"key" in event ? event.key : ""}`);
  expect(types.indexOf("block-end run/m:m#0")).toBeLessThan(types.indexOf("block-start run/c:t"));
});

const url = "https://a.example/";
const LINKED = `😀 Rust 🦀 is fast ([a](${url})), and more.`;

it.each<[string, string, JsonObject, object]>([
  ["plain", "Iron rusts.", { start_index: 0, end_index: 4 }, { start: 0, end: 4 }],
  ["behind emoji", "😀 Iron rusts.", { start_index: 2, end_index: 6 }, { start: 3, end: 7 }],
  ["a link, by code points", LINKED, { start_index: 17, end_index: 42, url }, { start: 19, end: 44 }],
  ["a link, by units", LINKED, { start_index: 19, end_index: 44, url }, { start: 19, end: 44 }],
  ["up to the end", "Iron 😀", { start_index: 0, end_index: 6 }, { start: 0, end: 7 }],
  ["past the end", "Iron", { start_index: 0, end_index: 5 }, {}],
  ["nothing", "Iron", { start_index: 2, end_index: 2 }, {}],
  ["no number", "Iron", { start_index: "0", end_index: 2 }, {}],
  ["a broken number", "Iron", { start_index: -1, end_index: 2.5 }, {}],
  ["no place", "Iron", {}, {}],
])("[E22] an annotation of %s has its place", (_, text, annotation, place) => {
  expect(placesIn(text)(annotation)).toEqual(place);
});
