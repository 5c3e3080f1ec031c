/** The checks of the tidy test on small samples, good and bad: a check that cannot fail is worth nothing. */
import { describe, expect, it } from "vitest";
import { checkBounds } from "./bounds.ts";
import { checkPurity, checkRawHtml, checkShells, checkSwitchedOff } from "./calls.ts";
import { checkCasts, checkMetadataReads } from "./casts.ts";
import { checkWalk, findBrokenLinks, findUnlinked } from "./docs.ts";
import { findUnusedExports } from "./exports.ts";
import { checkImports, checkLight, findCycles, findDead } from "./imports.ts";
import { checkFileLength, checkFunctionLength, checkHeaders, checkNames } from "./shape.ts";
import { type File, isCode, parse } from "./source.ts";
import { checkRules } from "./spec.ts";
import { checkBanned, checkMachine, checkNotes } from "./words.ts";

const kernel = "packages/kernel/src";
const providers = "packages/providers/src";
const server = "packages/server/src";
const web = "packages/web/src";

function manifest(path: string, name: string, dependencies: string[], more: object = {}): File {
  const versions = Object.fromEntries(dependencies.map((dependency) => [dependency, "1.0.0"]));
  return { path, text: JSON.stringify({ name, dependencies: versions, ...more }) };
}

const manifests = [
  manifest("package.json", "blockyard", [], {
    devDependencies: { vitest: "1.0.0" },
    scripts: { start: "node scripts/start.mjs" },
  }),
  manifest("bench/package.json", "@blockyard/bench", ["loro-crdt"]),
  manifest("packages/kernel/package.json", "@blockyard/kernel", ["yjs", "zod"], {
    exports: { ".": "./src/index.ts", "./store-contract": "./src/store-contract.ts" },
  }),
  manifest("packages/providers/package.json", "@blockyard/providers", ["@blockyard/kernel"]),
  manifest(
    "packages/server/package.json",
    "@blockyard/server",
    ["@blockyard/kernel", "@blockyard/providers", "hono"],
    { devDependencies: { openai: "1.0.0" } },
  ),
  manifest("packages/web/package.json", "@blockyard/web", ["@blockyard/kernel", "yjs", "react"]),
];

type Rows = readonly (readonly [path: string, text: string, complaint: string | undefined])[];

/** One file, and a part of the complaint that it must raise, or undefined if it is fine. */
function check(rows: Rows, look: (files: File[]) => string[]): void {
  it.each(rows)("%s: %s", (path, text, complaint) => {
    const found = look([{ path, text }]);
    if (complaint === undefined) expect(found).toEqual([]);
    else expect(found).toEqual([expect.stringContaining(complaint)]);
  });
}

describe("bounds", () => {
  const file = `${server}/turns/waiting.ts`;
  const rows: Rows = [
    [file, "const QUEUED_MESSAGES = 20;", "QUEUED_MESSAGES is a bound"],
    [file, "export const STOP_TRIES = 3;", "STOP_TRIES is a bound"],
    [file, "const GRACE_MS = 5 * 60_000;", "GRACE_MS is a bound"],
    [`${server}/turns/limits.ts`, "export const QUEUED_MESSAGES = 20;", undefined],
    [`${server}/turns/waiting.test.ts`, "const QUEUED_MESSAGES = 20;", undefined],
    [`${server}/demo/story.ts`, "export const DEMO_LINES = 500;", undefined],
    [file, "const OPEN = 1;", undefined],
    [file, "const MAGIC = 0x377f0682;", undefined],
    [file, "const METHOD_NOT_FOUND = -32601;", undefined],
    [file, "const HEADER_BYTES = 32;", undefined],
    [file, "const WAIT_MS = 2 * limits.holdMs;", undefined],
    [file, "function wait() { setTimeout(look, 500); }", "setTimeout is given a number"],
    [file, "async function wait() { await sleep(10 * 1_000); }", "sleep is given a number"],
    [file, "const signal = AbortSignal.timeout(3_000);", "AbortSignal.timeout is given a number"],
    [file, "function wait() { setTimeout(look, 0); setTimeout(look, GRACE_MS); }", undefined],
    [file, "start({ timeoutMs: 500 });", "timeoutMs is given a number"],
    [file, "function wait(waitMs = 500) {}", "waitMs is given a number"],
    [file, "start({ timeoutMs: GRACE_MS, waitMs: 0 });", undefined],
  ];
  check(rows, (files) => checkBounds(files.map(parse)));
});

