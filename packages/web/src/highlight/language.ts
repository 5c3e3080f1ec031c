/**
 * Which grammar colours a file: by its language if that is said, else by its name. Undefined: shown without colours.
 */

const ALIASES: Readonly<Record<string, string>> = {
  bash: "shellscript",
  c: "c",
  "c++": "cpp",
  cc: "cpp",
  cjs: "javascript",
  clj: "clojure",
  cpp: "cpp",
  cs: "csharp",
  csharp: "csharp",
  css: "css",
  cts: "typescript",
  dart: "dart",
  diff: "diff",
  docker: "docker",
  dockerfile: "docker",
  ex: "elixir",
  exs: "elixir",
  elixir: "elixir",
  go: "go",
  golang: "go",
  graphql: "graphql",
  gql: "graphql",
  h: "c",
  hpp: "cpp",
  hs: "haskell",
  haskell: "haskell",
  htm: "html",
  html: "html",
  ini: "ini",
  java: "java",
  javascript: "javascript",
  js: "javascript",
  json: "json",
  json5: "json",
  jsonc: "jsonc",
  jsonl: "json",
  jsx: "jsx",
  kotlin: "kotlin",
  kt: "kotlin",
  kts: "kotlin",
  less: "less",
  lua: "lua",
  make: "make",
  makefile: "make",
  markdown: "markdown",
  md: "markdown",
  mdx: "markdown",
  mjs: "javascript",
  mts: "typescript",
  nix: "nix",
  patch: "diff",
  php: "php",
  pl: "perl",
  perl: "perl",
  proto: "proto",
  ps1: "powershell",
  powershell: "powershell",
  py: "python",
  pyi: "python",
  python: "python",
  r: "r",
  rb: "ruby",
  rs: "rust",
  ruby: "ruby",
  rust: "rust",
  scala: "scala",
  scss: "scss",
  sh: "shellscript",
  shell: "shellscript",
  shellscript: "shellscript",
  sql: "sql",
  svelte: "svelte",
  svg: "xml",
  swift: "swift",
  tf: "terraform",
  toml: "toml",
  ts: "typescript",
  tsx: "tsx",
  typescript: "typescript",
  vue: "vue",
  xml: "xml",
  yaml: "yaml",
  yml: "yaml",
  zig: "zig",
  zsh: "shellscript",
};

export function grammarOf(language: string | undefined, filename?: string): string | undefined {
  return lookUp(language) ?? grammarOfFile(filename);
}

function grammarOfFile(filename: string | undefined): string | undefined {
  const name = filename?.split(/[\\/]/).at(-1);
  if (!name) return undefined;
  const extension = name.includes(".") ? name.split(".").at(-1) : undefined;
  return lookUp(name) ?? lookUp(extension);
}

function lookUp(name: string | undefined): string | undefined {
  const key = name?.toLowerCase();
  return key !== undefined && Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined;
}
