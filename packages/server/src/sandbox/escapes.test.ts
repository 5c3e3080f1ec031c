/**
 * Ways out of the sandbox, each tried on the real system: the rights of the one who runs the server, what the kernel lets be set,
 * sockets of other programs, what is hidden in a home folder, and the folders of git that are inside of `.git`.
 */

import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, utimesSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Child } from "../processes/child.ts";
import { mayConfine } from "../testing/bubblewrap.ts";
import { bashSpec, PlantedFolder, plant, SECRET } from "../testing/planted-folder.ts";
import { administratorsOnly } from "./administrators.ts";
import { hiddenByClass } from "./home-class.ts";
import { GIT_FOLDERS, NESTED_LOOKED_AT, NESTED_REPOSITORIES } from "./limits.ts";
import { Sandbox } from "./sandbox.ts";
import { socketsOfOthers } from "./sockets.ts";

const planted = new PlantedFolder("escapes");
const { path: folder, tracker } = planted;
const git = (cwd: string, ...args: string[]) => planted.git(cwd, ...args);
const tryGit = (cwd: string, ...args: string[]) => planted.tryGit(cwd, ...args);
const home = join(folder, "home");
const data = join(folder, "data");
const root = join(home, "code");
const env = { PATH: `${join(home, ".mytool/bin")}:${process.env["PATH"]}`, HOME: home };
const sockets = [join(folder, "engine.sock"), join(home, "keys/agent.sock"), join(root, "own.sock")];
const servers: Server[] = [];

async function confined(command: string, at = root): Promise<string> {
  const sandbox = new Sandbox({ mode: "on", agents: false, root: at, data, env });
  // Nothing here is ever run unconfined.
  if (!(await sandbox.state()).isConfined) throw new Error((await sandbox.state()).words);
  return planted.output(await sandbox.confine(bashSpec(command, at, env)));
}

beforeAll(async () => {
  plant(join(data, "token"));
  mkdirSync(root, { recursive: true });
  for (const path of sockets) {
    mkdirSync(dirname(path), { recursive: true });
    const server = createServer((socket) => socket.end("reached"));
    servers.push(server);
    await new Promise<void>((open) => server.listen(path, open));
    utimesSync(path, 0, 0); // it has been there for long
  }
});
afterAll(async () => {
  for (const server of servers) server.close();
  await planted.remove();
});

describe.runIf(mayConfine)("[AC310] a confined command has no rights, whoever runs the server", () => {
  it("holds no capability, so that it can take away nothing that hides something", async () => {
    expect(
      await confined("grep -E '^Cap(Prm|Eff|Bnd)' /proc/self/status | grep -vc '0000000000000000$'"),
    ).toBe("0\n");
    expect(await confined(`umount ${data}; cat ${data}/token`)).not.toContain(SECRET);
    expect(await confined(`unshare -Urm sh -c 'umount ${data}; cat ${data}/token'`)).not.toContain(SECRET);
  });

  it.runIf(process.getuid?.() === 0)("does not read what is the administrator's alone", async () => {
    expect((await confined("cat /etc/shadow /etc/gshadow; echo end")).replaceAll(/^cat: .*\n/gm, "")).toBe(
      "end\n",
    );
    const open = "find /etc -maxdepth 3 -type f -uid 0 ! -perm -o=r -size +0 2>/dev/null";
    expect(await confined(open)).toBe("");
    expect(await confined("test -r /etc/passwd && echo read")).toBe("read\n");
  });

  it.runIf(process.getuid?.() === 0)(
    "closed files and folders are found by class, but not the way to its own",
    () => {
      const at = join(folder, "etc");
      for (const name of ["open", "key", "pki/deep/key", "closed/key", "closed/own/key", "way/own"])
        plant(join(at, name));
      for (const name of ["key", "pki/deep/key", "closed/key"]) chmodSync(join(at, name), 0o640);
      for (const name of ["closed", "closed/own", "way"]) chmodSync(join(at, name), 0o700);
      symlinkSync("key", join(at, "link"));
      const found = (...spared: string[]) =>
        administratorsOnly(spared, { [at]: 3 })
          .map((path) => relative(at, path))
          .sort();
      expect(found()).toEqual(["closed", "key", "pki/deep/key", "way"]);
      expect(found(join(at, "closed/own"))).toEqual(["closed/key", "key", "pki/deep/key", "way"]);
      expect(found(at)).toEqual([]);
    },
  );

  it("does not set what the kernel does", async () => {
    const found = "find /proc/sys -type f -writable 2>/dev/null | wc -l";
    expect(await confined(found)).toBe("0\n");
    expect(
      await confined(
        "for f in /proc/sysrq-trigger /sys/kernel/uevent_helper; do test -w $f && echo $f; done",
      ),
    ).toBe("");
  });
});