describe("what starts often", () => {
  const worker = `${server}/search/search.worker.ts`;
  const light = (files: readonly (readonly [path: string, text: string])[]) =>
    checkLight(
      files.map(([path, text]) => parse({ path, text })),
      manifests,
    );

  it("does not load a library by way of others", () => {
    expect(
      light([
        [worker, 'import { x } from "@blockyard/kernel";'],
        [`${kernel}/index.ts`, 'export { x } from "./b.ts";'],
        [`${kernel}/b.ts`, 'import { z } from "zod";'],
      ]),
    ).toEqual([expect.stringContaining(`${kernel}/b.ts -> zod`)]);
  });

  it("may know its types, and load it later", () => {
    expect(light([[worker, 'import type { Doc } from "yjs"; const later = () => import("zod");']])).toEqual(
      [],
    );
  });
});

describe("imports", () => {
  const rows: Rows = [
    [`${providers}/a.ts`, 'import { x } from "@blockyard/kernel"', undefined],
    [`${kernel}/a.ts`, 'import { x } from "@blockyard/providers"', "kernel may not import"],
    [`${web}/a.tsx`, 'import { x } from "@blockyard/server"', "web may not import"],
    [`${server}/a.ts`, 'import { x } from "../../kernel/src/model/block.ts"', "by its name"],
    [`${kernel}/text/a.ts`, 'import type { Block } from "../model/block.ts"', undefined],
    [`${kernel}/text/a.ts`, 'import { x } from "./b.ts"', undefined],
    [
      `${kernel}/text/a.ts`,
      'import type { Kernel } from "../write/kernel.ts"',
      "text may import model, ports, not write",
    ],
    [
      `${kernel}/model/a.ts`,
      'export { x } from "../text/a.ts"',
      "model may import no other folder, not text",
    ],
    [`${kernel}/tools/a.ts`, 'import { x } from "../write/kernel.ts"', undefined],
    [`${kernel}/tools/a.ts`, 'const x = import("../wire/frame.ts")', "not wire"],
    [`${kernel}/wire/a.ts`, 'import { x } from "../tools/index.ts"', undefined],
    [
      `${kernel}/write/a.ts`,
      'import { x } from "../ingest/ingest.ts"',
      "write may import model, ports, text, not ingest",
    ],
    [`${kernel}/text/a.ts`, 'import { x } from "../index.ts"', "not what stands beside the folders"],
    [`${kernel}/room/a.ts`, 'import { x } from "../model/a.ts"', "the folder room is not in the table"],
    [`${server}/turns/a.ts`, 'import { x } from "../access/auth.ts"', undefined],
    [`${server}/access/a.ts`, 'import { x } from "../turns/run.ts"', "access may import system, not turns"],
    [`${web}/ui/a.ts`, 'import { x } from "../app/app.tsx"', "ui may import state, not app"],
    [`${kernel}/testing/a.ts`, 'import { x } from "../wire/frame.ts"', undefined],
    [`${kernel}/index.ts`, 'export { x } from "./wire/frame.ts"', undefined],
    [`${kernel}/block.test.ts`, 'import { x } from "./wire/frame.ts"', undefined],
    [`${kernel}/text/a.ts`, 'import * as Y from "yjs"', undefined],
    [`${kernel}/undo.ts`, 'import * as Y from "yjs"', "one place only"],
    [`${web}/editor/a.ts`, 'import * as Y from "yjs"', undefined],
    [`${web}/a.ts`, 'import * as Y from "yjs"', "one place only"],
    [`${server}/a.ts`, 'import { Hono } from "hono/tiny"', undefined],
    [`${server}/a.ts`, 'import { z } from "zod"', "not declared in packages/server"],
    [`${server}/a.ts`, 'import type OpenAI from "openai"', undefined],
    [`${server}/a.ts`, 'import OpenAI from "openai"', "not declared in packages/server"],
    [`${server}/a.ts`, 'import fs from "node:fs"', undefined],
    [`${kernel}/a.ts`, 'import fs from "node:fs"', "no Node modules"],
    [`${kernel}/a.ts`, 'import fs from "fs"', "no Node modules"],
    [`${web}/a.ts`, 'import fs from "node:fs"', "no Node modules"],
    [`${providers}/blocks.ts`, 'import fs from "node:fs"', undefined],
    [`${kernel}/a.test.ts`, 'import { it } from "vitest"; import "node:fs"', undefined],
    [`${kernel}/a.ts`, 'import { it } from "vitest"', "not declared in packages/kernel"],
    ["bench/a.ts", 'import { z } from "zod"', undefined],
    ["bench/a.ts", 'import x from "left-pad"', "not declared in any package.json"],
    ["bench/a.peer.ts", 'import x from "loro-crdt"', undefined],
    ["bench/a.ts", 'import x from "loro-crdt"', "only bench/**/*.peer.ts"],
    [`${web}/a.test.ts`, 'import x from "loro-crdt"', "only bench/**/*.peer.ts"],
  ];
  check(rows, (files) => checkImports(files.map(parse), manifests));
});

