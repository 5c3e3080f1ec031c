/**
 * `blockyard audit`: what was allowed, run, granted, imported and revoked, by whom and when. It only reads: nothing changes or
 * removes an entry.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { auditRows } from "@blockyard/kernel/plain";
import type { ToolAnswer } from "../contract/index.ts";
import { HOME_OPTION, JSON_OPTION, readArguments } from "./args.ts";
import { type BlockSource, known } from "./block-source.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { withClient } from "./command-client.ts";
import { AUDIT_DETAIL_CHARS, AUDIT_PAGE_ENTRIES } from "./limits.ts";
import { lineWidth, localTime, oneLine, print, printJson, wrapped } from "./terminal.ts";

const options = {
  home: HOME_OPTION,
  action: { type: "string", value: "NAME", summary: "only this action, such as command.run or turn.answer" },
  agent: { type: "string", value: "NAME", summary: "only entries by this agent" },
  since: { type: "string", value: "TIME", summary: "only entries since this time, such as 2026-01-31" },
  limit: { type: "string", value: "N", summary: "show only the newest N entries (default: 100)" },
  export: { type: "boolean", summary: "print every entry as one line of JSON, oldest first" },
  json: JSON_OPTION,
} as const;

type Entry = ToolAnswer<"audit.list">["entries"][number];

export const audit: Command = {
  name: "audit",
  usage: "audit [--action NAME] [--agent NAME] [--since TIME] [--limit N] [--export] [--json]",
  summary: "show the audit log: what was allowed, run, granted and revoked",
  examples: [
    "blockyard audit",
    "blockyard audit --action command.run --since 2026-01-31",
    "blockyard audit --export > audit.jsonl",
  ],
  options,
  async run(args) {
    const { values } = readArguments({ name: "audit", options }, args, [0, 0]);
    const since = values.since === undefined ? undefined : Date.parse(values.since);
    const limit = values.limit === undefined ? 100 : Number(values.limit);
    if (Number.isNaN(since)) throw new CommandError("--since needs a time, such as 2026-01-31", EXIT.usage);
    if (!Number.isInteger(limit) || limit < 1)
      throw new CommandError("--limit needs a whole number, at least 1", EXIT.usage);
    const filter = {
      ...(values.action === undefined ? {} : { action: values.action }),
      ...(values.agent === undefined ? {} : { agent: values.agent }),
      ...(since === undefined ? {} : { since }),
    };
    const entries = await withClient({ home: values.home }, (client) =>
      read(client, filter, values.export ? Number.POSITIVE_INFINITY : limit),
    );
    if (values.export) for (const entry of entries.toReversed()) await printJson(entry);
    else if (values.json) await printJson({ entries: entries as readonly Json[] });
    else if (entries.length === 0) await print("No entries.\n");
    else for (const entry of auditRows(entries)) await print(`${lineOf(entry)}\n`);
    return 0;
  },
};

/** Newest first, page by page. */
async function read(client: BlockSource, filter: JsonObject, most: number): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  while (found.length < most) {
    const last = found.at(-1);
    const limit = Math.min(AUDIT_PAGE_ENTRIES, most - found.length);
    const input = { ...filter, limit, ...(last === undefined ? {} : { before: last.id }) };
    const { entries } = known(await client.call("audit.list", input));
    found.push(...entries);
    if (entries.length < limit) break;
  }
  return found;
}

function lineOf({ at, agent, by, action, details }: Entry): string {
  const about = Object.entries(details).map(([key, value]) => `${key}=${String(value)}`);
  const line = `${localTime(at)}  ${action}  ${agent} (${by})  ${oneLine(about.join(" "), AUDIT_DETAIL_CHARS)}`;
  return wrapped(line, lineWidth(), 4);
}
