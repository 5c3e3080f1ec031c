/** Credentials: the files that hold them, what each token opens, and what guessing costs. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { providers } from "@blockyard/providers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RESERVED } from "./agent-names.ts";
import { Auth, ownerName } from "./auth.ts";
import { AuthError } from "./auth-error.ts";

let home: string;
let nowMs: number;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "blockyard-auth-"));
  nowMs = 0;
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const auth = () => new Auth(home, "olive", () => nowMs);
const modeOf = (name: string) => (statSync(join(home, name)).mode & 0o777).toString(8);

describe("[R47] the files", () => {
  it("[AC10] the owner's token is 256 random bits in a file that only its owner reads, and stays the same", () => {
    const first = auth();
    expect(first.ownerToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(first.ownerToken, "base64url")).toHaveLength(32);
    expect(modeOf("token")).toBe("600");
    expect(auth().ownerToken).toBe(first.ownerToken);
    rmSync(join(home, "token"));
    expect(auth().ownerToken).not.toBe(first.ownerToken);
  });

  it.each([0o644, 0o640, 0o604, 0o660, 0o606, 0o601])(
    "[AC10] a token file with mode %o is refused",
    (mode) => {
      auth();
      chmodSync(join(home, "token"), mode);
      expect(auth).toThrow(/chmod 600/);
    },
  );

  it.each(["short", "x".repeat(42), "!".repeat(43)])(
    "[AC10] a token file that holds %j is refused",
    (text) => {
      writeFileSync(join(home, "token"), text, { mode: 0o600 });
      expect(auth).toThrow(/delete it and restart/);
    },
  );

  it("[AC12] other tokens are stored as hashes, in a file of the same kind", () => {
    const token = auth().create("codex-mcp", "agent");
    expect(modeOf("tokens.json")).toBe("600");
    expect(readFileSync(join(home, "tokens.json"), "utf8")).not.toContain(token);
    chmodSync(join(home, "tokens.json"), 0o644);
    expect(auth).toThrow(/chmod 600/);
  });

  it("[AC14] a token file that becomes unreadable while the server runs opens nothing, and the owner stays in", () => {
    const running = auth();
    const token = running.create("codex-mcp", "agent");
    const faults: string[] = [];
    running.onFault = (message) => faults.push(message);
    const path = join(home, "tokens.json");
    const good = readFileSync(path, "utf8");
    const bad = [
      "",
      "{",
      "{}",
      "null",
      "[null]",
      '[{"hash":"ab","agent":"x","role":"agent"}]',
      good.replace('"agent"', '"Not A Name!"').replace("codex-mcp", "Not A Name!"),
      good.replace('"role": "agent"', '"role": "owner"'),
    ];
    for (const text of bad) {
      writeFileSync(path, text);
      expect([text, running.byToken(token)]).toEqual([text, undefined]);
      expect(running.byToken(running.ownerToken)?.role).toBe("owner");
    }
    expect(faults.length).toBeGreaterThanOrEqual(bad.length);
    writeFileSync(path, good);
    expect(running.byToken(token)?.agent).toBe("codex-mcp");
    chmodSync(path, 0o644);
    expect(running.byToken(token)).toBeUndefined();
    expect(faults.at(-1)).toContain("chmod 600");
    rmSync(path);
    expect(running.byToken(token)).toBeUndefined();
  });
});

describe("tokens", () => {
  it.each([...providers.keys(), ...RESERVED])("[AC127] no token has the name %s", (name) => {
    for (const role of ["agent", "viewer"] as const)
      expect(() => auth().create(name, role)).toThrow(/choose another/);
  });

  it("[AC127] a token of a version before with a provider's name opens nothing, and the log says why", () => {
    const token = auth().create("other-name", "agent");
    const path = join(home, "tokens.json");
    const renamed = readFileSync(path, "utf8").replace("other-name", "claude");
    const running = auth();
    const faults: string[] = [];
    running.onFault = (message) => faults.push(message);
    writeFileSync(path, renamed, { mode: 0o600 });
    expect(running.byToken(token)).toBeUndefined();
    expect(faults.join()).toContain("the token of claude");
  });

  it("[AC12] name their agent and role, and another process's new and revoked ones take effect at once", () => {
    const [running, command] = [auth(), auth()];
    const token = command.create("codex-mcp", "agent");
    const screen = command.create("screen", "viewer");
    expect(running.byToken(token)).toMatchObject({ agent: "codex-mcp", role: "agent", by: "token" });
    expect(running.byToken(screen)).toMatchObject({ agent: "screen", role: "viewer" });
    const caller = running.byToken(token);
    expect(caller && running.isCurrent(caller)).toBe(true);
    expect(command.revoke("codex-mcp")).toBe(1);
    expect(running.byToken(token)).toBeUndefined();
    expect(caller && running.isCurrent(caller)).toBe(false);
    expect(running.byToken(screen)?.agent).toBe("screen");
  });

  it("[AC13] a change within the clock's grain is seen too", () => {
    const [running, command] = [auth(), auth()];
    const kept = command.create("kept", "agent");
    const token = command.create("gone", "agent");
    const path = join(home, "tokens.json");
    utimesSync(path, 1, 1);
    expect(running.byToken(token)?.agent).toBe("gone");
    command.revoke("gone");
    utimesSync(path, 1, 1);
    expect(running.byToken(token)).toBeUndefined();
    expect(running.byToken(kept)?.agent).toBe("kept");
  });

  it.each(["olive", ownerName(), "blockyard", "disk", "Bad Name", "", "../x", "a:b", "x".repeat(65)])(
    "[AC12] none is created for %j",
    (name) => {
      expect(() => auth().create(name, "agent")).toThrow();
    },
  );
});

describe("[R48] comparing", () => {
  it("[AC8] compares hashes of equal length in constant time, against every record", () => {
    const source = readFileSync(new URL("./auth.ts", import.meta.url), "utf8");
    const body = source.slice(source.indexOf("  byToken("), source.indexOf("  sessionsOf("));
    expect(body.match(/timingSafeEqual\(hash/g)).toHaveLength(2);
    expect(body).not.toMatch(/===\s*(token|hash)|(token|hash)\s*===|break|startsWith|localeCompare/);
    // The loops continue after a hit: the time taken reveals nothing about the token's position.
    for (const loop of body.split("for (").slice(1))
      expect(loop.slice(0, loop.indexOf("return found"))).not.toContain("return");
  });

  it("[AC8] counts wrong tokens by peer and by minute", () => {
    const guarded = auth();
    const waits = (peer: string, times: number) => Array.from({ length: times }, () => guarded.penalty(peer));
    expect(waits("a", 20)).toEqual(Array(20).fill(0));
    expect(waits("a", 2)).toEqual([1_000, 1_000]);
    expect(waits("b", 1)).toEqual([0]);
    nowMs += 60_001;
    expect(waits("a", 1)).toEqual([0]);
  });

  it("[AC8] remembers a bounded number of peers", () => {
    const guarded = auth();
    for (let i = 0; i < 30_000; i++) guarded.penalty(`peer ${i}`);
    expect(guarded.penalty("peer 29999")).toBe(0);
  });
});

it.each(["owner", "user", "you", "system", "assistant", "root"])(
  "[AC268] no token is created for %s, which would be mistaken for somebody else",
  (name) => {
    const home = mkdtempSync(join(tmpdir(), "blockyard-names-"));
    const auth = new Auth(home, "ann", () => 0);
    for (const role of ["agent", "viewer"] as const) expect(() => auth.create(name, role)).toThrow(AuthError);
    expect(auth.list()).toEqual([]);
    rmSync(home, { recursive: true });
  },
);
