/**
 * Files of a folder that act by themselves when an agent works there: hooks that run, servers that are started, instructions and
 * settings that agents obey. Those of the folder itself and of the folders above it, up to the served one.
 *
 * Not the programs that such a file names: whoever trusts a hook trusts what it calls.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export interface ActingFile {
  /** From the served folder. */
  readonly path: string;
  readonly reason: string;
  /** Of what it holds. */
  readonly digest: string;
}

interface Rule {
  readonly reason: string;
  /** Files, or folders with everything below them. */
  readonly names: readonly string[];
  readonly isMeant?: (name: string) => boolean;
}

const INSTRUCTIONS = "agents obey it as instructions";
const RULES: readonly Rule[] = [
  {
    reason: INSTRUCTIONS,
    names: ["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md"],
  },
  { reason: "agents start the servers that it names", names: [".mcp.json"] },
  {
    reason: "agents obey its settings, and run its hooks",
    names: [".claude/settings.json", ".claude/settings.local.json", ".claude/hooks"],
  },
  {
    reason: INSTRUCTIONS,
    names: [".claude/CLAUDE.md", ".claude/agents", ".claude/commands", ".claude/skills", ".claude/rules"],
  },
  { reason: "Codex obeys it", names: [".codex", ".agents"] },
  {
    reason: "git runs it by itself",
    names: [".git/hooks", ".husky"],
    isMeant: (name) => !name.endsWith(".sample"),
  },
];

const GIT_CONFIG = ".git/config";
/** What in git's configuration runs programs. */
const GIT_RUNS =
  /^\s*(fsmonitor|hookspath|sshcommand|pager|editor|askpass|helper|textconv|command|clean|smudge|process|driver|program|gpgprogram|external|diff|tool|cmd|uploadpack|receivepack|\w+\s*=\s*!).*/gim;

const MAX_FILES = 500;
const MAX_DEPTH = 6;
const MAX_BYTES = 4 * 1024 * 1024;

export function actingFiles(root: string, folder: string): readonly ActingFile[] {
  const found: ActingFile[] = [];
  for (const at of foldersUp(root, folder)) {
    for (const { reason, names, isMeant = () => true } of RULES)
      for (const path of names.flatMap((name) => filesAt(join(at, name), MAX_DEPTH)).filter(isMeant))
        found.push({ path: relative(root, path), reason, digest: digestOf(path) });
    const runs = readText(join(at, GIT_CONFIG))?.match(GIT_RUNS) ?? [];
    if (runs.length > 0)
      found.push({
        path: relative(root, join(at, GIT_CONFIG)),
        reason: `git runs what it names (${runs[0]?.trim().slice(0, 80)})`,
        digest: hash(runs.join("\n")),
      });
  }
  return found.slice(0, MAX_FILES);
}

/** The folder and those above it, up to the root. One that is outside stands alone. */
function foldersUp(root: string, folder: string): readonly string[] {
  const way = relative(root, folder);
  if (way.startsWith("..")) return [folder];
  const all = [folder];
  for (let at = folder; at !== root && at !== dirname(at); ) {
    at = dirname(at);
    all.push(at);
  }
  return all;
}

/** In the order of their names. */
function filesAt(path: string, depth: number): readonly string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return [path];
  if (!stat?.isDirectory() || depth === 0) return [];
  return readdirSync(path)
    .sort()
    .slice(0, MAX_FILES)
    .flatMap((name) => filesAt(join(path, name), depth - 1));
}

/** Of a file that cannot be read, or is larger than any such file, what is known of it without reading. */
function digestOf(path: string): string {
  const text = readText(path);
  if (text !== undefined) return hash(text);
  const { size, mtimeMs, mode } = statSync(path);
  return hash(`${size} ${mtimeMs} ${mode}`);
}

function readText(path: string): string | undefined {
  try {
    return statSync(path).size > MAX_BYTES ? undefined : readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text, "latin1").digest("hex");
}
