/**
 * What git obeys is protected from a confined command by its real path: behind links, inside `.git`, outside of the
 * repository's own folder. And a folder that a command closes hides nothing from the next one.
 */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guardOfName } from "../files/guarded-path.ts";
import { mayConfine } from "../testing/bubblewrap.ts";
import { bashSpec, PlantedFolder } from "../testing/planted-folder.ts";
import { guardedIn } from "../turns/loop/tools/guarded.ts";
import { Sandbox } from "./sandbox.ts";

const planted = new PlantedFolder("links");
const { path: folder } = planted;
const git = (cwd: string, ...args: string[]) => planted.git(cwd, ...args);
const tryGit = (cwd: string, ...args: string[]) => planted.tryGit(cwd, ...args);
const home = join(folder, "home");
const data = join(folder, "data");
const env = { PATH: process.env["PATH"], HOME: home };
const HOOK = "#!/bin/sh\n";
let count = 0;

beforeAll(() => {
  for (const path of [home, data]) mkdirSync(path, { recursive: true });
});
afterAll(() => planted.remove());

function plant(path: string, text = "[user]\n\tname = ann\n"): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode: text === HOOK ? 0o755 : 0o644 });
}

function repository(at: string): string {
  plant(join(at, "file"));
  git(at, "init", "-q");
  git(at, "add", ".");
  git(at, "commit", "-qm", "first");
  return at;
}

function fresh(): string {
  const at = join(home, `work-${count++}`);
  mkdirSync(at);
  return at;
}

function link(to: string, path: string): void {
  rmSync(path, { recursive: true, force: true });
  symlinkSync(to, path);
}

async function confined(command: string, at: string, isSeen = true): Promise<string> {
  const sandbox = new Sandbox({ mode: "on", agents: false, root: at, data, env });
  // Nothing here is ever run unconfined.
  if (!(await sandbox.state()).isConfined) throw new Error((await sandbox.state()).words);
  const workspace = { root: at, guardOf: guardOfName };
  const veil = isSeen ? undefined : await guardedIn(workspace, sandbox.guarded);
  return planted.output(await sandbox.confine(bashSpec(command, at, env), { veil }));
}

const hook = (file: string, mark: string) => `printf '#!/bin/sh\\ntouch ${mark}' > ${file}; chmod +x ${file}`;
const setting = (file: string, mark: string) => `git config -f ${file} core.fsmonitor 'touch ${mark}'`;

type Road = readonly [
  what: string,
  make: (at: string) => void,
  script: (mark: string) => string,
  where?: string,
];

