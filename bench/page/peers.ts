/**
 * The same stream through our markdown and through the renderers that others use, each alone in a page (entry.peer.ts): what a
 * token costs behind a short and a long text. The page is built for the bench, served on loopback, and gone afterwards.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { build } from "vite";
import type { Report } from "../bench.ts";
import { installPeers } from "../peer.ts";
import { measured, textOf, wordsOf } from "./load.ts";

const ENTRY = fileURLToPath(new URL("./entry.peer.ts", import.meta.url));
const RENDERERS = ["ours", "react-markdown", "streamdown"] as const;
const SIZES = [1_000, 100_000] as const;
/** Short: the slowest of them would otherwise take minutes. */
const SECONDS = 4;
const TOKENS_PER_SECOND = 1_000;

export interface PeerFigures {
  /** The price of a frame behind 100 KB: that of the cheaper of the others, over ours. */
  readonly peerFrameRatio: number;
}

export async function comparePeers(browser: Browser, report: Report): Promise<PeerFigures> {
  await installPeers();
  const folder = mkdtempSync(join(tmpdir(), "blockyard-peers-"));
  let server: Server | undefined;
  try {
    await buildEntry(folder);
    server = await serveFolder(folder);
    const { port } = server.address() as AddressInfo;
    const costs = new Map<string, number>();
    const rows: Record<string, string | number>[] = [];
    for (const renderer of RENDERERS) {
      const row: Record<string, string | number> = { renderer };
      for (const chars of SIZES) {
        const page = await browser.newPage();
        await page.goto(`http://127.0.0.1:${port}/?renderer=${renderer}`);
        const seen = await grown(page, chars);
        await page.close();
        costs.set(`${renderer} ${chars}`, seen.frameMs);
        row[`${chars / 1_000} KB: µs a token`] = Math.round(seen.tokenUs);
        row[`${chars / 1_000} KB: busy`] = `${Math.round(seen.busyShare * 100)} %`;
        row[`${chars / 1_000} KB: ms a frame`] = seen.frameMs.toFixed(1);
      }
      rows.push(row);
    }
    report.note(`${SECONDS} s of ${TOKENS_PER_SECOND} tokens a second through a renderer alone in a page:`);
    report.table(rows);
    const costOf = (renderer: string) => costs.get(`${renderer} ${SIZES[1]}`) ?? Number.NaN;
    const others = RENDERERS.filter((renderer) => renderer !== "ours").map(costOf);
    return { peerFrameRatio: Math.min(...others) / costOf("ours") };
  } finally {
    server?.close();
    server?.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Seen {
  readonly tokenUs: number;
  readonly busyShare: number;
  /** What a renderer that falls behind saves per token, it loses here: it draws fewer frames, each dearer. */
  readonly frameMs: number;
}

/** Lets a text of this length grow; a page that falls behind is given its time to catch up, which counts. */
async function grown(page: Page, chars: number): Promise<Seen> {
  await page.waitForFunction(() => "grow" in window);
  await page.evaluate((text) => (window as unknown as Growing).grow(text), textOf(chars));
  await settled(page);
  const pieces = Array.from({ length: (SECONDS * 1_000) / 16 }, (_, i) =>
    wordsOf(Math.round(i * 0.016 * TOKENS_PER_SECOND), Math.round((i + 1) * 0.016 * TOKENS_PER_SECOND)),
  );
  const source = textOf(chars) + pieces.join("");
  const load = await measured(page, async () => {
    await page.evaluate(async (all) => {
      const started = performance.now();
      for (let i = 0; i < all.length; i++) {
        const early = started + i * 16 - performance.now();
        if (early > 0) await new Promise((resume) => setTimeout(resume, early));
        (window as unknown as Growing).grow(all[i] as string);
      }
    }, pieces);
    await settled(page);
  });
  const shown = await page.evaluate(() => document.querySelector("main")?.textContent ?? "");
  if (count(shown) !== count(source)) throw new Error("a renderer does not show the whole text");
  return {
    tokenUs: (load.busySeconds * 1e6) / (SECONDS * TOKENS_PER_SECOND),
    busyShare: load.busySeconds / load.seconds,
    frameMs: (load.busySeconds * 1_000) / load.tasks,
  };
}

function count(text: string): number {
  return text.split("writes").length;
}

interface Growing {
  grow(piece: string): void;
}

/** Two frames later everything sent has been drawn. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}

async function buildEntry(folder: string): Promise<void> {
  const before = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  try {
    await build({
      configFile: false,
      logLevel: "error",
      define: { "process.env.NODE_ENV": '"production"' },
      worker: { format: "es" },
      build: {
        outDir: folder,
        emptyOutDir: true,
        target: "es2023",
        rolldownOptions: { input: ENTRY, output: { entryFileNames: "entry.js" } },
      },
    });
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}

/** Serves what was built, and a page that loads it. */
function serveFolder(folder: string): Promise<Server> {
  const server = createServer((request, response) => {
    const name = /^\/([\w./-]+\.js)$/.exec(request.url ?? "")?.[1];
    if (name === undefined || name.includes("..")) {
      response.setHeader("content-type", "text/html");
      response.end('<!doctype html><meta charset="utf-8"><script type="module" src="/entry.js"></script>');
      return;
    }
    response.setHeader("content-type", "text/javascript");
    response.end(readFileSync(join(folder, name)));
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}
