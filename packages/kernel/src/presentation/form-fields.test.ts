/** The fields of a form that an agent requests, and what is sent. */
import { expect, test } from "vitest";
import { formContent, formFields, wrongFields } from "./form-fields.ts";

const SCHEMA = {
  type: "object",
  required: ["email", "channel"],
  properties: {
    email: { type: "string", format: "email", title: "Email" },
    channel: { type: "string", enum: ["a", "b"], enumNames: ["Stable", "Beta"] },
    retries: { type: "integer", minimum: 0, maximum: 5, default: 2 },
    urgent: { type: "boolean" },
    tags: { type: "array", items: { anyOf: [{ const: "x", title: "X" }, { const: "y" }] } },
    note: { type: "string", maxLength: 5 },
  },
};

test("[CM14] each value is a field of its kind, with its bounds and its options", () => {
  expect(formFields(SCHEMA).map(({ name, type, isRequired }) => [name, type, isRequired])).toEqual([
    ["email", "text", true],
    ["channel", "choice", true],
    ["retries", "number", false],
    ["urgent", "boolean", false],
    ["tags", "choices", false],
    ["note", "text", false],
  ]);
  expect(formFields(SCHEMA)[1]?.options).toEqual([
    { value: "a", label: "Stable" },
    { value: "b", label: "Beta" },
  ]);
  expect(formFields(undefined)).toEqual([]);
});

test("[CM14] values, names and defaults that are objects are shown as JSON", () => {
  const odd = { toString: 1 };
  const shown = [{ value: '{"toString":1}', label: '{"toString":1}' }];
  for (const [schema, options] of [
    [{ enum: [odd] }, shown],
    [{ enum: [1], enumNames: [odd] }, [{ value: "1", label: '{"toString":1}' }]],
    [{ oneOf: [{ const: odd }] }, shown],
    [{ type: "array", items: { enum: [odd] }, default: [odd] }, shown],
  ] as const)
    expect(formFields({ properties: { a: schema } })[0]).toMatchObject({ options });
});

test("[CM14] what is wrong is said by field, and nothing else is", () => {
  const fields = formFields(SCHEMA);
  expect([...wrongFields(fields, {})]).toEqual([
    ["email", "Required"],
    ["channel", "Required"],
  ]);
  expect([...wrongFields(fields, { email: "a", channel: "a", retries: "7.5", note: "too long" })]).toEqual([
    ["email", "Enter an email address"],
    ["retries", "Enter a whole number"],
    ["note", "At most 5 characters"],
  ]);
  expect([...wrongFields(fields, { email: "a@b.c", channel: "a", retries: "9" })]).toEqual([
    ["retries", "At most 5"],
  ]);
});

test("[CM14] the agent gets values of the requested kinds, without the fields left empty", () => {
  const fields = formFields(SCHEMA);
  const written = { email: "a@b.c", channel: "b", tags: ["x"], note: "" };
  expect(formContent(fields, written)).toEqual({
    ...{ email: "a@b.c", channel: "b", retries: 2, urgent: false, tags: ["x"] },
  });
});
