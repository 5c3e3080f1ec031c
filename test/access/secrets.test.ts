/**
 * Secrets are planted in the environment of the server and in its data directory; a child of each kind looks everywhere it can
 * read as the same user. What it finds is compared with what docs/security.md says it can.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QUIET_COMMANDS, startsAgents } from "../../packages/server/src/app/starts-agents.ts";
import { COMMAND_NAMES } from "../../packages/server/src/cli/program.ts";
import { readCredentials } from "../../packages/server/src/config/credentials-file.ts";
import { CHILD_KINDS, childEnvironment } from "../../packages/server/src/processes/child-env.ts";
import { call, say } from "../model/script.ts";
import { ModelServer } from "../model/server.ts";
import { Process } from "./process.ts";

const isLinux = process.platform === "linux";
const folder = realpathSync(mkdtempSync(join(tmpdir(), "blockyard-secrets-")));
const home = join(folder, "home");
const root = join(folder, "root");
/** Its own, so that nothing which another server leaves behind is counted. */
const temporary = join(folder, "tmp");
const SEARCH = join(root, "search.sh");

/** By variable. */
const PLANTED = {
  ANTHROPIC_API_KEY: "planted-anthropic",
  CLAUDE_CODE_OAUTH_TOKEN: "planted-oauth",
  OPENAI_API_KEY: "planted-openai",
  CODEX_API_KEY: "planted-codexkey",
  GITHUB_TOKEN: "planted-github",
  NPM_TOKEN: "planted-npm",
  AWS_SECRET_ACCESS_KEY: "planted-aws",
  DATABASE_URL: "postgres://ann:planted-database@db.example.org/shop",
  PGPASSWORD: "planted-pg",
  BLOCKYARD_NATS_SECRET: "planted-nats",
  SOMETHING_ELSE: "planted-unnamed",
};
const OWN = { claude: ["planted-anthropic", "planted-oauth"], codex: ["planted-codexkey", "planted-openai"] };

/** Its own pattern is not what it looks for. */
const script = (data: string, temporary: string) => `#!/bin/bash
look() { grep -aoE 'plante[d]-[a-z]+' | sort -u | sed "s/^/$1 /"; }
env | look environment
for file in /proc/[0-9]*/environ; do tr '\\0' '\\n' < $file; done 2>/dev/null | look processes
for file in /proc/[0-9]*/cmdline; do tr '\\0' '\\n' < $file; done 2>/dev/null | look arguments
cat ${data}/* 2>/dev/null | look data
for file in /proc/$$/fd/*; do [ "\${file##*/}" -gt 2 ] && [ -f "$file" ] && cat "$file"; done 2>/dev/null | look files
ls ${temporary} | grep -c blockyard-start- | sed 's/^/handovers /'
echo PATH=$PATH HOME=$HOME LANG=$LANG
echo end
`;

let model: ModelServer;
let server: Process;

beforeAll(async () => {
  for (const each of [home, root, temporary]) mkdirSync(each);
  chmodSync(home, 0o700);
  writeFileSync(join(home, "credentials"), "# keys\nMISTRAL_API_KEY=planted-file\n", { mode: 0o600 });
  writeFileSync(SEARCH, script(home, temporary));
  const secret = join(folder, "secret");
  writeFileSync(secret, "planted-opened\n");
  const opened = openSync(secret, "r");
  for (const kind of ["claude", "codex"]) {
    writeFileSync(join(folder, kind), `#!/bin/bash\nbash ${SEARCH} > ${root}/${kind}.txt\n`);
    chmodSync(join(folder, kind), 0o755);
  }
  model = await ModelServer.start();
  const env = {
    ...PLANTED,
    LANG: "C.UTF-8",
    TMPDIR: temporary,
    ANTHROPIC_BASE_URL: model.url,
    BLOCKYARD_CLAUDE: join(folder, "claude"),
    BLOCKYARD_CODEX: join(folder, "codex"),
  };
  server = await Process.start(home, root, ["--port", "0"], env, { 3: opened, 63: opened });
  closeSync(opened);
});
afterAll(async () => {
  await server.stop();
  await model.stop();
  rmSync(folder, { recursive: true });
});

/** A child's findings, by place. */
function foundBy(text: string): Record<string, string[]> {
  expect(text).toContain("\nend\n");
  const found: Record<string, string[]> = {};
  for (const line of text.split("\n")) {
    const [where = "", what = ""] = line.split(" ");
    if (what.startsWith("planted-")) found[where] = [...(found[where] ?? []), what];
  }
  return found;
}

async function turn(provider: string, more: object = {}): Promise<string> {
  const { conversation, turn: id } = await server.call("turn.start", { provider, prompt: "Go", ...more });
  for (;;) {
    const { turns } = (await server.call("turn.list", { conversation })) as {
      turns: { turn: string; status: string }[];
    };
    if (turns.some((each) => each.turn === id && each.status !== "running")) return String(conversation);
  }
}

/** Where commands are confined, they do not see the data directory either. */
async function mayConfine(): Promise<boolean> {
  const { sandbox } = (await (await server.fetch("/health")).json()) as { sandbox: string };
  return sandbox === "sandboxed, no network";
}

async function blockText(conversation: string): Promise<string> {
  for (;;) {
    const { blocks } = (await server.call("block.list", { conversation, kind: "command" })) as {
      blocks: { block_id: string; status: string }[];
    };
    const over = blocks.find(({ status }) => status === "done" || status === "error");
    if (!over) continue;
    const { content } = await server.call("block.read", { block_id: over.block_id, line_numbers: false });
    return String(content);
  }
}

