/** What of an agent's ask is put before its owner: bounded, counted, and nothing chosen that is not shown. */
import { expect, test } from "vitest";
import type { Ask } from "../model/ask.ts";
import type { Json } from "../model/json.ts";
import { leftOfAsk, shownAsk } from "./ask-bounds.ts";
import { type FormInput, formContent, formFields, wrongFields } from "./form-fields.ts";
import { ASK_BOUNDS } from "./limits.ts";

const names = (count: number) => Array.from({ length: count }, (_, i) => `o${i}`);
const fields = (count: number, field: Json): Json => ({
  type: "object",
  required: names(count),
  properties: Object.fromEntries(names(count).map((name) => [name, field])),
});
const form = (schema: Json): Ask => ({
  ...{ id: "1", kind: "elicitation", state: "asked", form: { message: "", schema } },
});

test.each<[string, Json, number, number, string]>([
  ["a field with 20,000 options", fields(1, { enum: names(20_000) }), 1, 1_000, "19,000 options"],
  [
    "titles",
    fields(1, { oneOf: names(20_000).map((name) => ({ const: name })) }),
    1,
    1_000,
    "19,000 options",
  ],
  ["boxes to tick", fields(1, { type: "array", items: { enum: names(20_000) } }), 1, 1_000, "19,000 options"],
  ["20,000 fields", fields(20_000, { type: "string" }), 100, 0, "19,900 fields"],
  [
    "many fields with many options",
    fields(500, { enum: names(500) }),
    100,
    2_000,
    "400 fields, 48,000 options",
  ],
  ["a common form", fields(20, { enum: names(100) }), 20, 2_000, ""],
])("[AC360] a form of %s shows so much of it", (_, schema, fieldCount, optionCount, left) => {
  const shown = formFields(schema);
  expect(shown.length).toBe(fieldCount);
  expect(shown.reduce((sum, { options = [] }) => sum + options.length, 0)).toBe(optionCount);
  const said = leftOfAsk(form(schema));
  expect(said === "" ? "" : said.replace(/^.*: (.*)\.$/, "$1")).toBe(left);
  expect(
    Object.keys(formContent(shown, {})).every((name) => shown.some((field) => field.name === name)),
  ).toBe(true);
});

test("[AC360] a form sends nothing that it does not show", () => {
  const schema = {
    properties: {
      many: { type: "array", items: { enum: ["a", "b"] }, default: ["b", "hidden"] },
      one: { enum: ["a", "b"], default: "hidden" },
      text: { type: "string", default: "x".repeat(ASK_BOUNDS.initialChars + 1) },
    },
  };
  expect(formContent(formFields(schema), {})).toEqual({ many: ["b"] });
});

test("[AC360] a field may have the name of something that every object has", () => {
  const odd = ["toString", "constructor", "hasOwnProperty", "valueOf"];
  const schema = {
    required: odd,
    properties: Object.fromEntries(odd.map((name) => [name, { type: "string" }])),
  };
  const shown = formFields(schema);
  expect([...wrongFields(shown, {}).keys()]).toEqual(odd);
  const written: FormInput = Object.fromEntries(odd.map((name) => [name, "x"]));
  expect(formContent(shown, written)).toEqual(written);
});

test("[AC360] questions, options and answers are as many as can be read; what is left out is counted", () => {
  const options = names(5_000).map((label) => ({ label }));
  const ask: Ask = {
    ...{ id: "1", kind: "question", state: "asked" },
    questions: names(50).map((id) => ({ id, question: id, multiple: false, options })),
  };
  const shown = shownAsk(ask).questions ?? [];
  expect([shown.length, shown[0]?.options.length]).toEqual([ASK_BOUNDS.questions, ASK_BOUNDS.options]);
  expect(leftOfAsk(ask)).toContain("30 questions, 98,000 options");
});

test("[AC360] an answer that is too long to be read on its button is not offered; plain yes and no are", () => {
  const suggestion = (id: string, label: string, kind = "allow_always") =>
    ({ id, label, scope: "always", native: { kind } }) as const;
  const long = "x".repeat(ASK_BOUNDS.suggestionChars + 1);
  const ask: Ask = {
    ...{ id: "1", kind: "permission", state: "asked" },
    suggestions: [
      suggestion("once", long, "allow_once"),
      suggestion("no", long, "reject_once"),
      suggestion("long", long),
      ...names(60).map((id) => suggestion(id, "Always")),
    ],
  };
  const shown = shownAsk(ask).suggestions?.map(({ id }) => id) ?? [];
  expect(shown).toEqual(["once", "no", ...names(ASK_BOUNDS.suggestions)]);
  expect(leftOfAsk(ask)).toContain("11 answers");
});
