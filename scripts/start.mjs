/** `npm start`: installs what is missing, builds the page if it changed, then runs the server. Arguments are passed on. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root, runProgram, say, serverFlags, setup, withoutNpm } from "./setup.mjs";

const node = await setup("start");
const build = spawnSync(node, [join(root, "scripts", "build-page.mjs")], { encoding: "utf8" });
if (build.status === 0) {
  if (build.stdout.includes("built")) say(build.stdout.trim());
} else {
  say(
    `The page could not be built; the server runs without it.\n${(build.stderr || String(build.error)).trim()}`,
  );
}
await runProgram("packages/server/src/main.ts", process.argv.slice(2), {
  flags: serverFlags,
  needs: "start",
  env: withoutNpm(process.env, root),
});
