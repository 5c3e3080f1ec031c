/**
 * The reference of all tools, made from the table that answers the calls: `node test/cli/tools-page.ts` prints it, and a
 * test compares it with docs/guides/mcp-tools.md.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Json, Kernel, MemoryStore, type ToolSchema } from "@blockyard/kernel";
import { makeConfig, nodeEnv } from "@blockyard/server";
import { Auth } from "../../packages/server/src/access/auth.ts";
import { Tools } from "../../packages/server/src/app/tool-table.ts";

interface Field {
  readonly type?: string | readonly string[];
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly anyOf?: readonly Field[];
  readonly oneOf?: readonly Field[];
  readonly items?: Field;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly required?: readonly string[];
  readonly default?: Json;
  readonly description?: string;
}

export async function toolSchemas(): Promise<readonly ToolSchema[]> {
  const home = mkdtempSync(join(tmpdir(), "blockyard-tools-"));
  const tools = new Tools(
    new Kernel(nodeEnv, new MemoryStore("epoch")),
    makeConfig({ env: {}, home }),
    () => {},
    new Auth(home, "owner", Date.now),
  );
  try {
    return tools.schemas();
  } finally {
    await tools.close();
    await tools.files.close();
    rmSync(home, { recursive: true, force: true });
  }
}

const FOR = { read: "reading", write: "writing", owner: "writing, owner only" } as const;

export function toolsPage(schemas: readonly ToolSchema[]): string {
  const head = `# Tools

Models (MCP), programs (HTTP and WebSocket), the page and the command line all use the same tools. This page is generated from the tool
table, and a test keeps it current. Over MCP, names have underscores instead of dots: \`block_edit\`.

Line numbers are 0-based and ends are exclusive, everywhere. A refused call returns a problem: a code, a message, and the numbers
you need to try again. How to call the tools: [protocol](protocol.md).

| tool | for |
|---|---|
${schemas.map(({ name, access, streams }) => `| [\`${name}\`](#${name.replace(/[._]/g, (mark) => (mark === "." ? "" : mark))}) | ${FOR[access]}${streams ? ", as a stream" : ""} |`).join("\n")}
`;
  return `${head}\n${schemas.map(section).join("\n")}`;
}

function section({ name, description, input, output, streams }: ToolSchema): string {
  const answers = outline(output as Field);
  return `## ${name}

${description}

${table(input as Field)}

${streams ? "Streams" : "Returns"} ${answers}.
`;
}

function table({ properties = {}, required = [] }: Field): string {
  const rows = Object.entries(properties).map(([name, field]) => {
    const isNeeded = required.includes(name);
    const usual = field.default === undefined ? "" : `default \`${JSON.stringify(field.default)}\``;
    const told = [field.description ?? "", isNeeded ? "" : usual].filter((part) => part !== "").join("; ");
    return `| ${isNeeded ? "**" : ""}\`${name}\`${isNeeded ? "**" : ""} | ${cell(typeOf(field))} | ${cell(told)} |`;
  });
  return rows.length === 0 ? "No input." : `| field | type | |\n|---|---|---|\n${rows.join("\n")}`;
}

function typeOf(field: Field): string {
  if (field.enum) return field.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (field.const !== undefined) return `\`${String(field.const)}\``;
  const choices = field.anyOf ?? field.oneOf;
  if (choices) return choices.map(typeOf).join(" or ");
  if (field.type === "array") return `list of ${field.items ? typeOf(field.items) : "anything"}`;
  if (field.properties) return `{${Object.keys(field.properties).join(", ")}}`;
  return Array.isArray(field.type) ? field.type.join(" or ") : String(field.type ?? "anything");
}

function outline(field: Field): string {
  const choices = field.anyOf ?? field.oneOf;
  if (choices) return choices.map(outline).join(", or ");
  if (field.type === "array") return `a list of ${field.items ? outline(field.items) : "values"}`;
  if (!field.properties) return "any JSON";
  return `\`{${Object.keys(field.properties).join(", ")}}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replace(/\s+/g, " ");
}

if (import.meta.main) process.stdout.write(toolsPage(await toolSchemas()));
