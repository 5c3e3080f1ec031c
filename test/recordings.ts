/**
 * The recordings of the providers, as tests, benches and fuzzers see them: every stream and every session log below
 * packages/providers/fixtures, with the name of the provider that wrote it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { type LogFiles, logBytes } from "@blockyard/providers";

const folder = new URL("../packages/providers/fixtures", import.meta.url).pathname;

export interface Recording {
  /** Relative to the fixtures folder, with `/`. */
  readonly name: string;
  readonly path: string;
  readonly provider: string;
  /** The version of the CLI; an API has none. */
  readonly version: string;
  readonly source: "stream" | "log";
}

/** The first folder of a fixture's name says what wrote it. */
const sources: Readonly<Record<string, { readonly provider: string; readonly source: Recording["source"] }>> =
  {
    acp: { provider: "acp", source: "stream" },
    "anthropic-documented": { provider: "anthropic", source: "stream" },
    "anthropic-sse": { provider: "anthropic", source: "stream" },
    claude: { provider: "claude", source: "stream" },
    "claude-control": { provider: "claude-control", source: "stream" },
    "claude-control-older": { provider: "claude-control", source: "stream" },
    "claude-documented": { provider: "claude", source: "stream" },
    "claude-older": { provider: "claude", source: "stream" },
    "claude-sessions": { provider: "claude", source: "log" },
    "claude-sessions-older": { provider: "claude", source: "log" },
    codex: { provider: "codex", source: "stream" },
    "codex-app-server": { provider: "codex-app-server", source: "stream" },
    "codex-app-server-older": { provider: "codex-app-server", source: "stream" },
    "codex-documented": { provider: "codex", source: "stream" },
    "codex-older": { provider: "codex", source: "stream" },
    "codex-sessions": { provider: "codex", source: "log" },
    "codex-sessions-older": { provider: "codex", source: "log" },
    gemini: { provider: "gemini", source: "stream" },
    "openai-sse": { provider: "openai", source: "stream" },
    opencode: { provider: "opencode", source: "stream" },
  };

/** What wrote the recordings that are not in a folder of their version. */
const currentVersions: Readonly<Record<string, string>> = {
  claude: "2.1.325",
  "claude-control": "2.1.325",
  codex: "0.166.0",
  "codex-app-server": "0.166.0",
};

export const recordings: readonly Recording[] = filesBelow(folder)
  .map((path) => ({ path, name: relative(folder, path).split(sep).join("/") }))
  .flatMap(({ path, name }) => {
    const [first = "", second = ""] = name.split("/");
    const found = sources[first];
    if (found === undefined || !isMain(name, found.source)) return [];
    const version = versionOf(first, second, found.provider);
    return [{ name, path, ...found, version }];
  })
  .sort((a, b) => (a.name < b.name ? -1 : 1));

/** Shapes that were published and that no recorded version writes are of no version. */
function versionOf(folder: string, below: string, provider: string): string {
  if (folder.endsWith("-documented")) return "documented";
  return folder.endsWith("-older") ? below : (currentVersions[provider] ?? "");
}

export const streams = recordings.filter(({ source }) => source === "stream");
export const logs = recordings.filter(({ source }) => source === "log");

export function bytesOf(recording: Recording): Uint8Array {
  return readFileSync(recording.path);
}

/** A session log with everything that lies beside it. */
export function logFilesOf(recording: Recording): LogFiles {
  const home = dirname(recording.path);
  const toFile = (path: string) => {
    const name = relative(home, path).split(sep).join("/");
    return logBytes(name, () => readFileSync(path));
  };
  const sidecars = filesBelow(home).filter(
    (path) => path !== recording.path && !path.endsWith(".blocks.txt"),
  );
  return { main: toFile(recording.path), sidecars: sidecars.map(toFile) };
}

function isMain(name: string, source: Recording["source"]): boolean {
  const file = basename(name);
  if (source === "stream") return /\.(jsonl|json|sse)$/.test(file);
  return file.endsWith(".jsonl") && !file.startsWith("agent-");
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
