/**
 * The sandbox on the real system: secrets are planted in a home folder, and a confined program looks for them, writes where it may
 * and may not, and tries the network. Where bubblewrap is missing it is installed as Chromium is; where the kernel forbids
 * it, only the fallback is tested, and that is said.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Block, isEnded, isProblem, Kernel, MemoryStore } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toAsk } from "../access/effect.ts";
import { Child, type ChildSpec } from "../processes/child.ts";
import { Reruns } from "../rerun/rerun.ts";
import { nodeEnv } from "../system/env.ts";
import { mayConfine } from "../testing/bubblewrap.ts";
import { bashSpec, PlantedFolder, plant, SECRET } from "../testing/planted-folder.ts";
import { acpAgents } from "../turns/drivers/acp/agents.ts";
import { effectsOf } from "../turns/loop/tools/effects.ts";
import { Workspace } from "../turns/loop/tools/workspace.ts";
import { bubblewrapArgs, seatbeltProfile } from "./confine.ts";
import { hiddenPaths, ownFolders } from "./hidden-paths.ts";
import { Sandbox, type SandboxOptions } from "./sandbox.ts";

const planted = new PlantedFolder("sandbox");
const { path: folder, tracker } = planted;
const home = join(folder, "home");
const data = join(home, ".blockyard");
const root = join(home, "code");
const outside = join(folder, "outside");
const PLANTED = [
  ...[
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".config/gh/hosts.yml",
    ".netrc",
    ".npmrc",
    ".claude/.credentials.json",
  ],
  ...[
    ".codex/auth.json",
    ".qwen/oauth_creds.json",
    ".copilot/config.json",
    ".local/share/kimi/token",
    ".config/google-chrome/Default/Cookies",
    ".mozilla/firefox/logins.json",
    ".gnupg/secring.gpg",
  ],
  ...[
    ".git-credentials",
    ".bash_history",
    ".blockyard/token",
    ".blockyard-2/token",
    ".kube/config",
    ".docker/config.json",
  ],
];

const env = { PATH: process.env["PATH"], HOME: home };
const usual: SandboxOptions = { mode: "on", agents: false, root, data, env };
let web: Server;
let port = 0;

beforeAll(async () => {
  for (const path of [
    ...PLANTED.map((name) => join(home, name)),
    join(outside, "file"),
    join(root, ".git/hooks/x"),
  ])
    plant(path);
  writeFileSync(join(home, "notes.txt"), "no secret\n");
  writeFileSync(join(root, ".git/config"), "[core]\n");
  web = createServer((_, answer) => answer.end("reached"));
  await new Promise<void>((open) => web.listen(0, "127.0.0.1", open));
  port = (web.address() as AddressInfo).port;
});
afterAll(async () => {
  await planted.remove();
  web.close();
});

const bash = (command: string, cwd = root) => bashSpec(command, cwd, env);
const output = (spec: ChildSpec) => planted.output(spec);

const confined = async (command: string, more: Partial<SandboxOptions> = {}, network?: boolean) =>
  output(await new Sandbox({ ...usual, ...more }).confine(bash(command), { network }));

const fetching = () =>
  `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3; echo`;

describe.runIf(mayConfine)("[AC205] what is confined", () => {
  it("finds no planted secret anywhere in the home folder, and the rest of it is there to read", async () => {
    expect(await output(bash(`grep -rl ${SECRET} ${home} | wc -l`))).toBe(`${PLANTED.length + 1}\n`);
    expect(await confined(`grep -rl ${SECRET} ${home}`)).toBe(`${join(root, ".git/hooks/x")}\n`);
    expect(await confined(`cat ${home}/notes.txt; ls ${data} | wc -l`)).toBe("no secret\n0\n");
  });

  it("writes to the workspace, and nowhere else", async () => {
    expect(await confined("echo made > made.txt && cat made.txt")).toBe("made\n");
    expect(readFileSync(join(root, "made.txt"), "utf8")).toBe("made\n");
    for (const path of [
      join(home, "notes.txt"),
      join(home, "new"),
      join(outside, "file"),
      "/etc/new",
      join(data, "token"),
    ])
      await confined(`echo changed > ${path}`);
    expect(readFileSync(join(home, "notes.txt"), "utf8")).toBe("no secret\n");
    for (const path of [join(home, "new"), "/etc/new"]) expect(existsSync(path)).toBe(false);
    for (const path of [join(outside, "file"), join(data, "token")])
      expect(readFileSync(path, "utf8")).toBe(`${SECRET}\n`);
  });

  it("does not write what git would run or obey outside later", async () => {
    await confined("echo changed > .git/hooks/x; echo changed > .git/hooks/new; echo changed > .git/config");
    expect(readFileSync(join(root, ".git/hooks/x"), "utf8")).toBe(`${SECRET}\n`);
    expect(readFileSync(join(root, ".git/config"), "utf8")).toBe("[core]\n");
    expect(existsSync(join(root, ".git/hooks/new"))).toBe(false);
    expect(await confined("echo ok > .git/HEAD && cat .git/HEAD")).toBe("ok\n");
  });

  /** Ways to have git obey something after all, each to be tried in a repository of its own. */
  it.each<[string, string, Readonly<Record<string, string>>]>([
    ["another .git", "mv .git .old; mkdir .git; echo '[evil]' > .git/config", {}],
    ["another .git, copied", "cp -r .git .new; echo '[evil]' > .new/config; rm -rf .git; mv .new .git", {}],
    ["a link instead of .git", "mkdir .new; echo '[evil]' > .new/config; mv .git .old; ln -s .new .git", {}],
    ["another folder of hooks", "mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/x", {}],
    ["hooks where there were none", "mkdir -p .git/hooks; echo evil > .git/hooks/x", { hooks: "" }],
    ["another configuration", "rm -f .git/config; echo '[evil]' > .git/config", {}],
    ["a configuration where there was none", "echo '[evil]' > .git/config", { config: "" }],
    ["a shared folder", "mkdir .s; echo '[evil]' > .s/config; echo ../.s > .git/commondir", {}],
    [
      "a worktree's configuration",
      "echo '[evil]' > .git/config.worktree",
      { config: "[extensions]\n\tworktreeConfig = true\n" },
    ],
  ])("[AC205] does not get git to obey something by %s", async (_, script, without) => {
    const repository = join(root, `repository-${Math.random().toString(36).slice(2)}`);
    const git = join(repository, ".git");
    mkdirSync(join(git, "hooks"), { recursive: true });
    if (without["hooks"] === "") rmSync(join(git, "hooks"), { recursive: true });
    if (without["config"] !== "") writeFileSync(join(git, "config"), without["config"] ?? "[core]\n");
    await output(await new Sandbox(usual).confine(bash(`${script}; true`, repository)));
    const texts = ["config", "config.worktree", "hooks/x"].map((name) => {
      const path = join(git, name);
      return existsSync(path) ? readFileSync(path, "utf8") : "";
    });
    expect(texts.join()).not.toContain("evil");
    expect(existsSync(join(git, "commondir"))).toBe(false);
  });

  it("[D40] is confined in a worktree of git as well, whose .git is a file, and may not change it", async () => {
    const worktree = join(home, "worktree");
    const names = `gitdir: ${join(root, ".git/worktrees/worktree")}\n`;
    mkdirSync(worktree);
    writeFileSync(join(worktree, ".git"), names);
    const sandbox = new Sandbox({ ...usual, root: worktree });
    expect(await sandbox.state()).toMatchObject({ isConfined: true, words: "sandboxed, no network" });
    const spec = bash("echo 'gitdir: own' > .git; rm -f .git; echo written > file; cat file", worktree);
    expect(await output(await sandbox.confine(spec))).toMatch(/Read-only[\s\S]*\nwritten\n$/);
    expect(readFileSync(join(worktree, ".git"), "utf8")).toBe(names);
  });

  it("has a /tmp and processes of its own", async () => {
    const mine = `/tmp/blockyard-not-yours-${process.pid}`;
    expect(await confined(`echo x > ${mine}; cat ${mine}`)).toBe("x\n");
    expect(existsSync(mine)).toBe(false);
    expect(await confined(`ls -d /proc/${process.pid} 2>/dev/null || echo none`)).toBe("none\n");
    expect(await confined("ls /run | wc -l")).toBe("0\n");
  });

  it("has no network unless it is allowed", async () => {
    expect(await output(bash(fetching()))).toContain("reached");
    expect(await confined(fetching())).not.toContain("reached");
    expect(await confined(fetching(), {}, true)).toContain("reached");
    expect(await confined(fetching(), { mode: "network" })).toContain("reached");
    expect(await confined(fetching(), { mode: "network" }, false)).not.toContain("reached");
  });

  it("ends, with all that it started, when it is stopped", async () => {
    const child = new Child(
      await new Sandbox(usual).confine(bash("echo on; setsid sleep 600 & sleep 600")),
      tracker,
    );
    for await (const bytes of child.output()) if (Buffer.from(bytes).toString().includes("on")) child.kill();
    await child.ended;
    expect(await tracker.living()).toEqual([]);
  });

  it("an agent that is confined keeps its own logins, and sees neither others' nor the data directory", async () => {
    const agents = new Sandbox({ ...usual, agents: true });
    const look = bash(`grep -rl ${SECRET} ${home}`);
    expect((await output(await agents.confineAgent("claude", look))).trim().split("\n").sort()).toEqual(
      [join(home, ".claude/.credentials.json"), join(root, ".git/hooks/x")].sort(),
    );
    expect(await output(await agents.confineAgent("codex", bash(fetching())))).toContain("reached");
    expect(await new Sandbox(usual).confineAgent("claude", look)).toBe(look);
  });
});