describe("cycles", () => {
  const cycles = (texts: Record<string, string>) =>
    findCycles(Object.entries(texts).map(([path, text]) => parse({ path, text })));

  it("are found once, types included", () => {
    const texts = {
      "x/b.ts": 'import type { C } from "./c.ts"',
      "x/a.ts": 'import { b } from "./b.ts"',
      "x/c.ts": 'export { a } from "./a.ts"',
    };
    expect(cycles(texts)).toEqual(["x/a.ts -> x/b.ts -> x/c.ts -> x/a.ts"]);
  });

  it("are not two ways to one file", () => {
    expect(
      cycles({
        "a.ts": 'import "./b.ts"; import "./c.ts"',
        "b.ts": 'import "./d.ts"',
        "c.ts": 'import "./d.ts"',
        "d.ts": "",
      }),
    ).toEqual([]);
  });
});

describe("dead files", () => {
  const dead = (texts: Record<string, string>) => {
    const files = Object.entries(texts).map(([path, text]) => ({ path, text }));
    const code = files.filter(({ path }) => isCode(path)).map(parse);
    const styles = files.filter(({ path }) => path.endsWith(".css"));
    return findDead(code, styles, manifests).map((complaint) => complaint.split(" ")[0]);
  };

  it("are those that no entry leads to", () => {
    const texts = {
      [`${kernel}/index.ts`]: 'export { a } from "./a.ts"',
      [`${kernel}/a.ts`]: 'const w = new Worker(new URL("./b.ts", import.meta.url))',
      [`${kernel}/b.ts`]: "",
      [`${kernel}/c.ts`]: 'import "./d.ts"',
      [`${kernel}/d.ts`]: "",
      [`${web}/main.tsx`]: 'import "./page.css"',
      [`${web}/page.css`]: "",
      [`${web}/old.css`]: "",
    };
    expect(dead(texts)).toEqual([`${kernel}/c.ts`, `${kernel}/d.ts`, `${web}/old.css`]);
  });

  it("are not kept alive by their own test, but by another's", () => {
    const texts = {
      [`${kernel}/a.ts`]: "",
      [`${kernel}/a.test.ts`]: 'import "./a.ts"; import "./b.ts"',
      [`${kernel}/b.ts`]: "",
    };
    expect(dead(texts)).toEqual([`${kernel}/a.ts`]);
  });

  it("are not what a package.json names", () => {
    expect(
      dead({ "scripts/start.mjs": "", "scripts/old.mjs": "", [`${kernel}/store-contract.ts`]: "" }),
    ).toEqual(["scripts/old.mjs"]);
  });
});