describe.runIf(mayConfine)("[AC311] a confined command finds no socket of another program", () => {
  const asking = (path: string) =>
    `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("${path}"); print(s.recv(9))'`;

  it("neither in the home folder nor elsewhere; those of the workspace it does", async () => {
    expect(socketsOfOthers()).toEqual(expect.arrayContaining(sockets));
    const [engine = "", keys = "", own = ""] = sockets;
    for (const path of [engine, keys]) expect(await confined(asking(path))).toMatch(/refused/i);
    expect(await confined(asking(own))).toContain("reached");
  });
});

describe("[AC312] of what is hidden in a home folder a command sees the tools", () => {
  /** Of programs that nobody has written down here, on purpose. */
  const UNKNOWN = [
    ...[
      ".pulumi/credentials.json",
      ".config/solana/id.json",
      ".local/share/some-vault/key",
      ".cache/vault/db",
    ],
    ...[".newcli/token", ".newcli-token", ".zhistory", ".bashrc", ".local/state/newcli/login", ".Xauthority"],
    ...[".kimi-code/credentials/key", ".factory/auth.json", ".sbt/.credentials", ".nuget/NuGet/NuGet.Config"],
    ...[".1password/agent", ".vscode-server/data/token", ".config/newcli/hosts.yml"],
  ];
  const TOOLS = [
    ...[".cargo/registry/x", ".rustup/settings.toml", ".pyenv/version", ".cache/pip/x", ".local/bin/tool"],
    ...[".local/share/mise/x", ".config/git/ignore", ".mytool/lib/x", "notes.txt"],
  ];

  it.runIf(mayConfine)(
    "and neither logins of programs that are not known, nor what it links to",
    async () => {
      for (const name of [...UNKNOWN, ...TOOLS]) plant(join(home, name));
      mkdirSync(join(home, ".mytool/bin"), { recursive: true });
      plant(join(home, ".dotfiles/gitconfig"), "[user]\n\tname = Ann\n");
      plant(join(home, ".dotfiles/secret"));
      symlinkSync(".dotfiles/gitconfig", join(home, ".gitconfig"));
      symlinkSync("code", join(home, ".shortcut"));
      const seen = (await confined(`cd ${home}; grep -rl ${SECRET} .`)).trim().split("\n");
      expect(seen.map((name) => name.replace("./", "")).sort()).toEqual([...TOOLS].sort());
      expect(await confined("git config --global user.name")).toBe("Ann\n");
      expect(await confined("echo here > here; cat here")).toBe("here\n");
    },
  );

  it("all of it where the home folder is the workspace", () => {
    plant(join(home, ".newcli/token"));
    expect(hiddenByClass(home, "", [root])).toContain(join(home, ".newcli"));
    expect(hiddenByClass(home, "", [home])).toEqual([]);
  });
});

