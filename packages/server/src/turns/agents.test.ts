/** How agents are started: what becomes an argument, what is refused, what a missing one says. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import { afterAll, expect, it } from "vitest";
import { AGENTS, type Agent, type AgentRequest, childSpec } from "./agents.ts";
import { NOTHING_ATTACHED } from "./attachments.ts";

const folder = mkdtempSync(join(tmpdir(), "blockyard-agents-"));
const workspace = join(folder, "workspace");
mkdirSync(join(workspace, "bin"), { recursive: true });
const program = join(folder, "claude");
writeFileSync(program, "#!/bin/sh\n");
chmodSync(program, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

const claude = AGENTS.get("claude") as Agent;
const codex = AGENTS.get("codex") as Agent;

function start(agent: Agent, names: { model?: string; session?: string }, env: Record<string, string>) {
  return childSpec(agent, { ...request(env), ...names });
}

function request(env: Record<string, string>): AgentRequest {
  return { prompt: "; touch x", cwd: workspace, env, attached: NOTHING_ATTACHED, picturePaths: [] };
}

it("[D5] the prompt goes to its input, names go into arguments of their own", () => {
  const spec = start(claude, { model: "opus[1m]", session: "0-a" }, { PATH: folder });
  expect(spec).toMatchObject({ file: program, cwd: workspace });
  if (isProblem(spec)) return;
  expect(spec.args).toContain("--model=opus[1m]");
  expect(spec.args).toContain("--resume=0-a");
  expect(spec.args.join(" ")).not.toContain("touch");
});

it("[D30] an agent is not looked for in folders of PATH that are relative, empty, or inside the workspace", () => {
  for (const place of [workspace, join(workspace, "bin")]) cpSync(program, join(place, "claude"));
  symlinkSync(join(workspace, "bin"), join(folder, "link"));
  const before = process.cwd();
  process.chdir(workspace);
  try {
    for (const path of [
      "",
      ".",
      "bin",
      "./bin",
      "bin/",
      workspace,
      `${workspace}/bin`,
      `${workspace}/bin/..`,
      join(folder, "link"),
    ]) {
      expect([path, start(claude, {}, { PATH: path })]).toEqual([
        path,
        expect.objectContaining({ problem: "unavailable" }),
      ]);
      expect(start(claude, {}, { PATH: `${path}:${folder}` })).toMatchObject({ file: program });
    }
  } finally {
    process.chdir(before);
  }
});

const hostile = [
  "--dangerously-skip-permissions",
  "-x",
  "",
  "a b",
  "a\nb",
  "$(touch x)",
  "`touch x`",
  "a;touch x",
  "a|b",
  "../../x y",
  "a\0b",
  "a'b",
  'a"b',
  "é",
  "x".repeat(300),
];

it.each(hostile)("[D5] [R39] a model or session named %j is refused", (value) => {
  for (const agent of [claude, codex]) {
    for (const names of [{ model: value }, { session: value }]) {
      const env = { PATH: folder, BLOCKYARD_CODEX: program };
      expect(start(agent, names, env)).toMatchObject({ problem: "invalid" });
    }
  }
});

it("[D5] a missing agent comes with installation instructions", () => {
  const absent = start(codex, {}, { PATH: folder });
  expect(absent).toMatchObject({ problem: "unavailable", details: { command: "codex" } });
  expect(isProblem(absent) && absent.message).toMatch(/npm install -g @openai\/codex.*BLOCKYARD_CODEX/);
});

it("[D5] a program that the configuration names is used from there alone", () => {
  expect(start(claude, {}, { PATH: "", BLOCKYARD_CLAUDE: program })).toMatchObject({ file: program });
  expect(start(claude, {}, { PATH: folder, BLOCKYARD_CLAUDE: join(folder, "no") })).toMatchObject({
    problem: "unavailable",
  });
});

const attached = {
  files: [{ name: "notes.txt", text: "some notes" }],
  pictures: [{ name: "logo.png", mediaType: "image/png", bytes: Buffer.from("not really") }],
};

it("[D10] Claude Code reads pictures and files in the message, in front of the prompt", () => {
  const line = claude.input({ ...request({}), prompt: "What is it?", attached });
  expect(JSON.parse(line).message.content).toEqual([
    { type: "image", source: { type: "base64", media_type: "image/png", data: "bm90IHJlYWxseQ==" } },
    { type: "text", text: "Attached file notes.txt:\n\nsome notes" },
    { type: "text", text: "What is it?" },
  ]);
});

it("[D12] the briefing comes before everything, the prompt after everything", () => {
  const asked = { ...request({}), prompt: "What is it?", told: "The past.", attached };
  const { content } = JSON.parse(claude.input(asked)).message;
  expect(content.map(({ text = "a picture" }) => text)).toEqual([
    ...["The past.", "a picture", "Attached file notes.txt:\n\nsome notes", "What is it?"],
  ]);
  expect(codex.input(asked)).toBe("The past.\n\nAttached file notes.txt:\n\nsome notes\n\nWhat is it?");
});

it("[D10] Codex gets pictures as paths if it accepts them, and files with the prompt", () => {
  const asked = { ...request({}), prompt: "What is it?", attached, picturePaths: ["/x/1.png", "/x/2.png"] };
  expect(codex.input(asked)).toBe("Attached file notes.txt:\n\nsome notes\n\nWhat is it?");
  expect(codex.args(asked)).toEqual([
    ...["exec", "--image=/x/1.png", "--image=/x/2.png", "--json", "--skip-git-repo-check", "-"],
  ]);
  expect(codex.args({ ...asked, session: "s1" })).toEqual([
    ...[
      "exec",
      "--json",
      "--skip-git-repo-check",
      "resume",
      "--image=/x/1.png",
      "--image=/x/2.png",
      "s1",
      "-",
    ],
  ]);
});
