/**
 * How the page is bundled. Everything that the page loads is a file of its own (no inlined scripts, styles or data),
 * so that the content security policy can name `'self'` and nothing else.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { build, defineConfig, type Plugin } from "vite";

/** Modules without side effects: unused exports are left out of the page's bundle. */
const PURE = /packages\/kernel\/src\/|node_modules\/(zod|@codemirror\/state|marked|remend)\//;

/** The fonts of the first screen: the others are fetched when a letter of theirs is met. */
const FIRST_FONTS = /geist(-mono)?-latin-wght-normal.*\.woff2$/;

/** Loads the first fonts with the page itself, so that the text is drawn in them from the start. */
function preloadFonts(): Plugin {
  return {
    name: "preload-fonts",
    transformIndexHtml: {
      order: "post",
      handler: (_html, { bundle }) =>
        Object.keys(bundle ?? {})
          .filter((file) => FIRST_FONTS.test(file))
          .map((file) => ({
            tag: "link",
            attrs: { rel: "preload", href: `/${file}`, as: "font", type: "font/woff2", crossorigin: true },
            injectTo: "head" as const,
          })),
    },
  };
}

/**
 * The document in which diagrams are drawn, as a separate file, whose address is put into diagram/frame-url.ts. Its
 * only script is inline, since a document without an origin may load none from here; the server names that script by
 * its hash.
 */
function diagramFrame(): Plugin {
  return {
    name: "diagram-frame",
    async load(id) {
      if (!id.endsWith("/diagram/frame-url.ts")) return undefined;
      const script = await frameScript(
        fileURLToPath(new URL("./src/diagram/diagram.frame.ts", import.meta.url)),
      );
      const source = `<!doctype html><meta charset="utf-8"><title>Diagram</title><body><script>${script}</script>`;
      const file = this.emitFile({ type: "asset", name: "diagram-frame.html", source });
      return `export const FRAME_URL = import.meta.ROLLUP_FILE_URL_${file};`;
    },
  };
}

async function frameScript(entry: string): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: "error",
    build: {
      ...{ write: false, target: "es2023", minify: true, modulePreload: false, reportCompressedSize: false },
      rolldownOptions: { input: entry, output: { format: "iife" } },
    },
  });
  // It is built for documents as it is: bundling it would cost a second of every build.
  const mermaid = readFileSync(fileURLToPath(import.meta.resolve("@mermaid-js/tiny")), "utf8");
  const [chunk] = Array.isArray(made) ? (made[0]?.output ?? []) : "output" in made ? made.output : [];
  if (chunk?.type !== "chunk") throw new Error("the frame for diagrams was not built");
  // In a document's script these would not be text: the same characters, escaped.
  return `${mermaid}\n${chunk.code}`.replace(/<(?=!--|\/?script)/gi, "\\x3c");
}

export default defineConfig({
  plugins: [react(), preloadFonts(), diagramFrame()],
  worker: { format: "es" },
  build: {
    target: "es2023",
    // Both themes are written once, with light-dark().
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      treeshake: { moduleSideEffects: (id) => !PURE.test(id) },
    },
  },
});
