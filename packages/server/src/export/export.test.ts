// Exports of text that nobody should write into a block, and of text that nobody should send away.

import {
  type Draft,
  type ExportLine,
  exportLines,
  isProblem,
  Kernel,
  type Kind,
  MemoryStore,
  plainTerminal,
  type Role,
  type Status,
} from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { importStream } from "../import/import-stream.ts";
import { nodeEnv } from "../system/env.ts";
import { type Finding, redactText } from "../system/redact.ts";
import { exportAs } from "./export.ts";
import { exportFile } from "./export-file.ts";
import type { Format } from "./format.ts";
import { highlight } from "./highlight.ts";
import { markdownHtml } from "./markdown-html.ts";
import { terminalHtml } from "./terminal-html.ts";

const kernel = new Kernel(nodeEnv, new MemoryStore("epoch"));

interface Written {
  readonly kind: Kind;
  readonly role?: Role;
  readonly text: string;
  readonly side?: boolean;
  readonly metadata?: Record<string, never> | object;
}

async function conversationOf(title: string, blocks: readonly Written[]): Promise<string> {
  const id = await kernel.createConversation("ada", title);
  if (isProblem(id)) throw new Error(id.message);
  for (const { kind, role = "model", text, side = false, metadata = {} } of blocks) {
    const made = await kernel.write(id, {
      agent: "ada",
      plan: (draft) => draft.create({ kind, role, text, status: "done", side, metadata: metadata as never }),
    });
    if (isProblem(made)) throw new Error(made.message);
  }
  return id;
}

async function exported(id: string, format: Format, redact?: (finding: Finding) => void): Promise<string> {
  const record = await kernel.conversation(id);
  if (isProblem(record)) throw new Error(record.message);
  const options = { lines: () => exportLines(kernel, record), raw: async function* () {}, redact };
  return (await gather(exportAs(format, options))).map(String).join("");
}

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const HOSTILE = `<script>alert(1)</script><img src=x onerror=alert(1)> "onmouseover=alert(1) x=" </style></title></pre>`;

