/** What `npm run mutation` takes out is where it says: otherwise it would show nothing. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ACCESS_MUTATIONS } from "./access-mutations.ts";
import { ASK_MUTATIONS } from "./ask-mutations.ts";
import { ESCAPE_MUTATIONS } from "./escape-mutations.ts";
import { MUTATIONS } from "./mutations.ts";
import { SAFETY_MUTATIONS } from "./safety-mutations.ts";
import { USE_MUTATIONS } from "./use-mutations.ts";

const ROOT = new URL("../../", import.meta.url);

it.each(
  [
    ...MUTATIONS,
    ...ACCESS_MUTATIONS,
    ...SAFETY_MUTATIONS,
    ...ESCAPE_MUTATIONS,
    ...USE_MUTATIONS,
    ...ASK_MUTATIONS,
  ].map((mutation) => [mutation.name, mutation] as const),
)("[R32] %s", (_, mutation) => {
  for (const { file, find } of [mutation, ...(mutation.also ? [mutation.also] : [])]) {
    const source = readFileSync(fileURLToPath(new URL(file, ROOT)), "utf8");
    expect(source.split(find).length - 1, `${file}: ${find}`).toBe(1);
  }
});
