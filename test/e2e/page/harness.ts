/**
 * A real server on a free port, with the built page, and a real browser that is let in by the link: what page tests,
 * the page bench and the screenshots run on. Everything is under a folder of its own and gone afterwards.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProblem, type Kernel } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { type Running, serve } from "../../../packages/server/src/app/serve.ts";
import { StreamIngest } from "../../../packages/server/src/ingest/ingest-stream.ts";
import { buildPage } from "../../../scripts/build-page.mjs";
import { chromiumPath, testBrowserPath } from "./chromium.ts";

const FIXTURES = fileURLToPath(new URL("../../../packages/providers/fixtures/", import.meta.url));

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** As on a phone: a finger points, and nothing hovers. */
  readonly touch?: boolean;
  /** Nothing moves by itself. */
  readonly isStill?: boolean;
  /** Another's link than the owner's. */
  readonly token?: string;
}

export interface PageHarness {
  readonly running: Running;
  readonly kernel: Kernel;
  readonly browser: Browser;
  /** The workspace's folder. */
  readonly root: string;
  /** A page that is let in; what goes wrong in it is in `complaints`. */
  open(path?: string, look?: Look): Promise<Visit>;
  close(): Promise<void>;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors, failed requests, and what the content security policy refused. */
  readonly complaints: readonly string[];
}

/** The program that stands in for Claude Code; what it does is in its prompt. */
export const FAKE_CLAUDE = fileURLToPath(new URL("../agents/fake-claude.mjs", import.meta.url));

interface HarnessOptions {
  readonly fakeClaude?: boolean;
  /** Another program in the place of Claude Code. */
  readonly claude?: string;
  /** The name of the workspace's folder. */
  readonly workspace?: string;
}

export async function openHarness(options: HarnessOptions = {}): Promise<PageHarness> {
  const { fakeClaude = false, workspace = "root" } = options;
  const claude = process.env["BLOCKYARD_CLAUDE"];
  const program = options.claude ?? (fakeClaude ? FAKE_CLAUDE : undefined);
  if (program !== undefined) process.env["BLOCKYARD_CLAUDE"] = program;
  await buildPage({ dev: process.env["PAGE"] === "dev" });
  const folder = mkdtempSync(join(tmpdir(), "blockyard-page-"));
  mkdirSync(join(folder, workspace));
  const config = { home: join(folder, "home"), root: join(folder, workspace), host: "127.0.0.1", port: 0 };
  const running = await serve(config, () => {});
  const browser = await (isTest ? sharedBrowser() : launch());
  return {
    running,
    kernel: running.kernel,
    browser,
    root: config.root,
    open: (path = "/", look = {}) => visit(browser, running, path, look),
    async close() {
      if (claude === undefined) delete process.env["BLOCKYARD_CLAUDE"];
      else process.env["BLOCKYARD_CLAUDE"] = claude;
      if (isTest) await Promise.all(browser.contexts().map((context) => context.close()));
      else await browser.close();
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const isTest = process.env["VITEST"] !== undefined;
let shared: Promise<Browser> | undefined;

/** One for all test files of a worker, which come one after the other: every visit has a context of its own. It ends with the worker. */
async function sharedBrowser(): Promise<Browser> {
  const known = await shared?.catch(() => undefined);
  if (!known?.isConnected()) shared = launch();
  return shared as Promise<Browser>;
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: isTest ? testBrowserPath() : chromiumPath(),
    args: [
      "--font-render-hinting=none",
      "--no-sandbox",
      "--disable-dev-shm-usage",
      "--disable-gpu",
      "--js-flags=--expose-gc",
    ],
  });
}

async function visit(browser: Browser, running: Running, path: string, look: Look): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1280, height: look.height ?? 800 },
    colorScheme: look.dark ? "dark" : "light",
    ...(look.isStill ? { reducedMotion: "reduce" } : {}),
    ...(look.touch ? { hasTouch: true, isMobile: true } : {}),
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  page.on("requestfailed", (request) => {
    // What was under way when the page went elsewhere was not refused by anybody.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") complaints.push(`failed: ${request.url()}`);
  });
  const search = `?link=${running.auth.makeLink(look.token)}`;
  const [place = "", hash] = path.split("#");
  const token = place.includes("?") ? search.replace("?", "&") : search;
  await page.goto(`${running.url}${place}${token}${hash === undefined ? "" : `#${hash}`}`);
  await page.waitForSelector(".sidebar", { state: "attached" });
  return { page, context, complaints };
}

/** A recording, fed in whole; the id of its conversation. */
export async function ingest(kernel: Kernel, provider: string, name: string, title = name): Promise<string> {
  const bytes = readFileSync(join(FIXTURES, name));
  const { conversation, stream } = await startIngest(kernel, provider, title);
  await stream.push(bytes);
  const refused = await stream.end();
  if (refused) throw new Error(refused.message);
  return conversation;
}

/** A recording, line by line: `next` gives one line and says whether there was one. */
export async function replayed(
  kernel: Kernel,
  provider: string,
  name: string,
): Promise<{ readonly conversation: string; next(): Promise<boolean>; end(): Promise<void> }> {
  const lines = readFileSync(join(FIXTURES, name), "utf8").split("\n");
  const { conversation, stream } = await startIngest(kernel, provider, name);
  let at = 0;
  return {
    conversation,
    async next() {
      if (at >= lines.length) return false;
      await stream.push(Buffer.from(`${lines[at++]}\n`));
      return true;
    },
    async end() {
      for (; at < lines.length; at++) await stream.push(Buffer.from(`${lines[at]}\n`));
      await stream.end();
    },
  };
}

async function startIngest(kernel: Kernel, providerName: string, title: string) {
  const provider = providers.get(providerName);
  if (!provider) throw new Error(`no provider ${providerName}`);
  const conversation = await newConversation(kernel, title);
  const stream = new StreamIngest(kernel, { conversation, agent: providerName, provider });
  const refused = await stream.open();
  if (refused) throw new Error(refused.message);
  return { conversation, stream };
}

export async function newConversation(kernel: Kernel, title: string): Promise<string> {
  // Lists are in order of time: what is made later is later, on a fast machine too.
  await new Promise((resume) => setTimeout(resume, 2));
  const id = await kernel.createConversation("tester", title);
  if (isProblem(id)) throw new Error(id.message);
  return id;
}

export interface Said {
  readonly text: string;
  readonly role?: "user" | "model";
  readonly status?: "running" | "done";
}

/** Text blocks one behind the other; their ids. */
export async function say(kernel: Kernel, conversation: string, texts: readonly Said[]): Promise<string[]> {
  const answer = await kernel.write(conversation, {
    agent: "tester",
    plan: (draft) => {
      const ids: string[] = [];
      for (const { text, role = "model", status = "done" } of texts) {
        const block = draft.create({ kind: "text", role, text, status });
        if (isProblem(block)) return block;
        ids.push(block.id);
      }
      return ids;
    },
  });
  if (isProblem(answer)) throw new Error(answer.message);
  return answer;
}
