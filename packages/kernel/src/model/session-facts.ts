/**
 * The facts about a provider's session that the page, exports and `show --session` display: model, folder, permissions, tools,
 * servers. Stored in the conversation's metadata under `session`, by provider; the last event wins.
 */

import type { Conversation } from "./conversation.ts";
import type { BlockEvent } from "./event.ts";
import { defined, type Json, type JsonObject, sameJson } from "./json.ts";
import { modeName } from "./mode-names.ts";

interface SessionFact {
  readonly label: string;
  readonly value: string;
}

export interface SessionFacts {
  readonly provider: string;
  readonly facts: readonly SessionFact[];
}

type Record = Pick<Conversation, "sessions" | "metadata"> & {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
};

/** One entry per provider that had a session here. */
export function sessionFacts(record: Record): readonly SessionFacts[] {
  const kept = objectOf(record.metadata.session);
  const names = new Set([...Object.keys(record.sessions), ...Object.keys(kept)]);
  return [...names].map((provider) => {
    const known = objectOf(kept[provider]);
    const isLast = record.provider === provider;
    const all: JsonObject = {
      sessionId: record.sessions[provider] ?? null,
      ...(isLast && record.model !== undefined ? { model: record.model } : {}),
      ...(isLast ? defined({ cwd: record.metadata.cwd, version: record.metadata.version }) : {}),
      ...known,
    };
    return { provider, facts: factsOf(all) };
  });
}

const LABELS: readonly (readonly [string, string])[] = [
  ["model", "Model"],
  ["permissionMode", "Permission mode"],
  ["sandbox", "Sandbox"],
  ["effort", "Effort"],
  ["cwd", "Folder"],
  ["sessionId", "Session"],
  ["version", "Version"],
  ["mcpServers", "MCP servers"],
  ["tools", "Tools"],
  ["agents", "Agents"],
  ["skills", "Skills"],
  ["slashCommands", "Slash commands"],
  ["plugins", "Plugins"],
  ["outputStyle", "Output style"],
  ["apiKeySource", "API key"],
];

function factsOf(session: JsonObject): readonly SessionFact[] {
  return LABELS.flatMap(([name, label]) => {
    const words = wordsOf(session[name]);
    const value = name === "permissionMode" ? modeName(words) : words;
    return value === "" ? [] : [{ label, value }];
  });
}

function wordsOf(value: Json | undefined): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return (value as readonly Json[])
    .map(itemOf)
    .filter((item) => item !== "")
    .join(", ");
}

/** A name, with its status where it has one. */
function itemOf(item: Json): string {
  if (typeof item === "string") return item;
  const { name, status } = objectOf(item);
  if (typeof name !== "string") return "";
  return typeof status === "string" ? `${name} (${status})` : name;
}

function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

/** The facts with those of a new session event; undefined if nothing changed. */
export function sessionWith(
  known: Json | undefined,
  event: BlockEvent & { type: "session" },
): JsonObject | undefined {
  const { provider, sessionId, model, cwd, version, details } = event;
  if (details === undefined) return undefined;
  const all = (known ?? {}) as JsonObject;
  const next: JsonObject = {
    ...(all[provider] as JsonObject | undefined),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(model === undefined ? {} : { model }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(version === undefined ? {} : { version }),
    ...details,
  };
  return sameJson(all[provider] ?? null, next) ? undefined : { ...all, [provider]: next };
}
