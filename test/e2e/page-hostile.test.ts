/**
 * Hostile payloads through every kind and field, in a real browser: no script runs, nobody is asked for anything, the
 * content security policy has nothing to refuse.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { isProblem, type JsonObject, KINDS, type Kind } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newConversation, openHarness, type PageHarness, say } from "./page/harness.ts";
import { hostileDiagrams, hostilePayloads } from "./page/hostile.ts";
import { toEnd } from "./page/reader.ts";

let harness: PageHarness;
let canary: Server;
let canaryUrl: string;
const asked: string[] = [];

beforeAll(async () => {
  harness = await openHarness();
  canary = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  });
  await new Promise<void>((ready) => canary.listen(0, "127.0.0.1", ready));
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
}, 180_000);

afterAll(async () => {
  canary?.close();
  await harness?.close();
});

/** Metadata of each kind, with the payload in every field that holds a text. */
const METADATA: Readonly<Record<Kind, (payload: string) => JsonObject>> = {
  text: (payload) => ({
    label: payload,
    citations: [{ url: payload, title: payload, snippet: payload }],
    provider: payload,
    model: payload,
  }),
  thinking: (payload) => ({ signature: payload }),
  tool_call: (payload) => ({
    toolUseId: payload,
    toolName: payload,
    displayName: payload,
    compactParams: payload,
    shortResult: payload,
    error: payload,
    progress: payload,
    server: payload,
    input: { command: payload, [payload.slice(0, 40)]: payload },
    images: [{ data: payload, mediaType: payload }],
    approval: { id: payload, state: "asked", title: payload, input: { command: payload } },
  }),
  tool_result: (payload) => ({
    toolUseId: "t",
    toolName: payload,
    isError: true,
    citations: [{ url: payload }],
  }),
  code: (payload) => ({ filename: payload, language: payload, startLine: 3 }),
  command: (payload) => ({ command: payload, stderr: payload, cwd: payload, exitCode: 1 }),
  file_change: (payload) => ({
    changes: [
      { path: payload, kind: "modify", diff: `@@ -1 +1 @@\n-${payload}\n+${payload} more`, movedTo: payload },
    ],
  }),
  todo: (payload) => ({ items: [{ content: payload, status: "in_progress", activeForm: payload }] }),
  image: (payload) => ({ data: payload, mediaType: payload, url: payload, blob: payload.slice(0, 60) }),
  file: (payload) => ({ path: payload, language: payload }),
  error: (payload) => ({ code: payload, details: { [payload.slice(0, 40)]: payload } }),
  unknown: (payload) => ({ type: payload, provider: payload }),
};

