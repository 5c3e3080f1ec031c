/**
 * Files of a folder that act by themselves when an agent works there: hooks that run, servers that are started,
 * instructions and settings that agents follow. Covers the folder and those above it, up to the served one; if that is
 * in a repository, up to its top, because git and agents look there as well.
 *
 * Not the programs that such a file names: trusting a hook means trusting what it calls.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { smallFile } from "../system/small-file.ts";
import { gitConfigs, gitFolders, submodulesBelow } from "./git-config.ts";
import { ACTING_BYTES, ACTING_DEPTH, ACTING_FILE_BYTES, ACTING_FILES, LOOKED_AT_FILES } from "./limits.ts";

interface ActingFile {
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
  /** What of such a folder acts on nothing here. */
  readonly except?: RegExp;
}

const INSTRUCTIONS = "agents follow it as instructions";
const RULES: readonly Rule[] = [
  {
    reason: INSTRUCTIONS,
    names: [
      ...["CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "QWEN.md"],
      ...["AGENT.md", "CONTEXT.md", "CRUSH.md", "WARP.md", ".goosehints", ".cursorrules", ".windsurfrules"],
      ...[".clinerules", ".roorules", ".rules", "IFLOW.md", "CODEBUDDY.md", "knowledge.md"],
    ],
  },
  { reason: "agents start the servers it lists", names: [".mcp.json", ".vscode/mcp.json"] },
  {
    reason: "agents follow its settings and run its hooks",
    names: [".claude"],
    // Working trees of their own, and what a running agent notes for itself.
    except: /^(worktrees|state|debug|ide|daemon|results|[\w.-]+\.lock)$/,
  },
  { reason: "Codex follows it", names: [".codex", ".agents"] },
  {
    reason: "agents follow it",
    names: [
      ...[".gemini", ".qwen", ".kimi", ".kimi-code", ".copilot", ".goose", ".cursor", ".amp", ".augment"],
      ...[".factory", ".junie", ".kiro", ".roo", ".cline", ".trae", ".vibe", ".openhands", ".continue"],
      ...[".opencode", "opencode.json", "opencode.jsonc", ".crush", ".crush.json", "crush.json"],
      ...[".aider.conf.yml", ".windsurf", ".amazonq", ".rovodev", ".codebuff", "codebuff.json", ".iflow"],
      ...[".codebuddy", ".qodo", ".blackboxcli", ".pi", "fastagent.config.yaml", "fastagent.secrets.yaml"],
    ],
  },
  {
    reason: "agents follow it",
    names: [".github"],
    // Read by the code host, not by agents.
    except:
      /^(workflows|actions|ISSUE_TEMPLATE|DISCUSSION_TEMPLATE|PULL_REQUEST_TEMPLATE|linters|assets|images|screenshots|(?!copilot)[\w.-]+\.(ya?ml|png|svg|gif|jpe?g|webp)|(?!copilot|agents|claude|gemini)[\w.-]+\.md|CODEOWNERS|(?!mcp|lsp|settings)[\w.-]+\.json5?)$/i,
  },
  { reason: "agents load it as their own settings, such as where to send a key", names: [".env"] },
  {
    reason: "package managers and runtimes follow it when an agent starts a server",
    names: [
      ...[".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml", ".env.local", ".env.development"],
      ...["pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs"],
    ],
  },
  { reason: "git runs it automatically", names: [".husky"] },
];

export function actingFiles(root: string, folder: string): readonly ActingFile[] {
  const look = new Look(root);
  for (const at of foldersUp(root, folder)) {
    const there = namesIn(at);
    for (const { reason, names, except } of RULES)
      for (const name of names)
        for (const path of spellings(at, there, name)) look.at(path, reason, ACTING_DEPTH, except);
    look.git(at);
    for (const inner of submodulesBelow(at)) look.git(inner);
  }
  return look.found();
}

/** A name as it stands in a folder, in any case: Kimi also follows `agents.md`, and some file systems take one for the other. */
function spellings(folder: string, there: readonly string[], name: string): readonly string[] {
  const [first = "", ...rest] = name.split("/");
  const found = there.filter((each) => each.toLowerCase() === first.toLowerCase());
  const paths = (found.length > 0 ? found : [first]).map((each) => join(folder, each));
  return rest.length === 0 ? paths : paths.flatMap((path) => spellings(path, namesIn(path), rest.join("/")));
}

/** Gathers files, a bounded number of them, and forgets none: what is not looked at singly is part of one digest. */
class Look {
  readonly #root: string;
  readonly #files: ActingFile[] = [];
  readonly #more: string[] = [];
  #looked = 0;
  #bytes = 0;

  constructor(root: string) {
    this.#root = root;
  }

  add(path: string, reason: string, digest: string): void {
    if (this.#files.length < ACTING_FILES)
      this.#files.push({ path: relative(this.#root, path), reason, digest });
    else this.#more.push(`${path} ${digest}`);
  }

  /** What git runs and obeys in a folder. */
  git(folder: string): void {
    for (const git of gitFolders(folder)) this.hooks(join(git, "hooks"));
    for (const { path, runs } of gitConfigs(folder)) {
      const said = runs.map(({ name, value }) => `${name} = ${value}`);
      this.add(path, `git follows it (${said[0]?.slice(0, 80)})`, hash(said.join("\n")));
      for (const { name, value } of runs)
        if (name === "core.hookspath") this.at(resolve(folder, value), "git runs it automatically");
    }
  }

  /** A file, or a folder with everything below it, but what is excepted in it. */
  at(path: string, reason: string, depth = ACTING_DEPTH, except?: RegExp): void {
    const stat = statOf(path);
    if (!stat) return;
    this.#looked++;
    if (stat.isFile()) return this.add(path, reason, this.#digest(path, stat));
    if (!stat.isDirectory()) return;
    if (depth === 0 || this.#looked > LOOKED_AT_FILES)
      return this.add(path, `${reason}; not inspected: too many or too deep`, facts(stat));
    for (const name of namesIn(path)) if (!except?.test(name)) this.at(join(path, name), reason, depth - 1);
  }

  /** Git brings examples, which it does not run. */
  hooks(path: string): void {
    for (const name of namesIn(path))
      if (!name.endsWith(".sample")) this.at(join(path, name), "git runs it automatically");
  }

  /** Of a file that is too much to read, or cannot be read: of what is known of it without reading. */
  #digest(path: string, stat: Stats): string {
    this.#bytes += stat.size;
    const isMuch =
      this.#looked > LOOKED_AT_FILES || stat.size > ACTING_FILE_BYTES || this.#bytes > ACTING_BYTES;
    // What claims to be empty is, or is no file on a disk and may have no end.
    const text = isMuch || stat.size === 0 ? undefined : smallFile(path, ACTING_FILE_BYTES, "latin1");
    return text === undefined ? facts(stat) : hash(text);
  }

  found(): readonly ActingFile[] {
    if (this.#more.length === 0) return this.#files;
    const reason = `${this.#more.length} more files that agents run or follow`;
    return [...this.#files, { path: "…", reason, digest: hash(this.#more.join("\n")) }];
  }
}

/** The folder and those above it, up to the root and to the top of its repository. One that is outside ends at its own. */
function foldersUp(root: string, folder: string): readonly string[] {
  const isOutside = /^\.\.(\/|$)/.test(relative(root, folder));
  const above = (at: string): readonly string[] => (at === dirname(at) ? [at] : [at, ...above(dirname(at))]);
  const all = above(folder);
  const top = all.findIndex((at) => existsSync(join(at, ".git")));
  const least = isOutside ? 0 : all.indexOf(root);
  return all.slice(0, Math.max(least, top) + 1);
}

/** Nothing where it cannot be reached, as by links in a circle: then agents cannot, either. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** In order. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function facts({ size, mtimeMs, ctimeMs, ino, mode }: Stats): string {
  return hash(`${size} ${mtimeMs} ${ctimeMs} ${ino} ${mode}`);
}

function hash(text: string): string {
  return createHash("sha256").update(text, "latin1").digest("hex");
}