describe("unused exports", () => {
  const unused = (texts: Record<string, string>) => {
    const code = Object.entries(texts).map(([path, text]) => parse({ path, text }));
    return findUnusedExports(code, manifests).map((complaint) => complaint.split(",")[0]);
  };

  it("are those that no other file imports", () => {
    const texts = {
      [`${kernel}/a.ts`]: "export const one = 1; export function two() {} export interface Three {} two();",
      [`${kernel}/b.ts`]: 'import { one } from "./a.ts"',
      [`${kernel}/a.test.ts`]: 'import type { Three } from "./a.ts"; export const sample = 1;',
    };
    expect(unused(texts)).toEqual([`${kernel}/a.ts exports two`]);
  });

  it("are not what an entry passes on, but an entry passes on what others import", () => {
    const texts = {
      [`${kernel}/index.ts`]: 'export * from "./plain.ts"; export { one, two as deux } from "./a.ts";',
      [`${kernel}/plain.ts`]: "export const far = 1; export const near = 1;",
      [`${kernel}/a.ts`]: "export const one = 1; export const two = 2;",
      [`${web}/main.tsx`]: 'import { far, one } from "@blockyard/kernel";',
    };
    expect(unused(texts)).toEqual([`${kernel}/index.ts exports deux`, `${kernel}/plain.ts exports near`]);
  });

  it("are unknown of a namespace, a file that is loaded later, and what others build on", () => {
    const texts = {
      [`${kernel}/a.ts`]: "export const one = 1;",
      [`${kernel}/b.ts`]: 'import * as all from "./a.ts"; all; void import("./c.ts");',
      [`${kernel}/c.ts`]: "export const two = 2;",
      "packages/client/src/index.ts": "export const three = 3;",
    };
    expect(unused(texts)).toEqual([]);
  });
});

describe("purity", () => {
  const rows: Rows = [
    [`${kernel}/a.ts`, "const t = Date.now()", "uses Date.now"],
    [`${kernel}/a.ts`, "const now = Date.now", "uses Date.now"],
    [`${kernel}/a.ts`, "const t = new Date()", "reads the clock"],
    [`${kernel}/a.ts`, "const t = Date()", "reads the clock"],
    [`${kernel}/a.ts`, "const t = new Date(ms)", undefined],
    [`${kernel}/a.ts`, "// Date.now() is banned\nconst s = 'Math.random()'", undefined],
    [`${providers}/a.ts`, "Math.random()", "uses Math.random"],
    [`${providers}/a.ts`, "globalThis.setTimeout(f, 1)", "uses setTimeout"],
    [`${providers}/a.ts`, "const env = { setTimeout }", "uses setTimeout"],
    [`${kernel}/a.ts`, "env.setTimeout(f, 1)", undefined],
    [`${kernel}/a.ts`, "interface Env { setTimeout(f: () => void): void }", undefined],
    [`${kernel}/a.ts`, "crypto.randomUUID()", "uses crypto"],
    [`${kernel}/a.ts`, "console.log(1)", "uses console"],
    [`${kernel}/a.test.ts`, "console.log(Date.now())", undefined],
    [`${providers}/blocks.ts`, "console.log(1)", undefined],
    [`${server}/a.ts`, "console.log(Date.now())", undefined],
  ];
  check(rows, (files) => checkPurity(files.map(parse)));
});

