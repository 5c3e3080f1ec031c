/** Where a server may listen, and what it runs on. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { ConfigError, DEFAULT_PORT, isLoopback, makeConfig, prepareHome } from "./config.ts";

const folder = mkdtempSync(join(tmpdir(), "blockyard-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const make = (more: object) => makeConfig({ env: {}, home: folder, root: folder, ...more });

describe("[R47] where the server listens", () => {
  it.each([
    "0.0.0.0",
    "::",
    "192.168.1.5",
    "example.org",
    "127.0.0.1.nip.io",
    "127.0.0",
    "",
    "10.0.0.1",
    "[::1]",
  ])("[AC11] %j without TLS is refused", (host) => {
    expect(() => make({ host })).toThrow(ConfigError);
  });

  it.each(["127.0.0.1", "127.8.9.10", "localhost", "::1"])("[AC11] %s is this machine", (host) => {
    expect(isLoopback(host)).toBe(true);
    expect(make({ host }).host).toBe(host);
  });

  it("[AC11] with a certificate and its key another address may be chosen; one of them is not enough", () => {
    const tls = { cert: "c.pem", key: "k.pem" };
    expect(make({ host: "0.0.0.0", ...tls }).tls).toEqual(tls);
    expect(() => make({ host: "0.0.0.0", cert: "c.pem" })).toThrow(/go together/);
    expect(() => make({ key: "k.pem" })).toThrow(/go together/);
  });

  it("[AC2] an address in front of it is one of TLS, without a path", () => {
    expect(make({ origin: "https://Blockyard.example.org:443/" }).origin).toBe(
      "https://blockyard.example.org",
    );
    expect(make({ origin: "https://blockyard.example.org:8443" }).origin).toBe(
      "https://blockyard.example.org:8443",
    );
    for (const origin of ["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"])
      expect(make({ origin }).origin).toBe(origin);
    for (const origin of [
      "yard.example.org",
      "http://yard.example.org",
      "http://10.0.0.5:8080",
      "ws://localhost",
      "https://blockyard.example.org/path",
      "",
    ])
      expect(() => make({ origin })).toThrow(/--origin takes an address/);
  });

  it("[AC10] no option and no variable of the environment switches the token off", () => {
    const files = ["access/auth", "access/guard", "access/http-gateway", "config/config", "app/serve"];
    const source = files.map((name) => readFileSync(new URL(`../${name}.ts`, import.meta.url), "utf8"));
    const read = source.join("\n").match(/env\["(\w+)"\]/g);
    const names = [
      "DATABASE",
      "HOME",
      "NATS",
      "NATS_SECRET",
      "PORT",
      "REDACT_INGEST",
      "SANDBOX",
      "SANDBOX_AGENTS",
    ].map((name) => `env["BLOCKYARD_${name}"]`);
    expect(new Set(read)).toEqual(new Set(names));
    expect(Object.keys(make({})).sort()).toEqual(["anyPort", "credentials", "home", "host", "port", "root"]);
  });

  it("[AC53] a default port may be replaced by another one", () => {
    expect(make({})).toMatchObject({ port: DEFAULT_PORT, anyPort: true });
    expect(make({ port: 4600 })).toMatchObject({ port: 4600, anyPort: false });
    expect(make({ env: { BLOCKYARD_PORT: "4700" } })).toMatchObject({ port: 4700, anyPort: false });
    for (const port of [-1, 65_536, 1.5, Number.NaN]) expect(() => make({ port })).toThrow(/invalid port/);
    expect(() => make({ env: { BLOCKYARD_PORT: "x" } })).toThrow("invalid port: x");
  });

  it("[S31] a database is named by option or variable, and its password is never shown", () => {
    const url = "postgres://yard:s3cret%2F@db.example:5433/blocks?password=s3cret&sslmode=require";
    for (const config of [make({ database: url }), make({ env: { BLOCKYARD_DATABASE: url } })]) {
      expect(config.database?.reveal()).toBe(url);
      expect(config.database?.shown).toBe("postgres://yard@db.example:5433/blocks");
      const told = [String(config.database), JSON.stringify(config), inspect(config, { depth: 9 })].join();
      expect(told).toContain("db.example");
      expect(told).not.toContain("s3cret");
    }
    expect(make({ env: { BLOCKYARD_DATABASE: "" } }).database).toBeUndefined();
    for (const wrong of [
      "yard:s3cret@db/blocks",
      "postgres://yard:s3cret@db",
      "postgres://yard:s3cret@db/a/b",
      "mysql://yard:s3cret@db/blocks",
      "postgres://yard:s3cret@d b/blocks",
    ]) {
      expect(() => make({ database: wrong })).toThrow(ConfigError);
      expect(() => make({ database: wrong })).toThrow(/such as postgres:\/\/user:password@host\/name$/);
      expect(() => make({ database: wrong })).not.toThrow(/s3cret/);
    }
  });

  it("[AC10] the data directory is made private, even if it was open", () => {
    const home = join(folder, "home");
    prepareHome(home);
    writeFileSync(join(home, "token"), "");
    chmodSync(home, 0o755);
    prepareHome(home);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  it("[AC10] a folder with other things that others can read is no data directory, and stays unchanged", () => {
    const project = join(folder, "project");
    mkdirSync(project, { mode: 0o755 });
    writeFileSync(join(project, "package.json"), "{}");
    expect(() => prepareHome(project)).toThrow(/contains other files/);
    expect(statSync(project).mode & 0o777).toBe(0o755);
  });

  it("[U4] an empty variable counts as none, and an empty --home is an error", () => {
    const env = { BLOCKYARD_HOME: "", BLOCKYARD_PORT: "" };
    const made = makeConfig({ env, root: folder });
    expect(made).toMatchObject({ home: join(homedir(), ".blockyard"), port: DEFAULT_PORT, anyPort: true });
    expect(() => make({ home: "" })).toThrow(/--home is empty/);
  });
});

describe("[R49] what it runs on", () => {
  const require = createRequire(import.meta.url);
  const versionOf = (name: string) =>
    (
      JSON.parse(readFileSync(join(require.resolve(name), "../package.json"), "utf8")) as {
        version: string;
      }
    ).version;
  const atLeast = (version: string, least: string) =>
    version.localeCompare(least, undefined, { numeric: true }) >= 0;

  it("[AC15] is new enough: the floors of known holes", () => {
    expect(atLeast(versionOf("ws"), "8.21.1")).toBe(true);
    expect(atLeast(process.versions.sqlite ?? "0", "3.51.3")).toBe(true);
    const mcp = JSON.parse(
      readFileSync(join(require.resolve("@modelcontextprotocol/server"), "../../package.json"), "utf8"),
    ) as { version: string };
    expect(atLeast(mcp.version, "2.0.0")).toBe(true);
  });

  it("[AC15] a database library that is too old is refused at the start", () => {
    const source = readFileSync(new URL("../stores/sqlite/schema.ts", import.meta.url), "utf8");
    expect(source).toContain("sqlite_version()");
    expect(source).toContain("3.51.3");
  });
});
