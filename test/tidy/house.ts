/**
 * The shape of the house, as data: who may import whom, where edges to the outside world are, what files may be
 * called. The checks beside this file only apply it. A change here is a change of architecture: say why in the
 * commit, and keep ARCHITECTURE.md in step.
 */

/** Which packages a package may import. Nothing else. */
export const packageImports: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  providers: ["kernel"],
  server: ["kernel", "providers"],
  client: ["kernel"],
  web: ["client", "kernel"],
};

export interface Layer {
  readonly name: string;
  /** Paths below packages/<package>/src; the first layer that matches is the file's. */
  readonly files: RegExp;
  /** Other layers that it may import. Its own is always allowed. */
  readonly imports: readonly string[];
}

/** Layers inside a package. Tests are free of them. */
export const layers: Readonly<Record<string, readonly Layer[]>> = {
  kernel: [
    {
      name: "surface",
      files: /^(index|store-contract)\.ts$/,
      imports: ["nouns", "text", "core", "tools", "wire"],
    },
    {
      name: "nouns",
      files:
        /^(ask|assert|audit|base64|block|conversation|env|event|json|limits|op|problem|sha256|store)\.ts$/,
      imports: [],
    },
    { name: "text", files: /^text\//, imports: ["nouns"] },
    { name: "tools", files: /^(tools\/|ingest\.ts$)/, imports: ["nouns", "text", "core"] },
    { name: "wire", files: /^wire\//, imports: ["nouns", "text", "core", "tools"] },
    { name: "core", files: /./, imports: ["nouns", "text"] },
  ],
};

/** Libraries that are known in one place only, so that they can be exchanged there. Tests are free of this. */
export const libraryHomes: Readonly<Record<string, readonly RegExp[]>> = {
  yjs: [/^packages\/kernel\/src\/text\//, /^packages\/web\/src\/editor\//, /^bench\//],
  "y-codemirror.next": [/^packages\/web\/src\/editor\//],
  "node:sqlite": [/^packages\/server\/src\/store\//, /^bench\//, /^test\//],
  pg: [/^packages\/server\/src\/postgres\//, /^test\/postgres\//],
};

/** Packages that run anywhere: no `node:` modules in them, except in these files, which are commands. */
export const anywhere = ["client", "kernel", "providers", "web"];
export const nodeEdges = ["packages/providers/src/blocks.ts", "packages/web/vite.config.ts"];

/** Packages that reach the outside world only through the `env` that they are given. */
export const pure = ["kernel", "providers"];
/** Their edges: files that are a program of their own, or make an `env`. */
export const pureEdges = ["packages/providers/src/blocks.ts"];
/** What must come from `env` instead: globals, or `object.property`. `new Date()` is checked besides. */
export const bannedInPure = [
  "Date.now",
  "Math.random",
  "clearInterval",
  "clearTimeout",
  "console",
  "crypto",
  "fetch",
  "performance",
  "process",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout",
];

/** The one file that may put HTML into the page. None so far. */
export const rawHtmlFiles: readonly string[] = [];

/** Files from which everything else must be reachable, besides tests and the files that package.json names. */
export const entries = [
  /^packages\/[^/]+\/src\/(index|main)\.tsx?$/,
  /^packages\/[^/]+\/vite\.config\.ts$/,
  /\.worker\.tsx?$/,
  /\.d\.ts$/,
  /\.fuzz\.ts$/,
  /^bench\/[^/]+\.ts$/,
  /^examples\//,
  /^test\/[^/]+\/main\.ts$/,
  /^vitest\.config\.ts$/,
];

export const fileLinesMax = 600;
export const functionLinesMax = 120;

export const forbiddenNames = [
  "common",
  "handler",
  "handlers",
  "helper",
  "helpers",
  "manager",
  "misc",
  "service",
  "services",
  "shared",
  "types",
  "util",
  "utils",
];

/** Checks with a script of their own, which cite rules as tests do. */
export const longChecks = /^test\/(faults|load|mutation|nodes|postgres)\/.*\.ts$/;

/** Recordings of what others wrote: their words and names are not ours. */
export const recorded = /(^|\/)(fixtures|recordings)\//;
/** Files in which describe blocks and suites make functions long. */
export const testing = /(\.(test|fuzz|contract)\.tsx?$)|(-contract\.ts$)|(^test\/)/;
