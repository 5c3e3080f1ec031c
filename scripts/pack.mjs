/**
 * `npm run pack`: one file that installs anywhere. The sources of kernel, providers and server become plain JavaScript,
 * module by module in the same folders, so that every path relative to a source still leads where it did; the page comes
 * along built. Libraries stay dependencies, with the exact versions that are tested here.
 *
 *   npm run -s pack -- [folder]     writes blockyard-<version>.tgz there (default: dist) and prints its path
 *
 * Runs on the pinned Node (scripts/run.mjs). Speaks on stderr; stdout has the path only.
 */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { buildPage } from "./build-page.mjs";
import { billOfMaterials } from "./sbom.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const packages = ["client", "kernel", "providers", "server"];

/** What is started or imported from outside: the command, the programs beside it, the client library. */
const entries = [
  "server/src/main.ts",
  ...workersOf("server/src"),
  "server/src/processes/child-reaper.ts",
  "client/src/index.ts",
];

const launcher = `#!/usr/bin/env node
/* The command of an installed package. Plain, so that an old Node can say that it is too old. */
if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error("blockyard: Node 24 or newer is needed; this is " + process.version + ". Install it from https://nodejs.org");
  process.exit(1);
}
/* node:sqlite is announced as experimental with every start; this package is tested with it. */
const warn = process.emitWarning;
process.emitWarning = (warning, ...rest) => {
  const type = typeof rest[0] === "string" ? rest[0] : rest[0]?.type;
  if (type !== "ExperimentalWarning") warn.call(process, warning, ...rest);
};
await import("../packages/server/src/main.js");
`;

const target = resolve(process.env["INIT_CWD"] ?? ".", process.argv[2] ?? join(root, "dist"));
mkdirSync(target, { recursive: true });
const stage = mkdtempSync(join(tmpdir(), "blockyard-pack-"));
try {
  process.stderr.write(`page ${await buildPage()}\n`);
  await compile();
  copyRest();
  process.stdout.write(`${join(target, pack())}\n`);
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** Programs of threads, which are started by their path. @param {string} folder */
function workersOf(folder) {
  return readdirSync(join(root, "packages", folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".worker.ts"))
    .map((path) => `${folder}/${path}`);
}

async function compile() {
  const bundle = await rolldown({
    cwd: root,
    input: entries.map((entry) => join(root, "packages", entry)),
    platform: "node",
    external: (id) => !id.startsWith(".") && !id.startsWith("/") && !id.startsWith("@blockyard/"),
    plugins: [{ name: "program-urls", transform: (code) => namePrograms(code) }],
  });
  await bundle.write({
    dir: stage,
    format: "esm",
    preserveModules: true,
    preserveModulesRoot: root,
    entryFileNames: "[name].js",
  });
  await bundle.close();
}

/**
 * Programs that are started by their path have another ending now.
 * @param {string} code
 */
function namePrograms(code) {
  return code.replace(
    /new URL\("(\.[\w./-]+)\.ts", import\.meta\.url\)/g,
    'new URL("$1.js", import.meta.url)',
  );
}

function copyRest() {
  mkdirSync(join(stage, "bin"));
  writeFileSync(join(stage, "bin/blockyard.mjs"), launcher, { mode: 0o755 });
  cpSync(join(root, "packages/web/dist"), join(stage, "packages/web/dist"), {
    recursive: true,
    filter: (path) => !path.endsWith(".sources") && !path.endsWith(".map"),
  });
  cpSync(join(root, "packages/server/recordings"), join(stage, "packages/server/recordings"), {
    recursive: true,
  });
  for (const name of ["README.md", "CHANGELOG.md", "LICENSE"]) cpSync(join(root, name), join(stage, name));
  writeFileSync(join(stage, "THIRD-PARTY.md"), thirdParty());
  const bill = billOfMaterials(root, [...packages, "web"]);
  writeFileSync(join(stage, "sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
}

function manifest() {
  const { name, version, description, license } = readJson("package.json");
  const all = packages.map((each) => readJson(`packages/${each}/package.json`).dependencies ?? {});
  const entries = all
    .flatMap((each) => Object.entries(each))
    .filter(([each]) => !each.startsWith("@blockyard/"));
  return {
    ...{ name, version, description, license, type: "module" },
    engines: { node: ">=24" },
    bin: { blockyard: "bin/blockyard.mjs" },
    exports: { "./client": "./packages/client/src/index.js", "./package.json": "./package.json" },
    dependencies: Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** The page holds other people's code: their names and licences go with it. */
function thirdParty() {
  const seen = new Map();
  /** @param {string} name */
  const visit = (name) => {
    const folder = join(root, "node_modules", name);
    if (seen.has(name) || name.startsWith("@blockyard/") || !existsSync(join(folder, "package.json"))) return;
    const { version, license, dependencies = {} } = readJson(join("node_modules", name, "package.json"));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    seen.set(name, { version, license, text: file ? readFileSync(join(folder, file), "utf8").trim() : "" });
    Object.keys(dependencies).forEach(visit);
  };
  for (const each of ["kernel", "web"])
    Object.keys(readJson(`packages/${each}/package.json`).dependencies).forEach(visit);
  const parts = [...seen]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { version, license, text }]) => `## ${name} ${version} (${license})\n\n${text}\n`);
  return `# What the page is built with\n\nThe files in packages/web/dist hold code of these packages.\n\n${parts.join("\n")}`;
}

function pack() {
  const npm = process.env["npm_execpath"] ?? "";
  const [command, first] = /npm-cli\.c?js$/.test(npm) ? [process.execPath, [npm]] : ["npm", []];
  const args = [...first, "pack", "--json", "--ignore-scripts", "--pack-destination", target];
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: stage, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`);
  const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(stdout);
  const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1024 / 1024).toFixed(2)} MB`;
  process.stderr.write(
    `${filename}: ${megabytes(size)}, ${megabytes(unpackedSize)} unpacked, ${entryCount} files\n`,
  );
  return filename;
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}