/** A repository's layout, and how a command would have it run something. `where`: the repository, if it is not the folder. */
const ROADS: readonly Road[] = [
  [
    "an included file inside of .git",
    (at) => {
      plant(join(repository(at), ".git/extra"));
      git(at, "config", "include.path", "extra");
    },
    (mark) => setting(".git/extra", mark),
  ],
  [
    "an included file inside of .git that is not there yet",
    (at) => git(repository(at), "config", "include.path", "extra"),
    (mark) => setting(".git/extra", mark),
  ],
  [
    "hooks inside of .git that are not in hooks",
    (at) => {
      plant(join(repository(at), ".git/own/pre-commit"), HOOK);
      git(at, "config", "core.hooksPath", ".git/own");
    },
    (mark) => hook(".git/own/pre-commit", mark),
  ],
  [
    "an included file beside an inner repository",
    (at) => {
      plant(join(at, "shared"));
      git(repository(join(at, "one")), "config", "include.path", "../../shared");
    },
    (mark) => setting("shared", mark),
    "one",
  ],
  [
    "hooks beside an inner repository",
    (at) => {
      plant(join(at, "hooks/pre-commit"), HOOK);
      git(repository(join(at, "one")), "config", "core.hooksPath", "../hooks");
    },
    (mark) => hook("hooks/pre-commit", mark),
    "one",
  ],
  [
    "hooks beside an inner repository, by their whole path",
    (at) => {
      plant(join(at, "hooks/pre-commit"), HOOK);
      git(repository(join(at, "one")), "config", "core.hooksPath", join(at, "hooks"));
    },
    (mark) => `cp -r hooks new; ${hook("new/pre-commit", mark)}; mv hooks old; mv new hooks`,
    "one",
  ],
  [
    "hooks beside an open repository",
    (at) => {
      git(at, "init", "-q", "--bare", "open");
      plant(join(at, "hooks/post-receive"), HOOK);
      git(join(at, "open"), "config", "core.hooksPath", "../hooks");
      repository(join(at, "one"));
    },
    (mark) => hook("hooks/post-receive", mark),
    "one",
  ],
  [
    "a submodule's hooks beside it",
    (at) => {
      const other = repository(join(folder, `other-${count}`));
      git(repository(at), "submodule", "add", "-q", other, "sub");
      git(at, "commit", "-qm", "sub");
      plant(join(at, "hooks/pre-commit"), HOOK);
      git(join(at, "sub"), "config", "core.hooksPath", "../hooks");
    },
    (mark) => hook("hooks/pre-commit", mark),
    "sub",
  ],
  [
    "a hook that is a link",
    (at) => {
      plant(join(repository(at), "scripts/check"), HOOK);
      link("../../scripts/check", join(at, ".git/hooks/pre-commit"));
    },
    (mark) => hook("scripts/check", mark),
  ],
  [
    "a hook that is a link, with another folder behind it",
    (at) => {
      plant(join(repository(at), "scripts/check"), HOOK);
      link("../../scripts/check", join(at, ".git/hooks/pre-commit"));
    },
    (mark) => `cp -r scripts new; ${hook("new/check", mark)}; mv scripts old; mv new scripts`,
  ],
  [
    "a hook that is a link to nothing",
    (at) => link("../../scripts/check", join(repository(at), ".git/hooks/pre-commit")),
    (mark) => `mkdir scripts; ${hook("scripts/check", mark)}`,
  ],
  [
    "a hook that is a link where the configuration keeps them",
    (at) => {
      plant(join(repository(at), "scripts/check"), HOOK);
      mkdirSync(join(at, "hooks"));
      link("../scripts/check", join(at, "hooks/pre-commit"));
      git(at, "config", "core.hooksPath", "hooks");
    },
    (mark) => hook("scripts/check", mark),
  ],
  [
    "a folder of hooks that is a link",
    (at) => {
      plant(join(repository(at), "scripts/pre-commit"), HOOK);
      link("../scripts", join(at, ".git/hooks"));
    },
    (mark) => `cp -r scripts new; ${hook("new/pre-commit", mark)}; rm .git/hooks; mv new .git/hooks`,
  ],
  [
    "a folder of hooks that the configuration names and that is a link",
    (at) => {
      plant(join(repository(at), "scripts/pre-commit"), HOOK);
      link("scripts", join(at, "hooks"));
      git(at, "config", "core.hooksPath", "hooks");
    },
    (mark) => `cp -r scripts new; ${hook("new/pre-commit", mark)}; rm hooks; mv new hooks`,
  ],
  [
    "a configuration that is a link",
    (at) => {
      renameSync(join(repository(at), ".git/config"), join(at, "settings"));
      link("../settings", join(at, ".git/config"));
    },
    (mark) =>
      `${setting("settings", mark)}; cp settings new; ${setting("new", mark)}; rm .git/config; mv new .git/config`,
  ],
  [
    "an included file that is a link",
    (at) => {
      plant(join(repository(at), "settings"));
      link("settings", join(at, "included"));
      git(at, "config", "include.path", "../included");
    },
    (mark) => `cp settings new; ${setting("new", mark)}; rm included; mv new included`,
  ],
  [
    "a .git that is a link",
    (at) => {
      renameSync(join(repository(at), ".git"), join(at, "place"));
      link("place", join(at, ".git"));
    },
    (mark) => `cp -r place new; ${setting("new/config", mark)}; rm .git; mv new .git`,
  ],
  [
    "a .git of an inner repository that is a link",
    (at) => {
      renameSync(join(repository(join(at, "one")), ".git"), join(at, "place"));
      link(join(at, "place"), join(at, "one/.git"));
    },
    (mark) => `cp -r place new; ${setting("new/config", mark)}; rm one/.git; mv new one/.git`,
    "one",
  ],
];

