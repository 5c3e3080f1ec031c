/**
 * How the page is bundled. Everything that the page loads is a file of its own (no inlined scripts, styles or data),
 * so that the content security policy can name `'self'` and nothing else.
 */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Modules whose only effect is what they export: what the page does not use of them is left out of its bundle. */
const PURE = /packages\/kernel\/src\/|node_modules\/(zod|@codemirror\/state|marked|remend)\//;

export default defineConfig({
  plugins: [react()],
  worker: { format: "es" },
  build: {
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      treeshake: { moduleSideEffects: (id) => !PURE.test(id) },
    },
  },
});