describe.runIf(mayConfine)(
  "[AC317] a confined command changes no repository inside of the served folder",
  () => {
    let count = 0;
    /** A folder with repositories in it: beside each other, in a folder, open, one whose settings and hooks are files of its own. */
    function served(): {
      readonly at: string;
      readonly mark: string;
      readonly repositories: readonly string[];
    } {
      const at = join(home, `served-${count++}`);
      const repositories = ["one", "in/two"].map((name) => join(at, name));
      for (const path of repositories) {
        plant(join(path, "file"));
        git(path, "init", "-q");
        git(path, "add", ".");
        git(path, "commit", "-qm", "first");
      }
      const [one = ""] = repositories;
      git(at, "init", "-q", "--bare", "open");
      git(one, "worktree", "add", "-q", join(at, "tree"));
      plant(join(one, "tools/gitconfig"), "[user]\n\tname = ann\n");
      git(one, "config", "include.path", "../tools/gitconfig");
      plant(join(one, "hooks.d/deep/post-commit"), "#!/bin/sh\n");
      chmodSync(join(one, "hooks.d/deep/post-commit"), 0o755);
      plant(join(one, "tools/more"), "[core]\n\thooksPath = hooks.d/deep\n");
      git(one, "config", "--add", "include.path", "../tools/more");
      return {
        at,
        mark: join(folder, `served-ran-${count}`),
        repositories: [...repositories, join(at, "tree")],
      };
    }

    const FSMONITOR = (file: string, mark: string) => `git config -f ${file} core.fsmonitor 'touch ${mark}'`;
    const HOOK = (file: string, mark: string) =>
      `mkdir -p $(dirname ${file}); printf '#!/bin/sh\\ntouch ${mark}' > ${file}; chmod +x ${file}`;
    it.each<[string, (mark: string) => string]>([
      ["a setting", (mark) => FSMONITOR("one/.git/config", mark)],
      ["a setting of one that is in a folder", (mark) => FSMONITOR("in/two/.git/config", mark)],
      ["a hook", (mark) => HOOK("in/two/.git/hooks/post-commit", mark)],
      ["a hook of one that lies open", (mark) => HOOK("open/hooks/post-receive", mark)],
      [
        "another repository in its place",
        (mark) => `cp -r in new; ${FSMONITOR("new/two/.git/config", mark)}; mv in old; mv new in`,
      ],
      [
        "another one below",
        (mark) => `cp -r in/two new; ${FSMONITOR("new/.git/config", mark)}; mv in/two old; mv new in/two`,
      ],
      ["a file that its settings include", (mark) => FSMONITOR("one/tools/gitconfig", mark)],
      [
        "another file that they include",
        (mark) =>
          `cp -r one/tools new; ${FSMONITOR("new/gitconfig", mark)}; mv one/tools old; mv new one/tools`,
      ],
      ["a hook where an included file keeps them", (mark) => HOOK("one/hooks.d/deep/post-commit", mark)],
      [
        "a hook of a working tree where an included file keeps them",
        (mark) => HOOK("tree/hooks.d/deep/post-commit", mark),
      ],
      [
        "where a working tree is led",
        (mark) => `cp -r one/.git new; ${FSMONITOR("new/config", mark)}; echo gitdir: ../new > tree/.git`,
      ],
    ])("%s", async (_, script) => {
      const { at, mark, repositories } = served();
      await confined(`${script(mark)}; true`, at);
      for (const repository of repositories) {
        tryGit(repository, "status");
        tryGit(repository, "commit", "-q", "--allow-empty", "-m", "next");
      }
      tryGit(join(at, "in/two"), "push", "-q", join(at, "open"), "HEAD:refs/heads/x");
      expect(existsSync(mark)).toBe(false);
      const commit = "git -c user.name=a -c user.email=a@b.c commit -qm more";
      expect(
        await confined(
          `cd one && echo more > more && git add more && ${commit} && git log --format=%s -1`,
          at,
        ),
      ).toBe("more\n");
    });
  },
);

