/**
 * docs/providers.md: which event types the recordings have, per version, and what becomes of them. Regenerated from
 * the fixtures and compared; `UPDATE_GOLDENS=1` rewrites the page.
 */
import { readFileSync, writeFileSync } from "node:fs";
import type { BlockEvent, Json, JsonObject } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { bytesOf, type Recording, streams } from "../../../test/recordings.ts";
import type { Adapter } from "./adapter.ts";
import { isObject } from "./framing/json.ts";
import { normalize } from "./normalize.ts";
import { providers } from "./registry.ts";
import { readTraffic } from "./traffic.ts";

const page = new URL("../../../docs/providers.md", import.meta.url).pathname;
const marker =
  "<!-- From here on generated from the fixtures: UPDATE_GOLDENS=1 npx vitest run coverage -->\n";

interface Row {
  readonly counts: Map<string, number>;
  readonly becomes: Set<string>;
  unknown: number;
}

it("[P10] [P19] the coverage page matches the fixtures", () => {
  const written = readFileSync(page, "utf8");
  const [head = ""] = written.split(marker);
  const generated = `${head}${marker}\n${[...providers.keys()].map(tableOf).join("\n")}`;
  if (process.env["UPDATE_GOLDENS"] === "1") writeFileSync(page, generated);
  expect(readFileSync(page, "utf8")).toBe(generated);
});

function tableOf(provider: string): string {
  const own = streams.filter((recording) => recording.provider === provider);
  const rows = new Map<string, Row>();
  for (const recording of own) listen(recording, rows);
  const versions = [...new Set(own.map(({ version }) => version))].sort(byVersion);
  const heads = versions.map((version) => (version === "" ? "times" : version));
  const lines = [
    `## ${provider}`,
    "",
    `${own.length} recordings. Unknown: ${[...rows.values()].reduce((sum, row) => sum + row.unknown, 0)}.`,
    "",
    `| event | ${heads.join(" | ")} | becomes | unknown |`,
    `|---|${heads.map(() => "--:").join("|")}|---|--:|`,
  ];
  for (const [type, row] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const counts = versions.map((version) => row.counts.get(version) ?? "");
    lines.push(
      `| \`${type}\` | ${counts.join(" | ")} | ${[...row.becomes].sort().join(", ") || "nothing"} | ${row.unknown || ""} |`,
    );
  }
  return `${lines.join("\n")}\n`;
}

/** The adapter itself, overheard: what each event made it say. */
function listen(recording: Recording, rows: Map<string, Row>): void {
  const provider = providers.get(recording.provider);
  if (provider === undefined) throw new Error(`no provider ${recording.provider}`);
  const kinds = new Map<string, string>();
  const adapter: Adapter = {
    ...provider.adapter,
    step: (state, event) => {
      const [next, events] = provider.adapter.step(state, event);
      const type = typeOfEvent(event);
      const row = rows.get(type) ?? { counts: new Map(), becomes: new Set(), unknown: 0 };
      rows.set(type, row);
      row.counts.set(recording.version, (row.counts.get(recording.version) ?? 0) + 1);
      for (const each of events) note(row, each, kinds);
      return [next, events];
    },
  };
  normalize({ ...provider, adapter }, [bytesOf(recording)]);
}

function note(row: Row, event: BlockEvent, kinds: Map<string, string>): void {
  if (event.type === "block-start") {
    kinds.set(event.key, event.kind);
    if (event.kind === "unknown") row.unknown++;
  }
  if ("key" in event) row.becomes.add(kinds.get(event.key) ?? "?");
  else if (event.type === "session") row.becomes.add("session");
  else row.becomes.add(event.type === "message-usage" ? "usage" : "turn");
}

function typeOfEvent(event: Json): string {
  if (!isObject(event)) return JSON.stringify(event);
  const traffic = readTraffic(event);
  if (traffic !== undefined) return `${traffic.dir} ${typeOfMessage(traffic.message)}`;
  if (Array.isArray(event.choices)) return "chat.completion.chunk";
  if (isObject(event.msg)) return `msg/${event.msg.type}`;
  const parts = [
    event.type,
    event.subtype,
    ...partsOf(isObject(event.event) ? event.event : {}),
    ...partsOf(event).slice(1),
  ];
  return parts.filter((part) => typeof part === "string").join("/");
}

/** A message of a protocol: its method and its subject. */
function typeOfMessage(message: Json | undefined): string {
  if (!isObject(message)) return "(no message)";
  const { method, params } = message;
  if (typeof method !== "string") return "answer";
  const update = isObject(params) && isObject(params.update) ? params.update.sessionUpdate : undefined;
  if (typeof update === "string") return `${method} ${update}`;
  const item = isObject(params) && isObject(params.item) ? params.item.type : undefined;
  return typeof item === "string" ? `${method}/${item}` : method;
}

/** An event's type, and the type of its content. */
function partsOf(event: JsonObject): readonly (Json | undefined)[] {
  const inner = [event.delta, event.content_block, event.item, event.part].find(isObject);
  const message =
    isObject(event.message) && Array.isArray(event.message.content) ? event.message.content : [];
  const block = (message as readonly Json[]).find(isObject);
  const isNamed = event.type === "assistant" || event.type === "user";
  return [event.type, inner?.type, isNamed ? block?.type : undefined];
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
