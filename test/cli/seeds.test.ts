/** docs/spec/seeds.md: every name of ours in its tables exists, and every row without one says why. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KINDS, limits, metadataSchemas, ROLES, STAGES, STATUSES, type ToolSchema } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { toolSchemas } from "./tools-page.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/spec/seeds.md"), "utf8");

interface Row {
  readonly line: number;
  readonly there: string;
  readonly here: readonly string[];
  readonly why: string;
}

function rows(): readonly Row[] {
  return page.split("\n").flatMap((text, line) => {
    const [, there, here, why] = /^\| (.+?) \| ?(.*?) ?\| ?(.*?) ?\|$/.exec(text) ?? [];
    if (there === undefined || there === "there") return [];
    const names = [...(here ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);
    return [{ line: line + 1, there, here: names, why: why ?? "" }];
  });
}

type Shape = {
  readonly properties?: object;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
};

function hasField(shape: Shape, field: string): boolean {
  if (field in (shape.properties ?? {})) return true;
  return [...(shape.anyOf ?? []), ...(shape.oneOf ?? [])].some((each) => hasField(each, field));
}

const LISTS: Readonly<Record<string, readonly string[]>> = {
  kind: KINDS,
  role: ROLES,
  status: STATUSES,
  stage: STAGES,
};

/** Each way to write a name of ours, and whether there is one. */
function exists(name: string, tools: ReadonlyMap<string, ToolSchema>): boolean {
  const listed = /^(kind|role|status|stage): (\w+)$/.exec(name);
  if (listed) return LISTS[listed[1] as string]?.includes(listed[2] as string) === true;
  const key = /^metadata: (\w+)\.(\w+)$/.exec(name);
  if (key) {
    const schema = metadataSchemas[key[1] as keyof typeof metadataSchemas];
    return schema !== undefined && (key[2] as string) in schema.shape;
  }
  const source = /^(.+) in (\S+)$/.exec(name);
  if (source) return isWordIn(source[1] as string, join(root, source[2] as string));
  const bound = /^limits\.(\w+)$/.exec(name);
  if (bound) return (bound[1] as string) in limits;
  const input = /^([\w.]+)\((\w+)\)$/.exec(name);
  if (input) return hasField(tools.get(input[1] as string)?.input as Shape, input[2] as string);
  const output = /^([\w.]+) → (\w+)$/.exec(name);
  if (output) return hasField(tools.get(output[1] as string)?.output as Shape, output[2] as string);
  const event = /^(llm_\w+)(?:\.(\w+))?$/.exec(name);
  if (event) return isEvent(event[1] as string, event[2]);
  return tools.has(name);
}

function isWordIn(word: string, path: string): boolean {
  if (!existsSync(path)) return false;
  const files = statSync(path).isDirectory() ? readdirSync(path).map((file) => join(path, file)) : [path];
  const whole = new RegExp(`(?<![\\w-])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w])`);
  return files.some((file) => !file.endsWith(".test.ts") && whole.test(readFileSync(file, "utf8")));
}

/** As the type of the events declares them: its own fields, or those that all of them or all of a tool's have. */
function isEvent(type: string, field: string | undefined): boolean {
  const declared = readFileSync(join(root, "packages/kernel/src/wire/llm-event.ts"), "utf8");
  const at = declared.indexOf(`type: "${type}"`);
  if (at === -1 || field === undefined) return at !== -1;
  const next = declared.indexOf('type: "llm_', at + 1);
  const own = declared.slice(at, next === -1 ? undefined : next);
  const shared = declared.slice(0, declared.indexOf("export type LlmEvent"));
  const isField = new RegExp(`readonly ${field}\\??:`);
  return isField.test(own) || isField.test(shared);
}

it("every name of ours on the page of the first documents exists", async () => {
  const tools = new Map((await toolSchemas()).map((schema) => [schema.name, schema]));
  const all = rows();
  expect(all.length).toBeGreaterThan(100);
  const missing = all.flatMap(({ line, here }) =>
    here.filter((name) => !exists(name, tools)).map((name) => `docs/spec/seeds.md:${line} ${name}`),
  );
  expect(missing).toEqual([]);
  expect(all.filter(({ here, why }) => here.length === 0 && why === "").map(({ there }) => there)).toEqual(
    [],
  );
});

it("the names are looked up, not waved through", async () => {
  const tools = new Map((await toolSchemas()).map((schema) => [schema.name, schema]));
  const wrong = [
    ...[
      "block.erase",
      "block.read(lines)",
      "block.read → lines",
      "kind: cell",
      "stage: middle",
      "limits.none",
    ],
    ...[
      "metadata: command.exit",
      "llm_message_begin",
      "llm_error.result",
      "reduceAll in packages/kernel/src/write/kernel.ts",
    ],
    ...["Kernel in packages/kernel/src/none.ts", "role: person"],
  ];
  expect(wrong.filter((name) => exists(name, tools))).toEqual([]);
});