describe.runIf(isLinux)("[AC202] [AC203] [AC316] a child finds no secret but its own", () => {
  it("the server itself shows none, and still has them", () => {
    const environ = readFileSync(`/proc/${server.child.pid}/environ`, "utf8");
    expect(environ).not.toMatch(/planted-/);
    expect(environ).toContain("LANG=C.UTF-8");
    expect(readFileSync(`/proc/${server.child.pid}/cmdline`, "utf8")).not.toMatch(/planted-/);
  });

  it.each(["claude", "codex"] as const)("%s", async (kind) => {
    await turn(kind);
    const text = readFileSync(join(root, `${kind}.txt`), "utf8");
    // What the document says: an agent under the same account reads the data directory.
    expect(foundBy(text)).toEqual({ environment: OWN[kind], processes: OWN[kind], data: ["planted-file"] });
    expect(text).toMatch(/PATH=\S+ HOME=\S+ LANG=C.UTF-8/);
    expect(text).toContain("handovers 0");
  });

  it("the loop's shell, with the key that the server was given", async ({ skip }) => {
    if (!(await mayConfine())) return skip(); // it would ask
    model.play([{ parts: [call("bash", { command: `bash ${SEARCH}` })] }, say("Done.")]);
    const text = await blockText(await turn("anthropic", { allow: ["bash"] }));
    expect(foundBy(text)).toEqual({});
  });

  it("a command that runs again", async () => {
    const { conversation } = await server.call("conversation.create", { title: "t" });
    const metadata = { command: `bash ${SEARCH}`, cwd: root };
    const { block_id } = await server.call("block.create", {
      conversation,
      kind: "command",
      role: "tool",
      metadata,
    });
    const { confirmation } = await server.call("command.confirm", { block_id });
    const run = await server.call("command.run", { block_id, confirmation });
    expect(run).toHaveProperty("block_id");
    expect(foundBy(await blockText(String(conversation)))).toEqual(
      (await mayConfine()) ? {} : { data: ["planted-file"] },
    );
  });
});

describe("[AC202] the lists", () => {
  const everything = {
    ...PLANTED,
    PATH: "/bin",
    HOME: "/h",
    LC_ALL: "C",
    HTTPS_PROXY: "http://p",
    TERM: "x",
    BASH_ENV: "t",
  };

  it.each(CHILD_KINDS)("%s gets what it needs and nothing else", (kind) => {
    const own = Object.values(childEnvironment(kind, everything)).filter((value) =>
      value?.startsWith("planted-"),
    );
    expect(own.sort()).toEqual(kind === "claude" || kind === "codex" ? OWN[kind] : []);
    expect(childEnvironment(kind, everything)).toMatchObject({ PATH: "/bin", HOME: "/h", LC_ALL: "C" });
    expect(childEnvironment(kind, everything)).not.toHaveProperty("BASH_ENV");
    expect("HTTPS_PROXY" in childEnvironment(kind, everything)).toBe(kind !== "helper");
  });

  it("another cloud's keys go to an agent that is told to use it, and what the owner names goes to all but helpers", () => {
    const cloud = { ...everything, CLAUDE_CODE_USE_BEDROCK: "1" };
    expect(childEnvironment("claude", cloud)).toHaveProperty("AWS_SECRET_ACCESS_KEY");
    expect(childEnvironment("codex", cloud)).not.toHaveProperty("AWS_SECRET_ACCESS_KEY");
    const named = { ...everything, BLOCKYARD_PASS: "NPM_TOKEN, BASH_ENV BLOCKYARD_NATS_SECRET" };
    for (const kind of CHILD_KINDS) {
      const given = childEnvironment(kind, named);
      expect("NPM_TOKEN" in given).toBe(kind !== "helper");
      expect(Object.keys(given)).not.toEqual(expect.arrayContaining(["BLOCKYARD_NATS_SECRET"]));
      expect(given).not.toHaveProperty("BASH_ENV");
    }
  });
});

it("[AC202] Codex gets the keys that its user's own configuration names, and no other child does", () => {
  const codex = join(folder, "codex-home");
  mkdirSync(codex);
  writeFileSync(
    join(codex, "config.toml"),
    '[model_providers.mine]\nenv_key = "MY_KEY"\n# env_key = "NPM_TOKEN"\n',
  );
  const env = { ...PLANTED, CODEX_HOME: codex, MY_KEY: "k" };
  for (const kind of CHILD_KINDS) {
    expect("MY_KEY" in childEnvironment(kind, env)).toBe(kind === "codex");
    expect(childEnvironment(kind, env)).not.toHaveProperty("NPM_TOKEN");
  }
});

it("[AC203] every command but those that start nothing is started clean", () => {
  const names = COMMAND_NAMES;
  expect([...QUIET_COMMANDS].sort()).toEqual(
    [...names.filter((name) => !["serve", "run", "attach"].includes(name)), "help"].sort(),
  );
  for (const args of [[], ["run", "claude", "x"], ["serve"], ["--port", "1"], ["folder"], ["--home", "ls"]])
    expect(startsAgents(args)).toBe(true);
});

it("[AC204] credentials come from a file that nobody else can read", () => {
  const own = join(folder, "own");
  mkdirSync(own);
  expect(readCredentials(own)).toEqual({});
  const file = join(own, "credentials");
  writeFileSync(file, "A=1\n\n# no\nexport B = 'x y'\nC=\"q=r\"\r\n", { mode: 0o600 });
  expect(readCredentials(own)).toEqual({ A: "1", B: "x y", C: "q=r" });
  chmodSync(file, 0o644);
  expect(() => readCredentials(own)).toThrow("chmod 600");
  chmodSync(file, 0o600);
  writeFileSync(file, "A=1\nplanted-typo\n");
  expect(() => readCredentials(own)).toThrow(/credentials:2 is not NAME=value$/);
  expect(existsSync(file)).toBe(true);
});
