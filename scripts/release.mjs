/**
 * `npm run release`: makes a version of what is committed. It checks, runs every test, packs, writes the notes and tags.
 *
 *   npm run release -- prepare 0.3.0   the version in every package.json and lockfile, and as the changelog's top section; look at
 *                                      it, and commit it
 *   npm run release                    the release of that commit: dist/blockyard-0.3.0.tgz, dist/notes-0.3.0.md, and the tag v0.3.0
 *
 * Nothing is pushed or published: it prints the commands. Plain JavaScript on built-ins.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const OPEN = "Unreleased";
const VERSION = /^\d+\.\d+\.\d+$/;

/**
 * Writes a version everywhere. Answers with what is in the way, and then changes nothing.
 * @param {string} folder @param {string} version @param {string} date
 * @returns {string[]}
 */
export function prepare(folder, version, date) {
  const changelog = readFileSync(join(folder, "CHANGELOG.md"), "utf8");
  const [top] = sections(changelog);
  const problems = [
    ...(VERSION.test(version) ? [] : [`${version} is not a version: use three numbers, such as 0.3.0`]),
    ...(top?.title === OPEN && top.text !== ""
      ? []
      : [`The changelog does not start with a section "## ${OPEN}" that has entries`]),
    ...(sections(changelog).some(({ version: each }) => each === version)
      ? [`The changelog already has a section ${version}`]
      : []),
  ];
  if (problems.length > 0) return problems;
  for (const path of manifestsOf(folder)) {
    const manifest = readJson(join(folder, path));
    writeJson(join(folder, path), versioned(manifest, version));
  }
  for (const path of lockfilesOf(folder)) {
    const lock = readJson(join(folder, path));
    for (const [place, entry] of Object.entries(lock.packages))
      if (!place.includes("node_modules/")) lock.packages[place] = versioned(entry, version);
    writeJson(join(folder, path), { ...lock, version });
  }
  writeFileSync(join(folder, "CHANGELOG.md"), changelog.replace(`## ${OPEN}\n`, `## ${version}, ${date}\n`));
  return [];
}

/**
 * What keeps the commit in this folder from being released.
 * @param {string} folder
 * @returns {string[]}
 */
export function problemsOf(folder) {
  const { version } = readJson(join(folder, "package.json"));
  const [top] = sections(readFileSync(join(folder, "CHANGELOG.md"), "utf8"));
  const others = [...manifestsOf(folder), ...lockfilesOf(folder)].filter(
    (path) => readJson(join(folder, path)).version !== version,
  );
  return [
    ...others.map((path) => `The version in ${path} differs from package.json, which has ${version}`),
    ...(top?.version === version
      ? []
      : [`The changelog starts with "${top?.title}", not with a section ${version}`]),
    ...(top?.text === "" ? [`The changelog's section ${version} is empty`] : []),
    ...(git(folder, "status", "--porcelain") === "" ? [] : ["There are uncommitted changes"]),
    ...(git(folder, "tag", "--list", `v${version}`) === "" ? [] : [`The tag v${version} already exists`]),
  ];
}

/** The changelog's words on the version that its top section is about. @param {string} folder */
export function notesOf(folder) {
  const [top] = sections(readFileSync(join(folder, "CHANGELOG.md"), "utf8"));
  return `# Blockyard ${top?.title}\n\n${top?.text}\n`;
}

/** @param {string} folder @param {string} notes A file; its first line is the tag's title. */
export function tag(folder, notes) {
  const { version } = readJson(join(folder, "package.json"));
  git(folder, "tag", "--annotate", `v${version}`, "--cleanup=verbatim", "--file", notes);
  return `v${version}`;
}

/** @param {string} changelog */
function sections(changelog) {
  return changelog
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf("\n");
      const title = (end < 0 ? part : part.slice(0, end)).trim();
      return { title, version: title.split(",")[0], text: end < 0 ? "" : part.slice(end).trim() };
    });
}

/** @param {string} folder @returns {string[]} */
function manifestsOf(folder) {
  const { workspaces = [] } = readJson(join(folder, "package.json"));
  const all = [
    "package.json",
    ...workspaces.map((/** @type {string} */ each) => `${each}/package.json`),
    "bench/package.json",
  ];
  return all.filter((path) => existsSync(join(folder, path)));
}

/** @param {string} folder */
function lockfilesOf(folder) {
  return ["package-lock.json", "bench/package-lock.json"].filter((path) => existsSync(join(folder, path)));
}

/** @param {Record<string, unknown>} manifest @param {string} version */
function versioned(manifest, version) {
  const next = { ...manifest, version };
  for (const kind of ["dependencies", "devDependencies"]) {
    const named = /** @type {Record<string, string> | undefined} */ (manifest[kind]);
    if (named === undefined) continue;
    const entries = Object.entries(named).map(([name, old]) => [
      name,
      name.startsWith("@blockyard/") ? version : old,
    ]);
    Object.assign(next, { [kind]: Object.fromEntries(entries) });
  }
  return next;
}

/** @param {string} folder @param {string[]} args */
function git(folder, ...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args[0]} failed: ${stderr.trim()}`);
  return stdout.trim();
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

/** @param {string} path @param {unknown} value */
function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** @param {string} folder @param {string[]} args */
function npm(folder, ...args) {
  const { status } = spawnSync("npm", args, { cwd: folder, stdio: "inherit" });
  if (status !== 0) stop([`npm ${args.join(" ")} failed`]);
}

/** @param {string[]} problems @returns {never} */
function stop(problems) {
  for (const each of problems) console.error(each);
  process.exit(1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  const [what, version = ""] = process.argv.slice(2);
  if (what === "prepare") {
    const problems = prepare(folder, version, new Date().toISOString().slice(0, 10));
    if (problems.length > 0) stop(problems);
    console.log(`Review the changes, then: git commit -am "repo: version ${version}" && npm run release`);
  } else if (what === undefined) {
    const problems = problemsOf(folder);
    if (problems.length > 0) stop(problems);
    npm(folder, "test");
    const dist = join(folder, "dist");
    mkdirSync(dist, { recursive: true });
    npm(folder, "run", "-s", "pack", "--", dist);
    const notes = join(dist, `notes-${readJson(join(folder, "package.json")).version}.md`);
    writeFileSync(notes, notesOf(folder));
    const name = tag(folder, notes);
    console.log(`Tagged ${name}. Its notes are in ${notes}. To publish: git push origin main ${name}`);
  } else stop(["Usage: npm run release -- [prepare <version>]"]);
}