describe("shells", () => {
  const rows: Rows = [
    [`${server}/a.ts`, 'import { exec } from "node:child_process"', "imports exec"],
    [`${server}/a.ts`, 'import * as child from "child_process"', "as a whole"],
    [`${server}/a.ts`, 'import { spawn } from "node:child_process"', undefined],
    ["scripts/a.mjs", 'spawn("x", [], { shell: true })', "starts a shell"],
    ["scripts/a.mjs", 'child.spawn("x", { shell: onWindows })', "starts a shell"],
    [`${server}/a.ts`, 'spawn("bash", ["-c", command], { shell: false })', undefined],
    [`${server}/a.ts`, 'const icons = { shell: "terminal" }', undefined],
    [`${server}/a.ts`, "pattern.exec(text)", undefined],
  ];
  check(rows, (files) => checkShells(files.map(parse)));
});

describe("raw HTML", () => {
  const rows: Rows = [
    [`${web}/a.tsx`, "const a = <p dangerouslySetInnerHTML={{ __html: x }} />", "raw HTML"],
    [`${web}/a.ts`, "const props = { dangerouslySetInnerHTML: x }", "raw HTML"],
    [`${web}/a.ts`, "page.body.innerHTML = x", "raw HTML"],
    [`${web}/a.tsx`, "const a = <p>dangerouslySetInnerHTML</p>", undefined],
  ];
  check(rows, (files) => checkRawHtml(files.map(parse)));
});

describe("casts", () => {
  const rows: Rows = [
    [`${web}/a.tsx`, "const a = <p>{(b as unknown as C).d}</p>", "a.tsx:1: say why"],
    [`${web}/a.ts`, "const a = (b as unknown) as C", "say why"],
    [`${web}/a.ts`, "const a = b as any", "say why"],
    [`${web}/a.ts`, "const a = b as never", "say why"],
    [`${web}/a.ts`, "// The library has no such type.\nconst a = b as unknown as C", undefined],
    [`${web}/a.ts`, "const a = b as unknown; const c = d as C; const as = 'a as unknown as b'", undefined],
    [`${web}/a.test.ts`, "const a = b as unknown as C", undefined],
    [`${kernel}/testing/a.ts`, "const a = b as unknown as C", undefined],
    ["test/a.ts", "const a = b as unknown as C", undefined],
  ];
  check(rows, (files) => checkCasts(files.map(parse)));

  it("are counted over all files", () => {
    const text = "// why\nconst a = b as unknown as C\n";
    const files = [`${kernel}/a.ts`, `${web}/a.ts`].map((path) => parse({ path, text }));
    expect(checkCasts(files, 2)).toEqual([]);
    expect(checkCasts(files, 1)).toEqual([
      `2 casts that forget a type, of 1: ${kernel}/a.ts:2, ${web}/a.ts:2`,
    ]);
  });
});

describe("reads of metadata", () => {
  const rows: Rows = [
    [`${web}/a.ts`, 'const turn = block.metadata["turn"]', 'reads metadata["turn"]'],
    [`${web}/a.ts`, 'const turn = block?.metadata?.["turn"]', 'reads metadata["turn"]'],
    [`${web}/a.ts`, 'const turn = blocks.get(id)!.metadata["turn"]', 'reads metadata["turn"]'],
    [`${web}/a.ts`, 'const { metadata } = block; f(metadata["turn"])', 'reads metadata["turn"]'],
    [`${web}/a.ts`, "const { path } = block.metadata as FileMetadata", "casts metadata"],
    [`${web}/a.ts`, "const path = (metadata as { path?: string }).path", "casts metadata"],
    [`${web}/a.ts`, "const turn = block.metadata.turn; const mark = metadata[IMPORT_MARK]", undefined],
    [`${web}/a.ts`, "write(metadata as JsonObject)", undefined],
    [`${web}/a.ts`, 'const width = image["width"]; const a = metadata.of["b"]', undefined],
    [`${web}/a.test.ts`, 'const turn = block.metadata["turn"]', undefined],
    [`${kernel}/model/metadata.ts`, "const own = () => block.metadata as Metadata<K>", undefined],
  ];
  check(rows, (files) => checkMetadataReads(files.map(parse)));
});