describe("[AC350] blocks nested deeper than anybody reads", () => {
  const DEEP = 6_000;
  const says = (
    draft: Draft,
    kind: "text" | "tool_call",
    text: string,
    parent: string | null,
    side: boolean,
  ) => {
    const metadata = kind === "tool_call" ? { toolUseId: text, toolName: "Task" } : {};
    const made = draft.create({ kind, role: "model", text, parent, side, status: "done", metadata });
    if (isProblem(made)) throw new Error(made.message);
    return made.id;
  };

  it.each<[string, (draft: Draft, text: string, parent: string | null) => string]>([
    ["on the side of each other", (draft, text, at) => says(draft, "text", text, at, at !== null)],
    ["as calls of calls", (draft, text, at) => says(draft, "tool_call", text, at, at !== null)],
    [
      "as branches of branches",
      (draft, text, at) => {
        const left = says(draft, "text", text, at, false);
        says(draft, "text", text, at, false);
        return left;
      },
    ],
  ])(
    "%s are in one list: exported whole",
    async (_, write) => {
      const id = await conversationOf("deep", []);
      let made = 0;
      const written = await kernel.write(id, {
        agent: "ada",
        plan: (draft) => {
          let parent: string | null = null;
          for (let i = 0; i < DEEP; i++) parent = write(draft, `said ${i}.`, parent);
          made = draft.record.blocks;
          return {};
        },
      });
      if (isProblem(written)) throw new Error(written.message);
      const page = await exported(id, "html");
      expect(page.match(/ data-block="/g)).toHaveLength(made);
      const markdown = await exported(id, "markdown");
      expect(markdown.match(/said \d+\./g)).toHaveLength(made);
    },
    60_000,
  );
});

describe("[E3] text stays text", () => {
  it.each<[string, Written]>([
    ["text", { kind: "text", text: HOSTILE }],
    ["a user's text", { kind: "text", role: "user", text: HOSTILE, metadata: { label: HOSTILE } }],
    ["a notice", { kind: "text", role: "system", text: HOSTILE, metadata: { notice: HOSTILE } }],
    ["thinking", { kind: "thinking", text: HOSTILE }],
    [
      "a call",
      {
        kind: "tool_call",
        text: HOSTILE,
        metadata: { toolUseId: HOSTILE, toolName: HOSTILE, compactParams: HOSTILE },
      },
    ],
    [
      "code",
      {
        kind: "code",
        text: `${HOSTILE}\n// ${HOSTILE}\n"${HOSTILE}"`,
        metadata: { filename: `${HOSTILE}.ts`, language: HOSTILE },
      },
    ],
    [
      "a command",
      {
        kind: "command",
        text: `\u001b[31m${HOSTILE}`,
        metadata: { command: HOSTILE, stderr: HOSTILE, cwd: HOSTILE },
      },
    ],
    [
      "a change",
      {
        kind: "file_change",
        text: HOSTILE,
        metadata: { changes: [{ path: HOSTILE, kind: "add", diff: `+${HOSTILE}` }] },
      },
    ],
    [
      "a list",
      { kind: "todo", text: HOSTILE, metadata: { items: [{ content: HOSTILE, status: "pending" }] } },
    ],
    [
      "a picture",
      { kind: "image", text: HOSTILE, metadata: { data: HOSTILE, mediaType: `image/svg+xml"${HOSTILE}` } },
    ],
    ["a remote picture", { kind: "image", text: "x", metadata: { url: `javascript:alert(1)//${HOSTILE}` } }],
    ["a file", { kind: "file", text: HOSTILE, metadata: { path: HOSTILE } }],
    ["an error", { kind: "error", text: HOSTILE, metadata: { code: HOSTILE, details: { x: HOSTILE } } }],
    ["the unknown", { kind: "unknown", text: HOSTILE, metadata: { type: HOSTILE, provider: HOSTILE } }],
    [
      "a link",
      {
        kind: "text",
        text: `[x](javascript:alert(1)) [y](data:text/html,${HOSTILE}) ![z](https://e.example/p.png) <b onclick=x>`,
      },
    ],
  ])("%s", async (_, block) => {
    const page = await exported(await conversationOf(HOSTILE, [block]), "html");
    expect(page).toContain("Content-Security-Policy");
    expect(page.replace(/<style>[^<]*<\/style>/, "")).not.toMatch(
      /<(script|img|b|style|iframe)[\s>](?! class="picture" src="data:)/i,
    );
    expect(page).not.toMatch(/<[^>]*\s(on\w+|src)=/i);
    expect(page).not.toMatch(/href="(?!https?:|mailto:)/i);
  });

  it("[E1] the policy allows this style, pictures that are here, and nothing else", async () => {
    const page = await exported(await conversationOf("t", [{ kind: "text", text: "hi" }]), "html");
    expect(page).toMatch(
      /content="default-src &#39;none&#39;; style-src &#39;sha256-[\w+/=]+&#39;; img-src data:; /,
    );
  });

  it("numbers the lines that there are, whether or not the last one ends", async () => {
    const gutterOf = async (text: string) => {
      const id = await conversationOf("lines", [{ kind: "code", text }]);
      return /aria-hidden="true">([^<]*)</.exec(await exported(id, "html"))?.[1];
    };
    expect(await gutterOf("a\nb\n")).toBe("1\n2");
    expect(await gutterOf("a\nb")).toBe("1\n2");
  });

  it("says how many lines are collapsed, whether or not the last one ends", async () => {
    const summaryOf = async (text: string) => {
      const id = await conversationOf("lines", [{ kind: "code", text }]);
      return /<summary>(Show \d+ lines)</.exec(await exported(id, "html"))?.[1];
    };
    const ten = "line\n".repeat(10);
    expect(await summaryOf(ten)).toBeUndefined();
    expect(await summaryOf(`${ten}line`)).toBe("Show 11 lines");
    expect(await summaryOf(`${ten}line\n`)).toBe("Show 11 lines");
  });

  it("[E13] a queued message that was sent is shown once, one that still waits or never ran as what it is", async () => {
    const id = await conversationOf("queue", [{ kind: "text", role: "user", text: "first" }]);
    const waited = async (text: string, status: Status, reason?: string) => {
      const metadata = { notice: "queued", ...(reason === undefined ? {} : { reason }) };
      const plan = (draft: Draft) =>
        draft.create({ kind: "text", role: "user", side: true, text, status, metadata });
      expect(await kernel.write(id, { agent: "ada", plan })).not.toHaveProperty("problem");
    };
    await waited("said later", "done");
    await waited("taken back", "error", "cancelled");
    await waited("cut off", "error", "interrupted");
    await waited("still waits", "pending");
    for (const format of ["html", "markdown"] as const) {
      const page = await exported(id, format);
      for (const text of ["said later", "taken back"]) expect(page).not.toContain(text);
      for (const text of ["first", "cut off", "still waits"]) expect(page).toContain(text);
    }
    expect(await exported(id, "jsonl")).toContain("taken back");
  });

  it("[V25] a result of one endless line is closed, as the page has it", async () => {
    const metadata = { toolUseId: "u", toolName: "Bash" };
    const result = (text: string) => conversationOf("t", [{ kind: "tool_result", text, metadata }]);
    const long = await exported(await result("x".repeat(5_000)), "html");
    expect(long).toContain("<summary>Show 1 line of 5,000 characters</summary>");
    expect(await exported(await result("x".repeat(3_000)), "html")).not.toContain('class="collapse"');
  });

  it.each(["html", "markdown"] as const)(
    "[V40] a long result shows its ends in %s, a failed one its end",
    async (format) => {
      const lines = (mark: string) => Array.from({ length: 20 }, (_, i) => `${mark}${i}`).join("\n");
      const command = (mark: string, exitCode: number) => ({
        ...{ kind: "command" as const, text: lines(mark) },
        metadata: { toolUseId: mark, toolName: "Bash", command: "seq", exitCode },
      });
      const id = await conversationOf("ends", [command("fine", 0), command("bad", 1)]);
      const text = await exported(id, format);
      const [fine = "", bad = ""] =
        format === "html"
          ? [...text.matchAll(/<pre class="excerpt">([\s\S]*?)<\/pre>/g)].map(([, each]) => each)
          : [...text.matchAll(/```console\n\$ seq\n([\s\S]*?)\n\[exit/g)].map(([, each]) => each);
      const shown = (excerpt: string) =>
        excerpt
          .replace(/<[^>]*>/g, "")
          .trim()
          .split("\n");
      const tail = (mark: string, from: number) => lines(mark).split("\n").slice(from);
      expect(shown(fine)).toEqual([...tail("fine", 0).slice(0, 4), "… 13 more lines", ...tail("fine", 17)]);
      expect(shown(bad)).toEqual(tail("bad", 8));
      // The whole is there too, behind a line that opens it.
      expect(text.match(/<summary>Show 20 lines<\/summary>/g)).toHaveLength(2);
      expect(text).toContain("fine9");
    },
  );

  it.each([
    ["tool_result", {}],
    ["code", {}],
    ["command", { command: "seq" }],
    ["file_change", { changes: [{ path: "a", kind: "modify", diff: "+x\n".repeat(40) }] }],
  ] as const)("[V25] a long %s is open where a person allowed its call", async (kind, more) => {
    const known = { toolUseId: "u", toolName: "Any" };
    const text = "line\n".repeat(12);
    const approval = { id: "a", state: "allowed", answeredBy: "ann" };
    for (const asked of [{}, { approval }]) {
      const id = await conversationOf("asked", [
        { kind: "tool_call", text: "{}", metadata: { ...known, stage: "end", ...asked } },
        { kind, text, side: true, metadata: { ...known, ...more } },
      ]);
      const isOpen = "approval" in asked;
      const page = await exported(id, "html");
      // A diff is below its call in any case, but shortened; everything else is in its call's line.
      expect(page.includes('<div class="results">')).toBe(isOpen || kind === "file_change");
      expect(page.includes("<summary>Show all 40 lines")).toBe(!isOpen && kind === "file_change");
      expect(page.includes('<details class="collapse" open>')).toBe(isOpen && kind !== "file_change");
      const markdown = await exported(id, "markdown");
      expect(/<\/details>\s*$/.test(markdown)).toBe(!isOpen);
    }
  });

  it("[E4] a terminal that shows the file obeys nothing in it", async () => {
    const text = "a\u001b]52;c;ZXZpbA==\u0007\u009b2J\bz";
    const toolUseId = text;
    const id = await conversationOf(text, [
      { kind: "text", text },
      { kind: "code", text, metadata: { filename: text } },
      { kind: "command", text, metadata: { command: text, stderr: text, exitCode: 1 } },
      { kind: "tool_call", text, metadata: { toolUseId, toolName: text, displayName: text } },
      { kind: "unknown", text, metadata: { type: text } },
      { kind: "error", text },
    ]);
    expect(await exported(id, "markdown")).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it("[E4] no text ends its own fence", async () => {
    const text = "```\n````\n<details>";
    const markdown = await exported(await conversationOf("t", [{ kind: "code", text }]), "markdown");
    expect(markdown).toContain(`\`\`\`\`\`\n${text}\n\`\`\`\`\``);
  });
});

describe("pieces of a page", () => {
  it.each<[string, string]>([
    [
      "**a** `b` [c](https://x.example/)",
      '<p><strong>a</strong> <code>b</code> <a href="https://x.example/" rel="noopener noreferrer nofollow">c</a></p>',
    ],
    ["- [x] done\n- [ ] open", "<ul><li>☑ done</li><li>☐ open</li></ul>"],
    [
      "```js\nlet a = 1; // b\n```",
      '<pre class="code"><span class="t-keyword">let</span> a = <span class="t-number">1</span>; <span class="t-comment">// b</span>\n</pre>',
    ],
    ["a &amp; b &lt;c&gt;", "<p>a &amp; b &lt;c&gt;</p>"],
    ["a &mdash; b &#8212; &nope;", "<p>a — b — &amp;nope;</p>"],
    [
      "[c](https://x.example/?a=1&amp;b=2)",
      '<p><a href="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow">c</a></p>',
    ],
    ["[c](javascript&colon;alert(1))", '<p><span title="javascript&amp;colon;alert(1)">c</span></p>'],
    ["so $x_1*y_1*z$ is", '<p>so <span class="math">$x_1*y_1*z$</span> is</p>'],
    ["$$\na \\\\\n- b\n$$", '<p class="math">$$\na \\\\\n- b\n$$</p>'],
  ])("markdown %j", (text, expected) => expect(markdownHtml(text).html).toBe(expected));

  it.each<[string, string, string]>([
    ["\u001b[1;31mbad\u001b[0m ok", '<span class="a-bold a-1">bad</span> ok', "bad ok"],
    ["10%\r50%\r100%\r\nnext", "100%\nnext", "100%\nnext"],
    ["\u001b]8;;https://x.example\u0007link\u001b]8;;\u0007", "link", "link"],
    ["\u001b[38;5;12mx\u001b[2K\u001b[?25ly", ' <span class="a-4">y</span>', " y"],
    ["abc\b\bX", "aXc", "aXc"],
    [
      "\u001b[31mred\nstill\u001b[39m not",
      '<span class="a-1">red</span>\n<span class="a-1">still</span> not',
      "red\nstill not",
    ],
  ])("terminal %j", (output, shown, plain) => {
    expect(terminalHtml(output).html).toBe(shown);
    expect(plainTerminal(output)).toBe(plain);
  });

  it.each(["- a\n", "!", ">", "1. ", "**a*b_c__", "*a"])(
    "[R34] markdown that is hard, such as many %j",
    (sign) => {
      const text = `${sign}${(sign === "- a\n" ? "b\n" : sign).repeat(64 * 1024)}`;
      expect(markdownHtml(text).html).toContain('<pre class="plain">');
    },
  );

  it("[R34] beginnings of secrets without an end, and fences without number", async () => {
    for (const sign of [
      "-----BEGIN PRIVATE KEY-----",
      "eyJ-",
      'token="',
      "token='",
      'token=\\"',
      'token="\n',
    ]) {
      const text = `${sign.repeat(64 * 1024)}${"x y ".repeat(10_000)}`;
      expect(redactText(text, () => {})).toBe(text);
    }
    const mixed = ['"', "'", "`", '\\"', "\\'", '\\\\"', '\\\\\\"']
      .map((quote) => `token=${quote}x `)
      .join("");
    const since = performance.now();
    redactText(mixed.repeat(20_000), () => {});
    redactText(`token="${"x ".repeat(3_000)}`.repeat(200), () => {});
    expect(performance.now() - since).toBeLessThan(10_000);
    const id = await conversationOf("fences", [{ kind: "code", text: "```\n".repeat(200_000) }]);
    expect(await exported(id, "markdown")).toContain("````\n```\n");
  });

  it("[R34] hostile code costs time linear in its length", () => {
    const since = performance.now();
    for (const text of [
      "`\\".repeat(100_000),
      '"\\'.repeat(100_000),
      "/*".repeat(100_000),
      "#".repeat(200_000),
    ])
      expect(highlight(text, "ts").html.length).toBeGreaterThan(0);
    expect(performance.now() - since).toBeLessThan(15_000);
  });
});

const SECRETS: readonly (readonly [string, string])[] = [
  ["Anthropic key", `sk-ant-api03-${"a1B2".repeat(10)}`],
  ["OpenAI key", `sk-proj-${"Zz9".repeat(12)}`],
  ["GitHub token", `ghp_${"a1B2".repeat(9)}`],
  ["AWS key", "AKIAIOSFODNN7EXAMPLE"],
  ["Google key", `AIza${"x".repeat(35)}`],
  ["Slack token", "xoxb-1234567890-abcdefghij"],
  ["JSON web token", `eyJhbGciOiJI.eyJzdWIiOiIx.${"s".repeat(20)}`],
  ["private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"],
];

describe("[E10] redaction", () => {
  it.each(SECRETS)("%s", (name, secret) => {
    const seen: string[] = [];
    expect(redactText(`before ${secret} after`, (found) => seen.push(found))).toBe(
      `before [redacted ${name}] after`,
    );
    expect(seen).toEqual([name]);
  });

  it.each<[string, string]>([
    ["postgres://ada:hunter2hunter2@db/x", "postgres://ada:[redacted password in a URL]@db/x"],
    ["Authorization: Bearer abcdefghijklmnopqrstuv", "Authorization: Bearer [redacted bearer token]"],
    ['{"api_key": "correct-horse-battery"}', '{"api_key": "[redacted named secret]"}'],
    ["PASSWORD=correcthorse ./run", "PASSWORD=[redacted named secret] ./run"],
    ['password = "correct horse battery" # mine', 'password = "[redacted named secret]" # mine'],
    ["PASSWORD='a b' ./run 'c d'", "PASSWORD='[redacted named secret]' ./run 'c d'"],
    ["the secret: `a b`, not `c d`", "the secret: `[redacted named secret]`, not `c d`"],
    ['{"password": "a b c", "user": "ada x"}', '{"password": "[redacted named secret]", "user": "ada x"}'],
    ['{"password": "a \\"b\\" c", "n": 1}', '{"password": "[redacted named secret]", "n": 1}'],
    [
      '{"body": "{\\"password\\": \\"a b c\\", \\"user\\": \\"ada x\\"}"}',
      '{"body": "{\\"password\\": \\"[redacted named secret]\\", \\"user\\": \\"ada x\\"}"}',
    ],
    [`password="it's mine"`, 'password="[redacted named secret]"'],
    ['password: "correct horse batt', 'password: "[redacted named secret]'],
    ['password = "correct horse\nand "more"', 'password = "correct horse\nand "more"'],
    [`password: "sk-ant-${"a".repeat(20)} battery"`, 'password: "[redacted named secret]"'],
    [`authorization: "Bearer ${"a".repeat(20)}"`, 'authorization: "Bearer [redacted bearer token]"'],
    ['token: "none", secret: "" and password: "x"', 'token: "none", secret: "" and password: "x"'],
    ["max_tokens: 1234567890 and sk-short", "max_tokens: 1234567890 and sk-short"],
    ["nothing to see", "nothing to see"],
  ])("%j", (text, clean) => expect(redactText(text, () => undefined)).toBe(clean));

  it("happens everywhere, is reported without the secret, and can be imported", async () => {
    const [, secret] = SECRETS[0] as [string, string];
    const id = await conversationOf(`Use ${secret}`, [
      { kind: "text", text: secret },
      {
        kind: "tool_call",
        text: `{"key":"${secret}"}`,
        metadata: {
          toolUseId: "t",
          toolName: "Bash",
          input: { password: "correct horse", passwd: "a b" },
          compactParams: secret,
        },
      },
      {
        kind: "command",
        text: `export KEY=${secret}`,
        metadata: { command: `curl -H 'x: ${secret}'`, stderr: secret },
      },
    ]);
    const findings: Finding[] = [];
    const found = (finding: Finding) => void findings.push(finding);
    for (const format of ["html", "markdown", "jsonl"] as const) {
      expect(await exported(id, format)).toContain(secret);
      expect(await exported(id, format, found)).not.toContain(secret);
    }
    expect(findings.length).toBeGreaterThan(6);
    expect(JSON.stringify(findings)).not.toContain(secret.slice(0, 8));
    expect(new Set(findings.map(({ where }) => where)).size).toBe(4);
    const jsonl = await exported(id, "jsonl", found);
    const lines = jsonl
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as ExportLine);
    expect(
      lines.filter((line) => line.type === "block").every(({ chars, content }) => chars === content.length),
    ).toBe(true);
    const other = new Kernel(nodeEnv, new MemoryStore("other"));
    const body = (async function* () {
      yield Buffer.from(jsonl);
    })();
    expect(await importStream(other, { agent: "ada", role: "owner", by: "token" }, body)).toMatchObject({
      added: 3,
    });
  });

  it("recognizes the provider's own values by their place, not by their name", async () => {
    const [, secret] = SECRETS[0] as [string, string];
    const input = { data: secret, blob: secret, head: secret, epoch: secret, deep: [{ signature: secret }] };
    const id = await conversationOf("Names", [
      { kind: "tool_call", text: "{}", metadata: { toolUseId: "t", toolName: "Post", input } },
    ]);
    expect(await exported(id, "jsonl", () => undefined)).not.toContain(secret);
    const signed = await conversationOf("Signed", [
      { kind: "thinking", text: "…", metadata: { signature: secret, opaque: secret } },
      { kind: "image", text: "", metadata: { data: secret } },
      {
        kind: "tool_result",
        text: "",
        metadata: { toolUseId: "t", toolName: "Show", images: [{ data: secret, mediaType: "image/png" }] },
      },
    ]);
    const kept = await exported(signed, "jsonl", () => undefined);
    expect(kept.split(secret)).toHaveLength(5);
  });
});

describe("files", () => {
  it("[E9] raw lines come byte for byte, in the order of their runs", async () => {
    const id = await conversationOf("Raw", []);
    const runs = ['{"a":1}\n{"b":"é"}\n', '{"c":3}\n'];
    for (const [i, run] of runs.entries())
      await kernel.store.appendRaw({ conversation: id, run: `run-${i}` }, Buffer.from(run));
    const file = await exportFile(kernel, id, "raw", false);
    if (isProblem(file)) throw new Error(file.message);
    const bytes = Buffer.concat((await gather(file.body)).map((piece) => Buffer.from(piece as Uint8Array)));
    expect(bytes.toString()).toBe(runs.join(""));
    expect(file.name).toBe(`${id}.raw.jsonl`);
  });

  it("a conversation that is not there is a problem", async () => {
    expect(await exportFile(kernel, "nowhere", "html", false)).toMatchObject({ problem: "not_found" });
  });
});

describe("[P30] changes that were not compared with the file", () => {
  const diff = "--- a.ts\n+++ a.ts\n@@ -0 +0 @@\n-old\n+new\n";
  const change = { path: "a.ts", kind: "modify" };

  it("are marked, without numbers", async () => {
    const metadata = { changes: [{ ...change, diff, unverified: true }] };
    const id = await conversationOf("t", [{ kind: "file_change", role: "tool", text: diff, metadata }]);
    const page = await exported(id, "html");
    expect(page).toContain("not checked against the file");
    expect(page).not.toContain("@@ -0");
    expect(await exported(id, "markdown")).toContain("`a.ts` *(not checked against the file)*");
  });

  it("[E4] a file that was moved is exported with its new place", async () => {
    const metadata = { changes: [{ ...change, diff, movedTo: "lib/b.ts" }] };
    const id = await conversationOf("t", [{ kind: "file_change", role: "tool", text: diff, metadata }]);
    expect(await exported(id, "html")).toContain("<code>lib/b.ts</code>");
    expect(await exported(id, "markdown")).toContain("**modify** `a.ts` moved to `lib/b.ts`\n");
  });

  it("a sentence is no line of a diff", async () => {
    const metadata = { changes: [change] };
    const id = await conversationOf("t", [
      { kind: "file_change", role: "tool", text: "All updated.", metadata },
    ]);
    expect(await exported(id, "html")).toContain('<p class="dim">All updated.</p>');
    expect(await exported(id, "markdown")).toContain("> All updated.\n");
    expect(await exported(id, "markdown")).not.toContain("```");
  });
});

/** A call with what hangs off it, in this order. */
async function callWith(sides: readonly Written[], metadata: object = {}): Promise<string> {
  const id = await kernel.createConversation("ada", "t");
  if (isProblem(id)) throw new Error(id.message);
  const made = await kernel.write(id, {
    agent: "ada",
    plan: (draft) => {
      const own = { toolUseId: "t", toolName: "Agent", ...metadata };
      const shape = { role: "model", status: "done", side: false } as const;
      const call = draft.create({ ...shape, kind: "tool_call", text: "{}", metadata: own as never });
      if (isProblem(call)) return call;
      for (const { kind, role = "tool", text, metadata: more = {} } of sides) {
        const under = { kind, role, text, status: "done", side: true, parent: call.id } as const;
        const side = draft.create({ ...under, metadata: more as never });
        if (isProblem(side)) return side;
      }
      return null;
    },
  });
  if (isProblem(made)) throw new Error(made.message);
  return id;
}

const REPORT = { toolUseId: "t", toolName: "Agent" };

describe("[E15] results in their proper form", () => {
  it("a report is Markdown, after the work that led to it", async () => {
    const id = await callWith([
      { kind: "text", role: "user", text: "Look around" },
      { kind: "text", role: "model", text: "Looking" },
      { kind: "tool_result", text: "## Found\n\nIt is **there**.", metadata: REPORT },
      { kind: "text", role: "system", text: "ended", metadata: { notice: "task" } },
    ]);
    const page = await exported(id, "html");
    expect(page).toContain("<strong>there</strong>");
    const places = ["Look around", "Looking", "<strong>there", "ended"].map((text) => page.indexOf(text));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    const markdown = await exported(id, "markdown");
    expect(markdown).toContain("\n## Found\n\nIt is **there**.\n");
    expect(markdown.indexOf("Looking")).toBeLessThan(markdown.indexOf("## Found"));
  });

  it("[V4] a result that only the line shows comes after the work too", async () => {
    const id = await callWith(
      [
        { kind: "text", role: "model", text: "Looking" },
        { kind: "tool_result", text: "All printed", metadata: { toolUseId: "t", toolName: "exec" } },
      ],
      { toolName: "exec" },
    );
    for (const format of ["html", "markdown"] as const) {
      const file = await exported(id, format);
      expect(file.indexOf("Looking"), format).toBeGreaterThan(0);
      expect(file.indexOf("All printed"), format).toBeGreaterThan(file.indexOf("Looking"));
    }
  });

  it("another tool's text stays unchanged, and so does a failure", async () => {
    const plain = { kind: "tool_result", text: "**x**", metadata: { ...REPORT, toolName: "Grep" } } as const;
    const failed = { kind: "tool_result", text: "**y**", metadata: { ...REPORT, isError: true } } as const;
    const page = await exported(await callWith([plain, failed]), "html");
    expect(page).not.toContain("<strong>");
  });

  it("a picture is shown once", async () => {
    const images = [{ data: "iVBORw0KGgo=", mediaType: "image/png" }];
    const count = async (sides: readonly Written[]) =>
      (await exported(await callWith(sides, { images }), "html")).split("<img").length - 1;
    expect(await count([])).toBe(1);
    expect(await count([{ kind: "image", text: "a", metadata: { ...images[0], toolUseId: "t" } }])).toBe(1);
    expect(await count([{ kind: "tool_result", text: "a", metadata: { ...REPORT, images } }])).toBe(1);
    expect(await count([{ kind: "code", text: "a", metadata: { images } }])).toBe(1);
    expect(await count([{ kind: "todo", text: "", metadata: { items: [] } }])).toBe(1);
  });
});

describe("[E14] as it was written", () => {
  it("a closed thought", async () => {
    const id = await conversationOf("t", [
      { kind: "thinking", text: "\n\nuser_id where a > b, *not* `c`\nmore" },
    ]);
    expect(await exported(id, "html")).toContain(">user_id where a &gt; b, *not* `c`</span>");
  });

  it("titles, notices and errors of a Markdown export", async () => {
    const text = "1. user_id _x_ *y* <b> [z](u) `c`";
    const escaped = "1\\. user_id \\_x\\_ \\*y\\* \\<b> \\[z\\](u) \\`c\\`";
    const id = await conversationOf(text, [
      { kind: "text", role: "system", text, metadata: { notice: "hook" } },
      { kind: "error", role: "system", text },
    ]);
    const markdown = await exported(id, "markdown");
    expect(markdown).toContain(`# ${escaped}\n`);
    expect(markdown).toContain(`> hook: ${escaped.replace("1\\.", "1.")}\n`);
    expect(markdown).toContain(`> **Error:** ${escaped}\n`);
  });
});

describe("[E16] answers with sources", () => {
  const a = { url: "https://a.example/x(1)", title: "A [1]" };
  const citations = [
    { ...a, snippet: "said *there*", start: 0, end: 3 },
    { url: "document:0", title: "Notes", start: 4, end: 8 },
    { ...a, snippet: "and there", start: 4, end: 8 },
  ];

  it("numbers in the text, one list, each source once, with the cited passages", async () => {
    const id = await conversationOf("t", [{ kind: "text", text: "One two.", metadata: { citations } }]);
    const page = await exported(id, "html");
    expect(page).toContain("One[1] two.[1][2]");
    expect(page.split('href="https://a.example/x(1)"')).toHaveLength(2);
    expect(page).toContain(
      '<blockquote class="snippet">said *there*</blockquote><blockquote class="snippet">and there</blockquote>',
    );
    const markdown = await exported(id, "markdown");
    expect(markdown).toContain("One\\[1] two.\\[1]\\[2]\n");
    expect(markdown).toContain(
      "1. [A \\[1\\]](<https://a.example/x(1)>)\n   > said \\*there\\*\n\n   > and there\n2. Notes\n",
    );
  });

  it("links that a result has in its text are not listed again", async () => {
    const metadata = { toolUseId: "t", toolName: "WebSearch", citations: [{ url: "https://a.example/" }] };
    const listed = { kind: "tool_result", text: "- [A](https://a.example/)", metadata } as const;
    expect((await exported(await callWith([listed]), "html")).split("https://a.example/")).toHaveLength(2);
    const other = await exported(await callWith([{ ...listed, text: "Nothing" }]), "html");
    expect(other).toContain('href="https://a.example/"');
  });
});

it("[V122] the text of a command that somebody allowed stands with what it printed, and not in its line as well", async () => {
  const call = (ask: object) => ({
    kind: "tool_call" as const,
    text: "{}",
    metadata: { toolUseId: "1", toolName: "Bash", stage: "end", input: { command: "make all" }, ...ask },
  });
  const ran = {
    kind: "command" as const,
    text: "built",
    side: true,
    metadata: { command: "make all", exitCode: 0 },
  };
  const allowed = { ask: { id: "a", kind: "permission", state: "allowed", answeredBy: "ada" } };
  const lineOf = async (ask: object) => {
    const page = await exported(await conversationOf("run", [call(ask), ran]), "html");
    expect(page).toContain("make all");
    return /<summary class="tool-line">.*?<\/summary>/s.exec(page)?.[0];
  };
  expect(await lineOf({})).toContain("make all");
  expect(await lineOf(allowed)).not.toContain("make all");
});

it("[V127] only calls that did work have steps: a command with only a note of its end has none", async () => {
  const input = { command: "sleep 6", run_in_background: true };
  const metadata = { toolUseId: "1", toolName: "Bash", stage: "end", input };
  const ran = {
    kind: "command" as const,
    text: "In the background",
    side: true,
    metadata: { command: "sleep 6" },
  };
  const ended = { kind: "text" as const, role: "system" as const, text: "It has ended", side: true };
  const page = await exported(
    await conversationOf("background", [
      { kind: "tool_call" as const, text: "{}", metadata },
      ran,
      { ...ended, metadata: { notice: "task" } },
    ]),
    "html",
  );
  expect(page).toContain("It has ended");
  expect(page).not.toContain("0 steps");
});

it("[V122] the line of a command names the only file that it changed, which nothing below does", async () => {
  const changes = [{ path: "via-shell.txt", kind: "add", diff: "@@ -0,0 +1 @@\n+hello\n" }];
  const shell = { toolName: "shell", input: { command: "apply_patch <<'EOF'" } };
  const page = await exported(
    await callWith([{ kind: "file_change", text: "", metadata: { changes } }], shell),
    "html",
  );
  const line = /<summary class="tool-line">.*?<\/summary>/s.exec(page)?.[0];
  expect(line).toContain("apply_patch");
  expect(line).toContain("<code>via-shell.txt</code>");
});

it("[V122] the error of a call without a result is shown once", async () => {
  const failed = { toolName: "fail", success: false, error: "no such tool", shortResult: "no such tool" };
  const page = await exported(await callWith([], failed), "html");
  expect(page.split("no such tool")).toHaveLength(2);
});

it("[P31] a repeated message says so", async () => {
  const id = await conversationOf("t", [
    { kind: "error", role: "system", text: "no", metadata: { times: 6 } },
    {
      kind: "text",
      role: "system",
      text: "Retrying",
      metadata: { notice: "retry", times: 3, extra: { maxRetries: 10 } },
    },
  ]);
  const page = await exported(id, "html");
  expect(page).toContain('<span class="times">×6</span>');
  expect(page).toContain('<span class="times">(attempt 3 of 10)</span>');
  expect(await exported(id, "markdown")).toContain("> **Error:** no ×6\n\n> Retrying (attempt 3 of 10)\n");
});

it("[V133] a warning is a notice in exports; what stopped a turn is an error", async () => {
  const warned = {
    kind: "error",
    role: "system",
    text: "careful",
    metadata: { notice: "warning", code: "c" },
  } as const;
  const id = await conversationOf("t", [warned, { kind: "error", role: "system", text: "no" }]);
  const page = await exported(id, "html");
  expect(page).toContain('<span class="notice-text">careful</span>');
  expect(page.match(/class="error"/g)).toHaveLength(1);
  expect(await exported(id, "markdown")).toContain("> warning: careful\n\n> **Error:** no\n");
});

it("[V129] [V132] exports name tools for people, and leave the conversation's folder out of paths", async () => {
  const id = await conversationOf("t", [
    {
      kind: "tool_call",
      role: "model",
      text: "{}",
      metadata: { toolUseId: "u", toolName: "search_file_content", compactParams: "TODO in /repo/shop/src" },
    },
  ]);
  const made = await kernel.write(id, {
    agent: "ada",
    plan: (draft) => {
      draft.conversation({ metadata: { cwd: "/repo/shop" } });
      return null;
    },
  });
  if (isProblem(made)) throw new Error(made.message);
  const page = await exported(id, "html");
  expect(page).toContain(
    '<span class="tool-name">Search</span> <span class="tool-params">TODO in src</span>',
  );
  expect(page).toContain("<code>search_file_content</code>");
  const markdown = await exported(id, "markdown");
  expect(markdown).toContain("Search</b> TODO in src");
  expect(markdown).toContain("`search_file_content`");
});

it("[P32] exports show the session facts", async () => {
  const id = await conversationOf("t", [{ kind: "text", text: "x" }]);
  const session = {
    claude: { permissionMode: "plan", tools: ["Bash"], mcpServers: [{ name: "d_b*", status: "failed" }] },
  };
  const made = await kernel.write(id, {
    agent: "ada",
    plan: (draft) => {
      draft.conversation({ provider: "claude", metadata: { session } });
      return null;
    },
  });
  if (isProblem(made)) throw new Error(made.message);
  expect(await exported(id, "html")).toContain("<dt>MCP servers</dt><dd>d_b* (failed)</dd>");
  expect(await exported(id, "markdown")).toContain(
    "- Permission mode: Plan\n- MCP servers: d_b\\* (failed)\n- Tools: Bash\n",
  );
});