async function rerun(sandbox: Sandbox, command: string): Promise<Block & { readonly text: string }> {
  const kernel = new Kernel(nodeEnv, new MemoryStore("epoch"));
  const reruns = new Reruns({ kernel, root, env, tracker, sandbox });
  const conversation = (await kernel.createConversation("ann", "t")) as string;
  const made = await kernel.write(conversation, {
    agent: "claude",
    plan: (draft) => draft.create({ kind: "command", role: "tool", status: "done", metadata: { command } }),
  });
  const shown = isProblem(made) ? made : await reruns.confirm("ann", made.id);
  if (isProblem(made) || isProblem(shown)) throw new Error(JSON.stringify(shown));
  const id = await reruns.run("ann", made.id, shown.confirmation, 60_000);
  if (isProblem(id)) throw new Error(id.message);
  for (;;) {
    const whole = await kernel.whole(id);
    if (isProblem(whole)) throw new Error(whole.message);
    if (isEnded(whole.status)) {
      expect(whole.metadata["sandbox"]).toBe(shown.sandbox);
      await reruns.close();
      return whole;
    }
    await new Promise<void>((resolve) => {
      const stop = kernel.listen(() => {
        stop();
        resolve();
      });
    });
  }
}

describe("[AC206] a command says how it runs", () => {
  it.runIf(mayConfine)("confined, in what is confirmed and in its block", async () => {
    const block = await rerun(
      new Sandbox(usual),
      `cat ${data}/token ${home}/.ssh/id_ed25519 2>/dev/null; echo end`,
    );
    expect([block.text, block.metadata["sandbox"]]).toEqual(["end\n", "sandboxed, no network"]);
  });

  it.each([
    ["a PATH without it", "/nowhere", "not sandboxed: bubblewrap is not installed (apt install bubblewrap)"],
    [
      "one that the kernel refuses",
      "refusing",
      "not sandboxed: the system does not allow it (bwrap: No permissions)",
    ],
  ])("not confined, with the reason: %s", async (_, path, words) => {
    if (process.platform !== "linux") return;
    const bin = join(folder, "refusing");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1\n", {
      mode: 0o755,
    });
    const sandbox = new Sandbox({ ...usual, env: { ...env, PATH: path === "refusing" ? bin : path } });
    const block = await rerun(sandbox, "echo ran");
    expect([block.text, block.metadata["sandbox"]]).toEqual(["ran\n", words]);
    // The loop's shell then asks every time, whatever the turn allows, and says why.
    const world = { workspace: new Workspace({ root, closed: [] }), sandbox, filesIn: async () => [] };
    const effects = await effectsOf("bash", { command: "true" }, world);
    expect(toAsk(effects, ["read", "write", "bash"])).toEqual([{ kind: "run", unknown: words }]);
  });

  it("switched off, the owner's allowance counts as before", async () => {
    const sandbox = new Sandbox({ ...usual, mode: "off" });
    expect(await sandbox.state()).toEqual({
      ...{ isConfined: false, isChosen: true, words: "not sandboxed: switched off" },
    });
    const world = { workspace: new Workspace({ root, closed: [] }), sandbox, filesIn: async () => [] };
    expect(toAsk(await effectsOf("bash", { command: "true" }, world), ["bash"])).toEqual([]);
    expect(await sandbox.confine(bash("true"))).toEqual(bash("true"));
  });
});

