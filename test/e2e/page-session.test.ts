/** A real browser's session: bound to the page's origin, over reloads and tabs, beside a viewer's, and useless to other ports. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openHarness, type PageHarness } from "./page/harness.ts";

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness();
});
afterAll(() => harness.close());

const connected = ".sidebar";

it("[AC240] a page on another port gets the cookie, and nothing by it", async () => {
  const { page, context } = await harness.open();
  let stolen = "";
  const other = createServer((request, response) => {
    stolen = request.headers.cookie ?? "";
    response.setHeader("content-type", "text/html").end("<h1>another server</h1>");
  });
  await new Promise<void>((listening) => other.listen(0, "127.0.0.1", listening));
  const { port } = other.address() as AddressInfo;
  const visitor = await context.newPage();
  await visitor.goto(`http://127.0.0.1:${port}/`);
  expect(stolen).toContain("blockyard-");
  const { url } = harness.running;
  const headers = { cookie: stolen, origin: url };
  for (const path of ["/v1/conversations", "/v1/tools", "/health", "/metrics"])
    expect([path, (await fetch(`${url}${path}`, { headers })).status]).toEqual([path, 401]);
  const made = await fetch(`${url}/v1/tools/conversation.create`, { method: "POST", headers, body: "{}" });
  expect(made.status).toBe(401);
  // Its own page finds no key: what a browser keeps for an origin is not shared between ports.
  const keys = await visitor.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
  expect(keys).toEqual([]);
  other.close();
  await page.context().close();
});

it("[AC241] the secret leaves the address, and the session holds over reloads and in other tabs", async () => {
  const { page, context, complaints } = await harness.open("/?x=1");
  await page.waitForFunction(() => !location.search.includes("bind"));
  expect(new URL(page.url()).search).toBe("?x=1");
  const reads = () =>
    page.waitForResponse((answer) => answer.url().endsWith("/v1/tools") && answer.status() === 200);
  const reloaded = reads();
  await page.reload();
  await reloaded;
  const tab = await context.newPage();
  await tab.goto(harness.running.url);
  await tab.waitForSelector(connected);
  await tab.waitForFunction(() => document.querySelector(".composer textarea, .composer [contenteditable]"));
  // The key cannot be read out, not even by the page.
  const extractable = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const opening = indexedDB.open("blockyard");
        opening.onsuccess = () => {
          const asked = opening.result.transaction("keys").objectStore("keys").getAll();
          asked.onsuccess = () => resolve(asked.result.map((key: CryptoKey) => [key.type, key.extractable]));
        };
      }),
  );
  expect(extractable).toEqual([["private", false]]);
  expect(complaints).toEqual([]);
  await context.close();
});

it("[AC129] a viewer's link in the owner's browser takes nothing away from the owner", async () => {
  const { page, context } = await harness.open();
  const viewer = harness.running.auth.create("wall", "viewer");
  await page.goto(`${harness.running.url}/?link=${harness.running.auth.makeLink(viewer)}`);
  await page.waitForFunction(() => !location.search.includes("bind"));
  await page.reload();
  // A viewer has a sentence there instead.
  await page.locator(".composer textarea").waitFor();
  expect(await page.locator(".composer.reading").count()).toBe(0);
  await context.close();
});

it("[V50] a guarded file has a lock that says why, and allows it and takes that back, each signed by the page", async () => {
  writeFileSync(join(harness.root, ".env"), "KEY=1\n");
  const agent = harness.running.auth.create("codex-mcp", "agent");
  const opens = async () => {
    const answer = await fetch(`${harness.running.url}/v1/tools/file.open`, {
      method: "POST",
      headers: { authorization: `Bearer ${agent}` },
      body: JSON.stringify({ path: ".env" }),
    });
    return answer.status;
  };
  const { page, context, complaints } = await harness.open("/files?path=.env");
  await page.getByRole("button", { name: "Guarded: only you can read this" }).click();
  const grants = page.getByRole("region", { name: "Who can read and edit this file" });
  expect(await grants.innerText()).toMatch(/^Guarded: \S+/);
  expect(await opens()).toBe(403);
  await grants.getByLabel("Agent or viewer").fill("codex-mcp");
  await grants.getByRole("button", { name: "Allow" }).click();
  await grants.getByRole("button", { name: "Revoke" }).waitFor();
  expect(await opens()).toBe(200);
  await grants.getByRole("button", { name: "Revoke" }).click();
  await grants.getByRole("button", { name: "Revoke" }).waitFor({ state: "detached" });
  expect(await opens()).toBe(403);
  const { audit } = harness.running.store;
  const done = await audit.read({ order: "first", limit: 100 });
  expect(
    done.filter(({ action }) => action.startsWith("file.")).map(({ action, by }) => [action, by]),
  ).toEqual([
    ["file.grant", "page"],
    ["file.revoke", "page"],
  ]);
  expect(complaints).toEqual([]);
  await context.close();
});

it("[V51] the audit log is read, filtered and saved on the page", async () => {
  const { page, context, complaints } = await harness.open();
  await page.waitForFunction(() => !location.search.includes("bind"));
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Type a command or a conversation").fill("Audit log");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Audit log" });
  const first = dialog.locator("li").first();
  await first.waitFor();
  expect(await first.innerText()).toContain("session.open");
  const saved = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Save as JSON lines" }).click();
  const lines = readFileSync(await (await saved).path(), "utf8")
    .trim()
    .split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { action: string }).action)).toContain("session.open");
  await dialog.getByLabel("Filter").fill("no such thing");
  await dialog.getByText("No entries").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
