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

/** What a package may know of another one's types, and of nothing else there. */
export const typeImports: Readonly<Record<string, readonly string[]>> = {
  client: ["@blockyard/server/contract"],
};

/**
 * The folders of a package, from the bottom up, each with those that it may import; its own is always allowed. A folder that
 * is not here does not exist yet: adding one is a line. Files beside the folders (index, main) put them together and may
 * import all. Tests and `testing/` are free of this.
 */
export const folders: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  kernel: {
    model: [],
    ports: ["model"],
    text: ["model", "ports"],
    search: ["model", "ports"],
    write: ["model", "ports", "text"],
    ingest: ["model", "ports", "text", "write"],
    nodes: ["model", "ports", "write"],
    tools: ["model", "ports", "text", "search", "write", "nodes"],
    presentation: ["model"],
    wire: ["model", "ports", "text", "write", "tools", "presentation"],
  },
  server: {
    system: [],
    processes: [],
    sandbox: ["system", "processes"],
    config: ["system", "sandbox"],
    search: ["system"],
    stores: ["system", "config", "search"],
    access: ["system"],
    trust: ["system"],
    files: ["system"],
    ingest: ["system", "access"],
    export: ["system"],
    import: ["system", "access", "ingest", "stores"],
    turns: ["system", "access", "processes", "sandbox", "files", "ingest"],
    rerun: ["system", "processes", "sandbox"],
    contract: ["access", "trust", "files", "turns", "rerun"],
    transports: ["system", "access", "ingest", "export", "contract"],
    demo: ["contract"],
    app: [
      ...["system", "processes", "sandbox", "config", "search", "stores", "access", "trust", "files"],
      ...["ingest", "export", "import", "turns", "rerun", "contract", "transports"],
    ],
    cli: [
      ...["system", "processes", "config", "stores", "access", "ingest", "export", "import", "turns"],
      ...["contract", "transports", "demo", "app"],
    ],
  },
  web: {
    state: [],
    ui: ["state"],
    highlight: ["ui"],
    diagram: ["state", "ui", "highlight"],
    markdown: ["ui", "highlight", "diagram"],
    terminal: ["ui", "highlight"],
    diff: ["state", "ui", "highlight"],
    rows: ["state"],
    actions: ["state", "ui", "rows"],
    blocks: ["state", "ui", "rows", "actions", "diff", "highlight", "markdown", "terminal"],
    editor: ["state", "ui", "actions", "highlight"],
    composer: ["state", "ui", "rows", "actions"],
    conversation: ["state", "ui", "rows", "actions", "blocks", "composer", "editor"],
    inspector: ["state", "ui", "actions", "blocks", "diff"],
    files: ["state", "ui", "actions", "blocks", "editor", "highlight"],
    sidebar: ["state", "ui", "actions"],
    pane: ["state", "ui", "rows", "diff", "files", "inspector"],
    costs: ["state", "ui", "actions"],
    palette: ["state", "ui", "rows", "actions", "sidebar"],
    app: [
      ...["state", "ui", "actions", "composer", "conversation", "files", "sidebar"],
      ...["pane", "costs", "palette"],
    ],
    styles: [],
  },
};

/** Libraries that are known in one place only, so that they can be exchanged there. Tests are free of this. */
export const libraryHomes: Readonly<Record<string, readonly RegExp[]>> = {
  yjs: [/^packages\/kernel\/src\/text\//, /^packages\/web\/src\/editor\//, /^bench\//],
  "y-codemirror.next": [/^packages\/web\/src\/editor\//],
  "node:sqlite": [/^packages\/server\/src\/stores\/sqlite\//, /^bench\//, /^test\//],
  pg: [/^packages\/server\/src\/stores\/postgres\//, /^test\/postgres\//],
};

/**
 * Files that are loaded often, by commands and threads, and the libraries that none of them loads, whatever is between: each costs
 * a start some tens of milliseconds, and each thread its own copy.
 */
export const light: readonly (readonly [file: RegExp, never: readonly string[]])[] = [
  [/^packages\/kernel\/src\/plain\.ts$/, ["zod", "yjs", "re2js", "@codemirror/state"]],
  [
    /^packages\/server\/src\/transports\/json-parser\.worker\.ts$/,
    ["zod", "yjs", "re2js", "@codemirror/state"],
  ],
  [/^packages\/server\/src\/.*\/search\.worker\.ts$/, ["zod", "yjs", "@codemirror/state"]],
  [/^packages\/server\/src\/export\/export\.worker\.ts$/, ["yjs", "re2js", "@codemirror/state"]],
];

/** Files that may import the libraries of bench/package.json, which only some benches install. */
export const peerFile = /^bench\/.*\.peer\.ts$/;

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
  /\.(worker|frame)\.tsx?$/,
  /\.d\.ts$/,
  /\.fuzz\.ts$/,
  /^bench\/[^/]+\.ts$/,
  /^examples\//,
  /^test\/[^/]+\/(main|setup)\.ts$/,
  /^vitest\.config\.ts$/,
];

/** What programs of other people import: who uses a name is not known here. */
export const publicEntries = /^packages\/client\/src\/index\.ts$/;

export const fileLinesMax = 600;
/** Of a package's sources: at this length the second noun has been found. */
export const sourceLinesMax = 400;
export const functionLinesMax = 70;

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
export const testing = /(\.(test|fuzz|contract)\.tsx?$)|(\/testing\/)|(^test\/)/;

/** Casts in product code that forget what the compiler knows: `as unknown as`, `as any`, `as never`. */
export const maxCasts = 5;
/** Where metadata gets its type by the kind of its block. */
export const metadataFile = "packages/kernel/src/model/metadata.ts";

/** Where bounds stand, and the waits between a provider's byte and a pixel. */
export const boundTable = /\/(limits|latency)\.ts$/;
/** A constant with such a name says how much, how often or how long, however small it is. */
export const quantity =
  /^(MAX|MOST|MIN|LONGEST)_|_(MS|SECONDS|BYTES|MB|CHARS|UNITS|LINES|ROWS|BLOCKS|FILES|TRIES|DEPTH)$/;
/** Units of time, sizes and parts of formats, shares, sizes on the screen: numbers that bound nothing. */
export const notBounds =
  /^((DAY|HOUR)_MS|MILLIS|(HEADER|FRAME|TRAILER|IV|TAG|HASH|SIGNATURE)_BYTES|(TAG|ID|LEGACY|CUT)_CHARS|DOCUMENTS_PER_PAGE|NO_ROOM|HASH_BITS|REPLICA_MIN|MIN_NODE|NOT_FOUND|DEFAULT_PORT|COMPOSING_CODE|SPACE|NOT_PASSED_ON|.*_(VERSION|PX|SHARE|PRICE))$/;
/** Scenes and figures of the demo, the bench and recordings; an algorithm's own numbers; HTTP's status codes. */
export const notBoundsFiles =
  /\/cli\/(bench|demo)[^/]*\.ts$|\/server\/src\/demo\/|\/sha256\.ts$|\/git-index\.ts$|\/transports\/answer\.ts$|\/turns\/replay\.ts$/;
/** Which argument of a call says how long. */
export const waits: Readonly<Record<string, number>> = {
  "AbortSignal.timeout": 0,
  setInterval: 1,
  setTimeout: 1,
  sleep: 0,
};
/** A field or parameter with such a name says how long or how much, for whatever is called with it. */
export const measured = /[a-z](Ms|Bytes|Chars)$|^(maxBuffer|maxPayload|timeout|highWaterMark)$/;