describe("[AC205] the folders of agents", () => {
  it.each(["claude", "codex", ...acpAgents({}).map(({ provider }) => provider)])(
    "what %s keeps in the home folder is there for itself alone",
    (agent) => {
      const own = ownFolders(agent);
      expect(own).toContainEqual(expect.stringMatching(new RegExp(`(^|/)\\.?${agent}$`)));
      const there = mkdtempSync(join(folder, "agents-"));
      for (const name of own) mkdirSync(join(there, name), { recursive: true });
      const paths = own.map((name) => join(there, name));
      const hidden = (spared: readonly string[]) =>
        hiddenPaths(there, [], spared)
          .map(({ path }) => path)
          .filter((path) => paths.includes(path));
      expect(hidden([])).toEqual(expect.arrayContaining(paths));
      expect(hidden(own)).toEqual([]);
      for (const other of ["claude", "codex", "aider"])
        if (other !== agent) expect(hidden(ownFolders(other))).toEqual(expect.arrayContaining(paths));
    },
  );

  it("an agent that nobody knows is spared nothing", () => {
    for (const agent of ["mine", "__proto__", "constructor"]) expect(ownFolders(agent)).toEqual([]);
  });
});

describe("[AC205] the arguments", () => {
  const hidden = [
    { path: "/h/.ssh", isFolder: true },
    { path: "/h/.netrc", isFolder: false },
    { path: "/h/.config", isFolder: true },
  ];
  const confinement = {
    empty: "/d/empty",
    writable: ["/h/.config/code"],
    kept: [],
    hidden,
    sockets: ["/h/x.sock", "/run/x.sock", "/h/.ssh/x.sock", "/h/.config/code/x.sock"],
    network: false,
    cwd: "/h/.config/code",
  };

  it("hide a folder around the workspace before it, and all others behind it", () => {
    const args = bubblewrapArgs(confinement).join(" ");
    expect(args).toMatch(/--tmpfs \/h\/\.config --bind \/h\/\.config\/code \/h\/\.config\/code/);
    expect(args).toMatch(/--bind .*--tmpfs \/h\/\.ssh --ro-bind \/d\/empty \/h\/\.netrc/);
    expect(args).not.toContain("--share-net");
    // Of the sockets the one that is in no place of its own.
    expect(args.match(/\S+\.sock/g)).toEqual(["/h/x.sock"]);
  });

  it("for macOS deny by default what is written, then what is hidden, then the network", () => {
    const lines = seatbeltProfile({ ...confinement, writable: ["/h"] }).split("\n");
    expect(lines.slice(0, 3)).toEqual(["(version 1)", "(allow default)", "(deny file-write*)"]);
    expect(lines.lastIndexOf('(deny file-read* file-write* (subpath "/h/.ssh"))')).toBeGreaterThan(
      lines.indexOf('(allow file-read* file-write* (subpath "/h"))'),
    );
    expect(lines.at(-1)).toBe("(deny network*)");
  });
});