describe.runIf(mayConfine)("[AC340] a confined command does not get git to obey it by", () => {
  const roads = ROADS.map(([what, make, script, where = "."]) => ({ what, make, script, where }));
  it.each(roads)("$what", async ({ make, script, where }) => {
    const at = fresh();
    make(at);
    const mark = join(folder, `ran-${count}`);
    await confined(`${script(mark)}; true`, at);
    const repositoryAt = join(at, where);
    for (const cwd of [at, repositoryAt]) {
      tryGit(cwd, "status");
      tryGit(cwd, "commit", "-q", "--allow-empty", "-m", "next");
    }
    if (existsSync(join(at, "open"))) tryGit(repositoryAt, "push", "-q", "../open", "HEAD:refs/heads/x");
    expect(existsSync(mark)).toBe(false);
    const commit =
      "git -c user.name=a -c user.email=a@b.c commit -qm more --allow-empty 2>&1 | grep -v ^hint";
    expect(await confined(`cd ${where}; ${commit}; git log --format=%s -1`, at)).toBe("more\n");
  });

  it("a link is restored, and its replacement stays under another name", async () => {
    const at = fresh();
    renameSync(join(repository(at), ".git"), join(at, "place"));
    link("place", join(at, ".git"));
    await confined("rm .git; mkdir .git; echo work > .git/work", at);
    expect(readlinkSync(join(at, ".git"))).toBe("place");
    const replaced = execFileSync("ls", ["-A", at], { encoding: "utf8" }).match(/\.git\.replaced-\w+/)?.[0];
    expect(readFileSync(join(at, replaced ?? "", "work"), "utf8")).toBe("work\n");
  });
});

describe.runIf(mayConfine)("[AC340] linked instructions of agents stay unchanged", () => {
  it.each([
    ["CLAUDE.md", "AGENTS.md"],
    ["CLAUDE.md", "docs/notes"],
    [".cursorrules", "docs/rules"],
  ])("%s, a link to %s", async (name, to) => {
    const at = fresh();
    plant(join(at, to), "as it was\n");
    symlinkSync(to, join(at, name));
    await confined(`rm ${name}; echo evil > ${name}; echo evil > ${to}`, at, false);
    expect(lstatSync(join(at, name)).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(at, name), "utf8")).toBe("as it was\n");
  });
});

describe.runIf(mayConfine)("[AC340] a command that closes folders after itself", () => {
  it.each([
    ["a folder of git", ".git"],
    ["an inner repository", "in/deep"],
    ["a folder on the way to one", "in"],
  ])("%s: they are open again, and nothing is less protected", async (_, name) => {
    const at = repository(fresh());
    repository(join(at, "in/deep"));
    await confined(`echo ../x > .git/commondir; chmod 000 ${name}`, at);
    expect(statSync(join(at, name)).mode & 0o700).toBe(0o700);
    expect(existsSync(join(at, ".git/commondir"))).toBe(false);
    const said = await confined("chmod 755 in in/deep; echo x > in/deep/.git/hooks/pre-commit", at);
    expect(said).toContain("Read-only");
  });

  it("the folder of a secret: it is open again, and the secret is empty for the next one", async () => {
    const at = fresh();
    plant(join(at, "conf/.env"), "planted-secret\n");
    await confined("chmod 000 conf", at, false);
    expect(statSync(join(at, "conf")).mode & 0o700).toBe(0o700);
    expect(await confined("chmod 755 conf; cat conf/.env", at, false)).toBe("");
  });

  // The administrator may read every folder.
  it.skipIf(process.getuid?.() === 0)("folders closed before stay closed to it", async () => {
    const at = fresh();
    plant(join(at, "closed/.env"), "planted-secret\n");
    chmodSync(join(at, "closed"), 0);
    expect(await confined("chmod 755 closed; cat closed/.env", at, false)).not.toContain("planted-secret");
    chmodSync(join(at, "closed"), 0o700);
  });
});
