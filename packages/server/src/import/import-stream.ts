/**
 * The import: a body of JSON lines becomes a conversation. Two kinds of bodies come in, told apart by their first
 * line:
 *
 *   a session log, as its provider's importer reads it       an export (see conversation.export)
 *   {"type":"log", provider, name, stamp, from, …}            {"type":"conversation", …}
 *   {"type":"raw", "text" or "base64": "…"}  any number        {"type":"turn", …}     any number
 *   {"type":"events", "events": […]}       any number          {"type":"block", …}    any number
 *   {"type":"end"}                                             {"type":"end", "blocks": n, …}
 *
 * Without its last line a body is not whole: what was in it is written as far as that is safe, and the same body, whole,
 * completes it. Only the owner imports: an import writes under the names that it brings.
 */

import { isProblem, type Kernel, limits, may, type Problem, problem } from "@blockyard/kernel";
import { hasMoreValues, LineReader } from "@blockyard/providers";
import type { Audit } from "../access/audit.ts";
import type { Caller } from "../access/auth.ts";
import type { BodyImport, Imported } from "./body-import.ts";
import { ExportImport } from "./import-export.ts";
import { lockImport } from "./import-lock.ts";
import { LogImport } from "./import-log.ts";
import { LINE_BYTES } from "./limits.ts";

export async function importStream(
  kernel: Kernel,
  caller: Caller,
  body: AsyncIterable<Uint8Array>,
): Promise<Imported | Problem> {
  if (!may(caller.role, "import")) return problem("forbidden", "only the owner can import");
  const lines = new LineReader({ maxBytes: LINE_BYTES });
  let work: BodyImport | undefined;
  let unlock: () => void = () => undefined;
  let count = 0;
  const take = async (text: string, omittedBytes: number): Promise<Problem | undefined> => {
    count++;
    if (text.trim() === "") return undefined;
    const line = omittedBytes > 0 ? `it is longer than ${LINE_BYTES} bytes` : parseLine(text);
    if (typeof line === "string") return problem("invalid", `line ${count}: ${line}`, { line: count });
    if (work) return work.line(line);
    if (line["type"] === "log") unlock = await lockImport(kernel, `${line["provider"]} ${line["name"]}`);
    const begun = await begin(kernel, caller, line);
    if (isProblem(begun)) return begun;
    work = begun;
    return undefined;
  };
  try {
    for await (const bytes of body) {
      for (const { text, omittedBytes } of lines.push(bytes)) {
        const refused = await take(text, omittedBytes);
        if (refused) return refused;
      }
    }
    for (const { text, omittedBytes } of lines.end()) {
      const refused = await take(text, omittedBytes);
      if (refused) return refused;
    }
    if (!work) return problem("invalid", "the body is empty: send an export, or a session log");
    return await work.end();
  } finally {
    unlock();
  }
}

function begin(
  kernel: Kernel,
  caller: Caller,
  line: Readonly<Record<string, unknown>>,
): Promise<BodyImport | Problem> {
  if (line["type"] === "log") return LogImport.begin(kernel, caller, line);
  if (line["type"] === "conversation") return ExportImport.begin(kernel, line);
  const refused = problem("invalid", 'the first line has the type "conversation" (an export) or "log"');
  return Promise.resolve(refused);
}

function parseLine(text: string): Readonly<Record<string, unknown>> | string {
  if (hasMoreValues(text, limits.importValues)) return `it has more than ${limits.importValues} values`;
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>;
    return "not a JSON object";
  } catch {
    return "not JSON; the file may be truncated or not an export";
  }
}

/** The same, spooled to disk first. */
export async function auditedImport(
  audit: Audit,
  kernel: Kernel,
  caller: Caller,
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): ReturnType<typeof importStream> {
  if (!may(caller.role, "write")) return importStream(kernel, caller, body);
  const entry = await audit.record(caller, "import", {});
  if (isProblem(entry)) return entry;
  const answer = await importStream(kernel, caller, body);
  if (isProblem(answer)) await audit.refused(caller, "import", {}, entry, answer);
  else await audit.record(caller, "import", { conversation: answer.conversation });
  return answer;
}
