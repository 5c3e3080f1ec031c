/** How a typed line fills a field of a form. */
import { type Ask, type FormField, formFields } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { fieldText, formAnswer, valueIn } from "./terminal-form.ts";

const schema = {
  type: "object",
  required: ["library"],
  properties: {
    library: { type: "string", title: "Which library?", enum: ["luxon", "temporal"] },
    parts: { type: "array", items: { enum: ["a", "b", "c"] } },
    retries: { type: "integer", minimum: 1, default: 2 },
    urgent: { type: "boolean", description: "Now" },
  },
};
const [library, parts, retries, urgent] = formFields(schema) as [FormField, FormField, FormField, FormField];

it.each([
  [library, "2", "temporal"],
  [library, "", ""],
  [library, "1,2", { wrong: "Choose one." }],
  [library, "luxon", { wrong: "Type a number from 1 to 2." }],
  [library, "3", { wrong: "Type a number from 1 to 2." }],
  [parts, "3, 1,3", ["c", "a"]],
  [parts, "", []],
  [retries, "", "2"],
  [retries, "7", "7"],
  [urgent, "y", true],
  [urgent, "no", false],
  [urgent, "perhaps", { wrong: "Type y or n." }],
] as const)("[A42] %j %s", (field, line, value) => {
  expect(valueIn(field, line)).toEqual(value);
});

it("[A42] asks for one field after the other, again if a value does not fit, and sends values of the schema's types", async () => {
  const lines = ["", "2", "1,2", "0", "3", "y"];
  const shown: string[] = [];
  const type = async (text: string) => {
    shown.push(text);
    return lines.shift();
  };
  const ask: Ask = { id: "f", kind: "elicitation", state: "asked", form: { message: "Choose", schema } };
  expect(await formAnswer(ask, type)).toEqual({
    content: { library: "temporal", parts: ["a", "b"], retries: 3, urgent: true },
  });
  expect(shown[0]).toBe("Which library? * (a number)\n  1  luxon\n  2  temporal\n> ");
  expect(shown[1]).toMatch(/^Required\n/);
  expect(shown[4]).toMatch(/^At least 1\n/);
  expect(fieldText(retries)).toBe("retries (empty for 2)");
  expect(fieldText(urgent)).toBe("urgent (y or n)  Now");
  expect(await formAnswer(ask, async () => undefined)).toBeUndefined();
});