describe.runIf(mayConfine)(
  "[AC313] a confined command changes no hook and no setting that git finds inside of .git",
  () => {
    let count = 0;
    /** A repository with a submodule, a worktree beside it and hooks of its own in the workspace. */
    function repository(): { readonly at: string; readonly mark: string } {
      const at = join(home, `repository-${count++}`);
      const other = join(folder, `other-${count}`);
      for (const path of [other, at]) {
        plant(join(path, "file"));
        git(path, "init", "-q");
        git(path, "add", ".");
        git(path, "commit", "-qm", "first");
      }
      git(at, "submodule", "add", "-q", other, "libs/sub");
      git(at, "commit", "-qm", "sub");
      git(at, "worktree", "add", "-q", join(folder, `worktree-${count}`));
      plant(join(at, "tools/hooks/pre-commit"), "#!/bin/sh\n");
      chmodSync(join(at, "tools/hooks/pre-commit"), 0o755);
      git(at, "config", "core.hooksPath", "tools/hooks");
      return { at, mark: join(folder, `ran-${count}`) };
    }

    const MODULE = ".git/modules/libs/sub";
    it.each<[string, (mark: string) => string]>([
      ["a setting of a submodule", (mark) => `git config -f ${MODULE}/config core.fsmonitor 'touch ${mark}'`],
      [
        "another folder of submodules",
        (mark) =>
          `cp -r .git/modules .git/new; git config -f .git/new/libs/sub/config core.fsmonitor 'touch ${mark}'; mv .git/modules .git/old; mv .git/new .git/modules`,
      ],
      [
        "another folder on the way to a submodule",
        (mark) =>
          `cp -r .git/modules/libs .git/new; git config -f .git/new/sub/config core.fsmonitor 'touch ${mark}'; mv .git/modules/libs .git/old; mv .git/new .git/modules/libs`,
      ],
      [
        "a submodule that shares another's folder",
        (mark) =>
          `cp -r ${MODULE} .git/new; git config -f .git/new/config core.fsmonitor 'touch ${mark}'; echo ../../../new > ${MODULE}/commondir`,
      ],
      [
        "a hook of a submodule",
        (mark) =>
          `printf '#!/bin/sh\\ntouch ${mark}' > ${MODULE}/hooks/post-checkout; chmod +x ${MODULE}/hooks/post-checkout`,
      ],
      [
        "a worktree that is led elsewhere",
        (mark) =>
          `cp -r .git new; git config -f new/config core.fsmonitor 'touch ${mark}'; echo ../../../new > .git/worktrees/*/commondir`,
      ],
      ["a hook in the workspace", (mark) => `printf '#!/bin/sh\\ntouch ${mark}' > tools/hooks/pre-commit`],
      [
        "another folder of hooks in the workspace",
        (mark) =>
          `cp -r tools new; printf '#!/bin/sh\\ntouch ${mark}' > new/hooks/pre-commit; mv tools old; mv new tools`,
      ],
    ])("%s", async (_, script) => {
      const { at, mark } = repository();
      await confined(`${script(mark)}; true`, at);
      tryGit(at, "status");
      tryGit(join(folder, `worktree-${count}`), "status");
      tryGit(join(at, "libs/sub"), "checkout", "-q", "-b", "other");
      git(at, "commit", "-q", "--allow-empty", "-m", "next");
      expect(existsSync(mark)).toBe(false);
      expect(
        await confined(
          "echo more > more && git add more && git -c user.name=a -c user.email=a@b.c commit -qm more && git log --format=%s | head -1",
          at,
        ),
      ).toBe("more\n");
      expect(readFileSync(join(at, "tools/hooks/pre-commit"), "utf8")).toBe("#!/bin/sh\n");
    });
  },
);

