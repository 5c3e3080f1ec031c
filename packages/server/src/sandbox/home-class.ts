/**
 * What of a home folder a command sees. Everything that is hidden there (a name with a dot) holds logins, keys or histories of some
 * program until the opposite is known: every list of secrets misses one. So the list here is of what builds and tests need:
 * toolchains, their caches, git's own settings, and whatever is on the PATH.
 *
 * What of these holds a login all the same is in hidden-paths.ts.
 */

import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";

/** Folders whose entries are checked one by one, each with the visible ones. */
const SEEN: Readonly<Record<string, RegExp>> = {
  ".": new RegExp(
    "^\\.(config|local|cache|gitconfig|gitignore(_global)?|gitattributes|editorconfig|tool-versions|mise(\\.toml)?|nvmrc|" +
      "(node|python|ruby|java|go)-version|cargo|rustup|nvm|fnm|volta|n|nodenv|npm|npm-global|npm-packages|node-gyp|yarn|pnpm|" +
      "pnpm-store|bun|deno|pyenv|rye|pixi|conda|virtualenvs?|venvs?|pipx|rbenv|rvm|gem|rubies|gvm|goenv|sdkman|jenv|jabba|m2|" +
      "gradle|ivy2|sbt|coursier|konan|kotlin|android|dotnet|nuget|asdf|nix-profile|nix-defexpr|linuxbrew|cabal|ghcup|stack|" +
      "opam|elan|juliaup|julia|mix|hex|kerl|exenv|luarocks|swiftly|swiftpm|zvm|zig|platformio|espressif|arduino15|emsdk|" +
      "wasmtime|foundry|svm|cocoapods|pub-cache|flutter|dart-tool|ccache|cpan|cpanm|perl5|perlbrew|plenv|phpenv|composer|" +
      "texlive[\\w.]*|texmf[\\w-]*|fonts|terminfo)$",
  ),
  ".config": /^(git|fontconfig|matplotlib|nixpkgs|mise|go|yamllint|clangd|ccache|cabal|stack)$/,
  ".local": /^(bin|lib|lib64|libexec|include|opt|share|pipx|man|games)$/,
  ".local/share":
    /^(mise|rtx|fnm|nvm|pnpm|uv|pipx|virtualenvs?|virtualenv|pypoetry|rustup|cargo|go|bun|deno|rbenv|asdf|gem|swiftly|coursier|nix|man|fonts|mime|applications|icons|bash-completion|zsh|dotnet|stack|cabal)$/,
  ".cache":
    /^(pip|pip-tools|uv|pypoetry|pipenv|pre-commit|go-build|golangci-lint|staticcheck|gopls|yarn|pnpm|node|node-gyp|corepack|deno|bun|typescript|ms-playwright[\w-]*|puppeteer|Cypress|electron[\w-]*|turbo|bazel[\w-]*|bazelisk|ccache|sccache|zig|cabal|stack|coursier|JNA|nix|mise|rustc|huggingface|torch|matplotlib|fontconfig|mypy|ruff|black|pytest|phpunit|composer|swiftpm|clangd|R)$/,
};

/** Paths in a home folder that no command sees. `path`: the PATH of the confined program; `writable`: where it works. */
export function hiddenByClass(
  home: string,
  path: string | undefined,
  writable: readonly string[],
): readonly string[] {
  if (writable.includes(home)) return []; // its hidden files belong to the workspace
  const tools = toolsIn(home, path);
  return Object.entries(SEEN).flatMap(([folder, seen]) =>
    namesIn(join(home, folder))
      .filter((name) => (folder !== "." || name.startsWith(".")) && !seen.test(name))
      .map((name) => (folder === "." ? name : `${folder}/${name}`))
      .filter((name) => !tools.has(name))
      .map((name) => join(home, name))
      .filter((each) => mayBeHidden(each, home, writable)),
  );
}

/** The targets of visible links in a home folder that lead to hidden places. */
export function seenLinks(home: string): readonly string[] {
  return namesIn(home).flatMap((name) => {
    const path = join(home, name);
    if (!name.startsWith(".") || !SEEN["."]?.test(name) || !isLink(path)) return [];
    const to = real(path);
    return to === undefined ? [] : [to];
  });
}

/** The entries of a home folder with programs that are on the PATH. */
function toolsIn(home: string, path = ""): ReadonlySet<string> {
  const entries = path.split(":").flatMap((folder) => {
    if (!isAbsolute(folder)) return [];
    const parts = relative(home, real(folder) ?? folder).split("/");
    if (parts[0] === ".." || parts[0] === "") return [];
    return [1, 2, 3].map((count) => parts.slice(0, count).join("/"));
  });
  return new Set(entries);
}

/** The target of a hidden link is hidden with it: not a program of the system, nor what the command works on. */
function mayBeHidden(path: string, home: string, writable: readonly string[]): boolean {
  if (!isLink(path)) return true;
  const to = real(path);
  return to !== undefined && isIn(home, to) && !writable.some((each) => isIn(each, to) || isIn(to, each));
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