describe("hostile payloads", () => {
  test.each(KINDS)("[R37] every payload in every field of a %s", async (kind) => {
    const payloads = hostilePayloads(canaryUrl);
    expect(payloads.length).toBeGreaterThan(270);
    const conversation = await newConversation(harness.kernel, payloads[0] as string);
    let refused = 0;
    for (let i = 0; i < payloads.length; i += 50) {
      const written = await harness.kernel.write(conversation, {
        agent: "tester",
        plan: (draft) => {
          for (const payload of payloads.slice(i, i + 50)) {
            const made = draft.create({
              kind,
              role: "model",
              text: payload,
              status: "done",
              metadata: METADATA[kind](payload),
            });
            if (isProblem(made)) refused++;
          }
          return null;
        },
      });
      expect(isProblem(written)).toBe(false);
    }
    expect(refused).toBe(0);
    const { page, complaints } = await harness.open(`/c/${conversation}`, { height: 2_400 });
    await page.waitForSelector("article");
    await page.evaluate(() =>
      document
        .querySelectorAll<HTMLElement>("button[aria-expanded=false]:not([aria-haspopup])")
        .forEach((button) => {
          button.click();
        }),
    );
    for (let i = 0; i < 30; i++) {
      const isAtStart = await page.evaluate(() => {
        const list = document.querySelector(".list") as HTMLElement;
        list.scrollTop -= 2_200;
        return list.scrollTop === 0 && !list.textContent?.includes("Loading older");
      });
      await page.waitForTimeout(40);
      if (isAtStart) break;
    }
    expect(await page.evaluate(() => (window as { hits?: number }).hits ?? 0)).toBe(0);
    expect(asked).toEqual([]);
    expect(complaints).toEqual([]);
    const links = await page
      .locator(".list a")
      .evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).protocol));
    expect(links.filter((protocol) => !["http:", "https:", "mailto:"].includes(protocol))).toEqual([]);
    await page.context().close();
  });

  const many = <T>(count: number, entry: (at: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => entry(at));
  test.each<[Kind, string, JsonObject]>([
    ["todo", "entries", { items: many(50_000, (at) => ({ content: `entry ${at}`, status: "pending" })) }],
    [
      "file_change",
      "files",
      { changes: many(5_000, (at) => ({ path: `src/${at}.ts`, kind: "modify", diff: "" })) },
    ],
    [
      "text",
      "sources",
      { citations: many(20_000, (at) => ({ url: `https://example.org/${at}`, title: `${at}` })) },
    ],
  ])("[V175] a %s with more %s than anybody reads stays a page that answers", async (kind, _, metadata) => {
    const conversation = await newConversation(harness.kernel, "many");
    const written = await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) => draft.create({ kind, role: "model", text: "many", status: "done", metadata }),
    });
    expect(isProblem(written) && written.message).toBe(false);
    const { page } = await harness.open(`/c/${conversation}`);
    await page.waitForSelector("article");
    await page.waitForTimeout(500);
    expect(await page.evaluate(() => document.querySelectorAll("*").length)).toBeLessThan(20_000);
    await page.context().close();
  });

  const hidden = "r\u200bm \u202eoN \u0441url";
  const spelt = "r\\u{200b}m \\u{202e}oN \\u{441}url";
  test.each<[string, JsonObject, number]>([
    [
      "question",
      {
        kind: "question",
        questions: [
          {
            id: "0",
            header: hidden,
            question: `${hidden}?`,
            multiple: false,
            options: [{ label: hidden, description: hidden }, { label: "No" }],
          },
          { id: "1", question: "And?", multiple: false, options: [{ label: "Yes" }] },
        ],
      },
      3,
    ],
    [
      "form",
      {
        kind: "elicitation",
        form: {
          message: hidden,
          schema: {
            type: "object",
            properties: {
              a: { type: "string", title: hidden, description: hidden },
              b: { type: "boolean", title: hidden },
            },
          },
        },
      },
      4,
    ],
  ])("[AC330] what a %s says is spelt out wherever it stands", async (_, asks, times) => {
    const conversation = await newConversation(harness.kernel, "asked");
    const ask = { id: "a", state: "asked", title: "Asked", input: {}, ...asks };
    const metadata = { toolName: "Ask", toolUseId: "q", stage: "running", ask };
    const written = await harness.kernel.write(conversation, {
      agent: "tester",
      plan: (draft) =>
        draft.create({ kind: "tool_call", role: "model", text: "{}", status: "running", metadata }),
    });
    expect(isProblem(written) && written.message).toBe(false);
    const { page } = await harness.open(`/c/${conversation}`);
    const shown = page.locator("article form");
    await shown.waitFor();
    const words = await shown.innerText();
    expect(words.split(spelt).length - 1).toBeGreaterThanOrEqual(times);
    expect(words).not.toContain("\u202e");
    await page.context().close();
  });

  test("[R37] every diagram, drawn: what is shown has no script and points nowhere", async () => {
    const sources = hostileDiagrams(canaryUrl);
    const conversation = await newConversation(harness.kernel, "diagrams");
    const { page, complaints } = await harness.open(`/c/${conversation}`);
    // In every document, the frame's too.
    await page.addInitScript(() => Object.assign(window, { hits: 0 }));
    const drawn: string[] = [];
    for (const source of sources) {
      const [block = ""] = await say(harness.kernel, conversation, [
        { text: `\`\`\`mermaid\n${source}\n\`\`\`` },
      ]);
      const row = page.locator(`[data-block="${block}"]`);
      await toEnd(page);
      await row.locator(".fence-tool").click();
      await row.locator(".diagram img, .diagram-note.failed").waitFor();
      for (const frame of page.frames())
        expect(await frame.evaluate(() => (window as { hits?: number }).hits ?? 0).catch(() => 0)).toBe(0);
      const image = row.locator(".diagram img");
      if ((await image.count()) > 0) drawn.push((await image.getAttribute("src")) ?? "");
    }
    // Most can be drawn: it is not the parser that keeps them in.
    expect(drawn.length).toBeGreaterThan(sources.length / 2);
    for (const url of drawn) {
      expect(url).toMatch(/^data:image\/svg\+xml;/);
      const tags = decodeURIComponent(url).match(/<[^>]*>/g) ?? [];
      expect(tags.filter((tag) => /^<(script|foreignObject|image|iframe|img)|\son\w+=/i.test(tag))).toEqual(
        [],
      );
      expect(tags.filter((tag) => tag.includes(canaryUrl) || tag.includes("javascript:"))).toEqual([]);
      const [, css = ""] = /<style>(.*?)<\/style>/s.exec(decodeURIComponent(url)) ?? [];
      expect(css).not.toMatch(/@import|url\((?!&#34;#)/);
    }
    expect(asked).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  }, 180_000);
});
