/** Loaded before a command: writes down, at its end, which modules it has loaded, built-in ones aside. */
import { writeFileSync } from "node:fs";
import { registerHooks } from "node:module";

const loaded: string[] = [];
registerHooks({
  load(url, context, next) {
    if (!url.startsWith("node:") && url !== import.meta.url) loaded.push(url);
    return next(url, context);
  },
});
process.on("exit", () => writeFileSync(process.env["LOADED_TO"] as string, JSON.stringify(loaded)));
