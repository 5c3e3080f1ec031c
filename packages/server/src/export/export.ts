/**
 * A conversation in one of its formats, as pieces of text. The lines come from conversation.export, whoever ran it: so
 * the server's route and the command give the same bytes.
 */

import type { ExportLine } from "@blockyard/kernel";
import { type Found, redactLines, redactText } from "../system/redact.ts";
import type { Format } from "./format.ts";
import { htmlExport } from "./html.ts";
import { markdownExport } from "./markdown.ts";
import { readTree } from "./tree.ts";

export interface ExportOptions {
  readonly lines: () => AsyncIterable<ExportLine>;
  /** The provider's own lines, run after run. */
  readonly raw: () => AsyncIterable<Uint8Array>;
  /** Removes secrets, and is called for each. */
  readonly redact?: Found | undefined;
}

export async function* exportAs(
  format: Format,
  { lines, raw, redact }: ExportOptions,
): AsyncGenerator<string | Uint8Array> {
  if (format === "raw") {
    yield* redact ? redactRaw(raw(), redact) : raw();
    return;
  }
  const clean = redact ? redactLines(lines(), redact) : lines();
  if (format === "jsonl") for await (const line of clean) yield `${JSON.stringify(line)}\n`;
  else if (format === "html") yield* htmlExport(await readTree(clean));
  else yield* markdownExport(await readTree(clean));
}

async function* redactRaw(runs: AsyncIterable<Uint8Array>, found: Found): AsyncGenerator<string> {
  for await (const bytes of runs) {
    const text = Buffer.from(bytes).toString("utf8");
    yield redactText(text, (name, secret) => found({ name, where: "raw", sample: `${secret.slice(0, 4)}…` }));
  }
}
