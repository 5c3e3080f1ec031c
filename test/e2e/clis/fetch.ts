/**
 * The real command-line agents, fetched from npm into a cache of their own, in versions that are pinned here. They are no
 * dependencies of the project: whoever does not run these tests never downloads them.
 *
 * Nothing of them is run at install (no scripts), and where they cannot be had, it is said why.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/blockyard-clis/", import.meta.url));
const LIMIT_MS = 5 * 60_000;

const PLATFORM = `${process.platform}-${process.arch}`;

interface Package {
  readonly name: string;
  readonly version: string;
  /** Where its program is, from node_modules. */
  readonly program: string;
}

const PACKAGES = {
  claude: {
    name: `@anthropic-ai/claude-code-${PLATFORM}`,
    version: "2.1.325",
    program: `@anthropic-ai/claude-code-${PLATFORM}/claude`,
  },
  codex: { name: "@openai/codex", version: "0.166.0", program: "@openai/codex/bin/codex.js" },
  qwen: { name: "@qwen-code/qwen-code", version: "0.24.4", program: "@qwen-code/qwen-code/cli-entry.js" },
  kimi: { name: "@moonshot-ai/kimi-code", version: "2.1.0", program: "@moonshot-ai/kimi-code/dist/main.mjs" },
  opencode: {
    name: `opencode-${PLATFORM}`,
    version: "1.18.33",
    program: `opencode-${PLATFORM}/bin/opencode`,
  },
  copilot: {
    name: `@github/copilot-${PLATFORM}`,
    version: "1.0.102",
    program: `@github/copilot-${PLATFORM}/copilot`,
  },
} satisfies Record<string, Package>;

export type Fetched = { readonly program: string } | { readonly missing: string };

/** The program's path, or why there is none. */
export async function fetchCli(cli: keyof typeof PACKAGES): Promise<Fetched> {
  const { name, version, program } = PACKAGES[cli];
  const folder = join(CACHE, `${cli}-${version}-${PLATFORM}`);
  const path = join(folder, "node_modules", program);
  if (existsSync(path)) return { program: path };
  // Somewhere else first: what is half there must not look whole.
  const fresh = `${folder}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  writeFileSync(join(fresh, "package.json"), JSON.stringify({ private: true }));
  const failed = await install(fresh, `${name}@${version}`);
  if (failed !== undefined || !existsSync(join(fresh, "node_modules", program))) {
    rmSync(fresh, { recursive: true, force: true });
    return { missing: `${name}@${version} cannot be fetched: ${failed ?? "it has no program"}` };
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return { program: path };
}

function install(folder: string, what: string): Promise<string | undefined> {
  const args = ["install", what, "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"];
  return new Promise((resolve) => {
    const npm = spawn("npm", [...args, "--no-package-lock", "--loglevel=error"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const limit = setTimeout(() => npm.kill("SIGKILL"), LIMIT_MS);
    let errors = "";
    npm.stderr.on("data", (data: Buffer) => {
      errors += data.toString();
    });
    npm.on("error", (error) => resolve(error.message));
    npm.on("close", (code) => {
      clearTimeout(limit);
      resolve(code === 0 ? undefined : (errors.trim().split("\n")[0] ?? `npm ended with ${code}`));
    });
  });
}