describe.runIf(mayConfine)("[AC321] what an earlier command has left makes nothing less kept", () => {
  let count = 0;
  /** A repository with a submodule, one in a folder, and an open one. */
  function served(): { readonly at: string; readonly mark: string } {
    const at = join(home, `left-${count++}`);
    const inner = join(at, "in/deep");
    for (const path of [at, inner]) {
      plant(join(path, "file"));
      git(path, "init", "-q");
      git(path, "add", "file");
      git(path, "commit", "-qm", "first");
    }
    git(at, "submodule", "add", "-q", inner, "libs/sub");
    git(at, "init", "-q", "--bare", "open");
    return { at, mark: join(folder, `left-ran-${count}`) };
  }

  const HOOK = (file: string, mark: string) =>
    `printf '#!/bin/sh\\ntouch ${mark}' > ${file}; chmod +x ${file}`;
  const MODULE = ".git/modules/libs/sub";
  it.each<[string, string, (mark: string) => string]>([
    [
      "more submodules",
      `for i in {1..${GIT_FOLDERS + 50}}; do mkdir -p .git/modules/a$i; echo x > .git/modules/a$i/HEAD; done`,
      (mark) => HOOK(`${MODULE}/hooks/post-checkout`, mark),
    ],
    [
      "submodules with longer names",
      `mkdir -p .git/modules/${"a/".repeat(12)}; echo x > .git/modules/${"a/".repeat(12)}HEAD`,
      (mark) => HOOK(`${MODULE}/hooks/post-checkout`, mark),
    ],
    [
      "more submodules elsewhere",
      `for i in {1..${GIT_FOLDERS + 50}}; do mkdir -p open/modules/a$i; echo x > open/modules/a$i/HEAD; done`,
      (mark) => HOOK(`${MODULE}/hooks/post-checkout`, mark),
    ],
    [
      "more repositories",
      `for i in {1..${NESTED_REPOSITORIES + 20}}; do mkdir -p a$i/.git; done`,
      (mark) => HOOK("in/deep/.git/hooks/post-commit", mark),
    ],
    [
      "more files",
      `mkdir a; cd a; for i in {1..${NESTED_LOOKED_AT + 50}}; do : > $i; done`,
      (mark) => HOOK("in/deep/.git/hooks/post-commit", mark),
    ],
    [
      "a submodule without its head",
      `mv ${MODULE}/HEAD head`,
      (mark) => `${HOOK(`${MODULE}/hooks/post-checkout`, mark)}; mv head ${MODULE}/HEAD`,
    ],
    [
      "an open one without its head",
      "mv open/HEAD head",
      (mark) => `${HOOK("open/hooks/post-receive", mark)}; mv head open/HEAD`,
    ],
    [
      "one without its objects",
      "mv in/deep/.git/objects objects",
      (mark) => `${HOOK("in/deep/.git/hooks/post-commit", mark)}; mv objects in/deep/.git/objects`,
    ],
  ])(
    "%s",
    async (_, first, then) => {
      const { at, mark } = served();
      await confined(`${first}; true`, at);
      await confined(`${then(mark)}; true`, at);
      tryGit(join(at, "libs/sub"), "checkout", "-q", "-b", "other");
      tryGit(join(at, "in/deep"), "commit", "-q", "--allow-empty", "-m", "next");
      tryGit(join(at, "in/deep"), "push", "-q", join(at, "open"), "HEAD:refs/heads/x");
      expect(existsSync(mark)).toBe(false);
    },
    120_000,
  );

  it("a folder with more than the sandbox can protect runs nothing, and says why", async () => {
    const { at, mark } = served();
    const includes = Array.from({ length: 39 }, (_, i) => `[include]\n\tpath = ../led/${i}/x\n`).join("");
    for (let i = 0; i < NESTED_REPOSITORIES; i++) plant(join(at, `r${i}`, ".git/config"), includes);
    for (let i = 0; i < NESTED_REPOSITORIES; i++) plant(join(at, `r${i}`, `led/0/x`), "");
    const sandbox = new Sandbox({ mode: "on", agents: false, root, data, env });
    const spec = { file: "/bin/sh", args: ["-c", `touch ${mark}`], cwd: at, env };
    const child = new Child(await sandbox.confine(spec), tracker);
    const { code, stderr } = await child.ended;
    expect([code, stderr]).toMatchObject([126, expect.stringContaining("more repositories")]);
    expect(existsSync(mark)).toBe(false);
  });
});