describe("switched off tests", () => {
  const rows: Rows = [
    ["test/a.test.ts", "it.only('x', f)", "uses it.only"],
    ["test/a.test.ts", "describe.skip('x', f)", "uses describe.skip"],
    ["test/a.test.ts", "test.concurrent.only('x', f)", "uses test.concurrent.only"],
    ["test/a.test.ts", "xit('x', f)", "switches a test off"],
    ["test/a.test.ts", "it.skipIf(noBrowser)('x', f); list.skip(2)", undefined],
  ];
  check(rows, (files) => checkSwitchedOff(files.map(parse)));
});

describe("sizes", () => {
  const long = (lines: number) => "const a = 1;\n".repeat(lines);
  it("of files", () => {
    expect(checkFileLength([{ path: "a.ts", text: long(600) }])).toEqual([]);
    expect(checkFileLength([{ path: "a.ts", text: long(601) }])).toEqual([
      expect.stringContaining("601 lines"),
    ]);
    expect(checkFileLength([{ path: "a.test.ts", text: long(601) }])).toEqual([]);
    expect(checkFileLength([{ path: `${kernel}/a.ts`, text: long(400) }])).toEqual([]);
    expect(checkFileLength([{ path: `${kernel}/a.ts`, text: long(401) }])).toEqual([
      expect.stringContaining("401 lines; the limit is 400"),
    ]);
  });

  it.each([
    ["function f() {", "}"],
    ["const f = async () => {", "};"],
    ["class A { f() {", "} }"],
  ])("of functions: %s", (open, close) => {
    const sample = (lines: number) =>
      parse({ path: "a.ts", text: `\n${open}\n${long(lines - 2)}${close}\n` });
    expect(checkFunctionLength([sample(70)])).toEqual([]);
    expect(checkFunctionLength([sample(71)])).toEqual([
      expect.stringContaining("a.ts:2 a function of 71 lines"),
    ]);
  });
});

describe("names", () => {
  it.each([
    [`${kernel}/block.ts`, undefined],
    [`${kernel}/text/merge.worker.ts`, undefined],
    [`${kernel}/utils.ts`, "says nothing"],
    [`${kernel}/shared/block.ts`, "says nothing"],
    [`${server}/turn-manager.ts`, "says nothing"],
    [`${server}/turnStart.ts`, "kebab-case"],
    [`${web}/Block.tsx`, "kebab-case"],
    [`${providers}/fixtures/claude/Some_Recording.jsonl`, undefined],
    ["README.md", undefined],
    ["bench/.npmrc", undefined],
    ["docs/decisions/0001-runtime.md", undefined],
  ])("%s: %s", (path, complaint) => {
    expect(checkNames([path])).toEqual(complaint === undefined ? [] : [expect.stringContaining(complaint)]);
  });
});

describe("headers", () => {
  const rows: Rows = [
    [`${kernel}/a.ts`, "/** A. */\nexport const a = 1;", undefined],
    [`${kernel}/a.ts`, "// A.\nexport const a = 1;", undefined],
    [`${providers}/blocks.ts`, "#!/usr/bin/env node\n/** A. */", undefined],
    [`${web}/a.css`, "/* A. */", undefined],
    [`${kernel}/a.ts`, "export const a = 1; // A.", "no header"],
    [`${web}/a.css`, "p {}", "no header"],
    ["bench/a.ts", "export const a = 1;", undefined],
  ];
  check(rows, checkHeaders);
});

