/**
 * The built page, read once from packages/web/dist and served from memory. Only files of that folder, by exact name; any
 * other path without a dot is the page itself, whose router takes over.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { framePolicy } from "../access/content-policy.ts";

interface PageFile {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  /** Its name changes with its content. */
  readonly immutable: boolean;
  /** Its content security policy, where that is not the page's. */
  readonly policy?: string;
}

export interface PageFiles {
  file(path: string): PageFile | undefined;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".json": "application/json",
  ".woff2": "font/woff2",
  ".map": "application/json",
};

export const DIST = fileURLToPath(new URL("../../../web/dist", import.meta.url));

/** The document in which diagrams are drawn. */
const FRAME = /^\/assets\/diagram-frame-[\w-]+\.html$/;

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Blockyard</title>
<h1>The page is not built</h1><p>Run <code>npm start</code> from the project's folder: it builds the page.</p></html>`;

export function pageFiles(folder: string): PageFiles {
  const files = new Map<string, PageFile>();
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const name = `/${relative(folder, path).split(sep).join("/")}`;
      const mediaType = MEDIA_TYPES[extname(name)] ?? "application/octet-stream";
      const bytes = readFileSync(path);
      const policy = FRAME.test(name) ? { policy: framePolicy(hashOfScript(bytes)) } : {};
      files.set(name, { bytes, mediaType, immutable: name.startsWith("/assets/"), ...policy });
    }
  }
  const notBuilt = { bytes: Buffer.from(NOT_BUILT), mediaType: "text/html; charset=utf-8", immutable: false };
  return {
    file(path) {
      const exact = files.get(path);
      if (exact) return exact;
      const last = path.slice(path.lastIndexOf("/") + 1);
      return last.includes(".") || path.startsWith("/v1/")
        ? undefined
        : (files.get("/index.html") ?? notBuilt);
    },
  };
}

/** Of the only script of a document, which the page's build has put there. */
function hashOfScript(document: Buffer): string {
  const [from, to] = [document.indexOf("<script>"), document.lastIndexOf("</script>")];
  return createHash("sha256")
    .update(document.subarray(from + "<script>".length, to))
    .digest("base64");
}
