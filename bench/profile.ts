/**
 * Where does the time of a bench go? `npm run profile -- <bench> [folder]` runs it with V8's sampling profiler in every process and
 * thread that it starts, and writes for each of those that did something a flame graph and a table of the functions that spent
 * the most time themselves. Figures of a profiled run are not results; nothing of them is kept.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { flameGraph } from "./profile/flame.ts";
import { type CpuProfile, type Frame, selfTimes, treeOf } from "./profile/samples.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const usage = `Usage: npm run profile -- <bench> [folder]

  Writes <bench>-<process>.svg and .md for each process and thread into the folder (default: bench/results/profile).`;

/** What a process is, by a file that only it runs. The first that fits. */
const PROCESSES: readonly (readonly [string, RegExp])[] = [
  ["search-thread", /search\.worker\.ts/],
  ["load", /bench\/[^/]+\/load\.ts/],
  ["peer", /bench\/[^/]+\/(relay|[a-z]+-server)\.ts/],
  ["bench", /bench\/(run|[a-z]+)\.ts/],
  ["server", /packages\/server\/src\//],
];
/** Less than this is a process that only started. */
const MIN_MS = 50;
const TOP_FUNCTIONS = 40;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: "boolean", short: "h" } },
});
const [name, folder = fileURLToPath(new URL("results/profile", import.meta.url))] = positionals;

if (values.help || name === undefined) {
  console.log(usage);
  process.exitCode = values.help ? 0 : 2;
} else {
  process.exitCode = await profile(name, resolve(process.env["INIT_CWD"] ?? ".", folder));
}

async function profile(bench: string, target: string): Promise<number> {
  const raw = mkdtempSync(join(tmpdir(), "blockyard-profile-"));
  try {
    const code = await run(bench, raw);
    mkdirSync(target, { recursive: true });
    const counts = new Map<string, number>();
    for (const { label, tree } of profiles(raw)) {
      const count = (counts.get(label) ?? 0) + 1;
      counts.set(label, count);
      const file = `${bench}-${label}${count === 1 ? "" : `-${count}`}`;
      const title = `${bench}: ${label}, ${(tree.totalUs / 1e6).toFixed(2)} s of work`;
      writeFileSync(join(target, `${file}.svg`), flameGraph(tree, title));
      writeFileSync(join(target, `${file}.md`), tableOf(tree, title));
      console.log(`${file}.svg, ${file}.md: ${(tree.totalUs / 1e6).toFixed(2)} s`);
    }
    if (counts.size === 0) console.error("nothing was profiled: did the bench run?");
    return counts.size === 0 ? code || 1 : 0;
  } finally {
    rmSync(raw, { recursive: true, force: true });
  }
}

/** Its exit code: 1 also says that a target was missed, as profiling makes likely. */
async function run(bench: string, raw: string): Promise<number> {
  const profiled = `--cpu-prof --cpu-prof-dir=${raw}`;
  const env = { ...process.env, NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} ${profiled}`.trim() };
  const args = ["--disable-warning=ExperimentalWarning", join(root, "bench/run.ts"), bench, "--no-save"];
  const [code] = await once(spawn(process.execPath, args, { stdio: "inherit", env }), "close");
  return Number(code);
}

function profiles(raw: string): { readonly label: string; readonly tree: Frame }[] {
  return readdirSync(raw)
    .filter((file) => file.endsWith(".cpuprofile"))
    .flatMap((file) => {
      const read = JSON.parse(readFileSync(join(raw, file), "utf8")) as CpuProfile;
      const tree = treeOf(read, root);
      const urls = new Set(read.nodes.map(({ callFrame }) => callFrame.url));
      const label = PROCESSES.find(([, test]) => [...urls].some((url) => test.test(url)))?.[0] ?? "other";
      return tree.totalUs >= MIN_MS * 1_000 ? [{ label, tree }] : [];
    })
    .sort((a, b) => b.tree.totalUs - a.tree.totalUs);
}

function tableOf(tree: Frame, title: string): string {
  const rows = selfTimes(tree)
    .slice(0, TOP_FUNCTIONS)
    .map(({ name: each, place, selfUs }) => {
      const share = ((selfUs / tree.totalUs) * 100).toFixed(1);
      return `| ${each.replaceAll("|", "\\|")} | ${place} | ${(selfUs / 1_000).toFixed(1)} | ${share} % |`;
    });
  return `# ${title}\n\n| function | place | self ms | share |\n|---|---|--:|--:|\n${rows.join("\n")}\n`;
}
