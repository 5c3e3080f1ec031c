/**
 * How the page is bundled. Everything that the page loads is a file of its own (no inlined scripts, styles or data),
 * so that the content security policy can name `'self'` and nothing else.
 */
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Modules whose only effect is what they export: what the page does not use of them is left out of its bundle. */
const PURE = /packages\/kernel\/src\/|node_modules\/(zod|@codemirror\/state|marked|remend)\//;

/** The fonts of the first screen: the others are fetched when a letter of theirs is met. */
const FIRST_FONTS = /geist(-mono)?-latin-wght-normal.*\.woff2$/;

/** Asks for the first fonts with the page itself, so that the text is drawn in them from the start. */
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

export default defineConfig({
  plugins: [react(), preloadFonts()],
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