describe("rules", () => {
  const spec = { path: "docs/spec/kernel.md", text: "- **[K1]** One.\n- **[K2]** Two.\n" };
  const test = (text: string): File => ({ path: `${kernel}/a.test.ts`, text });

  it.each([
    ["it('[K1] one'); // [K2]", []],
    ["it('[K1] one')", ["docs/spec/kernel.md:2 [K2] is cited by no test"]],
    ["it('[K1] [K2] [K3]')", [`${kernel}/a.test.ts:1 cites [K3], which no page of docs/spec defines`]],
    ["it('[K1] [K2] [Z1]')", []],
  ])("%s", (text, expected) => {
    expect(checkRules([spec, test(text)])).toEqual(expected);
  });

  it("are defined once", () => {
    const again = { path: "docs/spec/wire.md", text: "\n- **[K1]** Again." };
    expect(checkRules([spec, again, test("[K1] [K2]")])).toEqual([
      "docs/spec/wire.md:2 [K1] is already defined at docs/spec/kernel.md:1",
    ]);
  });

  it("are cited by long checks too", () => {
    const load: File = { path: "test/load/weight.ts", text: "/** [K2] A block of ten megabytes. */" };
    expect(checkRules([spec, test("[K1]"), load])).toEqual([]);
  });
});

describe("words", () => {
  const folder = ["", "work", "main"].join("/");
  const host = (name: string) => ["https:", "", name, "x"].join("/");
  const note = ["TO", "DO"].join("");

  check(
    [
      ["README.md", `see ${folder}/a.ts`, "path of one machine"],
      ["README.md", "packages/work/main and ~/work/x and https://a.b/work/", undefined],
      [
        "package-lock.json",
        `"resolved": "${host(["registry", "npmjs", "org"].join("."))}"`,
        "package registry",
      ],
      [".npmrc", host("npm.corp.internal"), "host of one network"],
      ["README.md", host("nodejs.org"), undefined],
    ],
    checkMachine,
  );
  check(
    [
      ["a.ts", `f(); // ${note}: later`, "note to oneself"],
      ["a.ts", `/**\n * ${note} later\n */`, "note to oneself"],
      ["a.ts", `const text = "${note}: later";`, undefined],
      ["a.ts", "// X{3} holds XXX", undefined],
      [`${providers}/fixtures/a.ts`, `// ${note}`, undefined],
    ],
    checkNotes,
  );
  const old = ["De", "sk"].join("");
  const court = ["ya", "rd"].join("");
  check(
    [
      [`${kernel}/write/a.ts`, `export class ${old} {}`, "name that the glossary bans"],
      [`${kernel}/write/a.ts`, `// a ${old} of oak`, undefined],
      ["docs/spec/a.md", `the ${court} is empty`, "word that the glossary bans"],
      ["docs/spec/a.md", "Blockyard is empty", undefined],
    ],
    checkBanned,
  );
});

describe("the walk of a token", () => {
  const walk = (text: string) => [
    { path: "ARCHITECTURE.md", text: `\n## One token\n${text}\n## Next` },
    { path: "packages/kernel/src/a.ts", text: "" },
  ];

  it("names files that exist, and few", () => {
    expect(checkWalk(walk("`kernel/src/a.ts`"))).toEqual([]);
    expect(checkWalk(walk("`kernel/src/b.ts`"))).toHaveLength(1);
    expect(checkWalk(walk(""))).toHaveLength(1);
    expect(checkWalk(walk("`kernel/src/a.ts` ".repeat(26)))).toHaveLength(1);
  });
});

describe("docs", () => {
  const pages = [
    { path: "ARCHITECTURE.md", text: "[words](docs/glossary.md#block) [why](docs/decisions/index.md)" },
    { path: "docs/glossary.md", text: "" },
    { path: "docs/decisions/index.md", text: "[one](0001-runtime.md) [out](https://nodejs.org)" },
    { path: "docs/decisions/0001-runtime.md", text: "[code](../../packages/kernel/) [gone](gone.md)" },
    { path: "docs/alone.md", text: "" },
    { path: "packages/kernel/package.json", text: "" },
  ];
  it("are reached from ARCHITECTURE.md", () => {
    expect(findUnlinked(pages)).toEqual(["docs/alone.md is not linked from ARCHITECTURE.md"]);
  });
  it("link to what exists", () => {
    expect(findBrokenLinks(pages)).toEqual([
      "docs/decisions/0001-runtime.md:1 links to docs/decisions/gone.md, which does not exist",
    ]);
  });
});
