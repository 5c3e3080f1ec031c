/** Whether somebody is logged in: as the agent reports, and as the page shows it. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { nodeEnv } from "../system/env.ts";
import { logins } from "./logins.ts";

const folder = mkdtempSync(join(tmpdir(), "blockyard-logins-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that answers each line with what `answer` makes of it. */
function program(name: string, answer: string): string {
  const path = join(folder, name);
  const text = `#!/usr/bin/env node
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  const said = (${answer})(asked);
  if (said) console.log(JSON.stringify(said));
});
`;
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

const claude = (account: object) =>
  `(asked) => ({ type: "control_response", response: { subtype: "success", request_id: asked.request_id, response: { account: ${JSON.stringify(account)} } } })`;
const codex = (account: object) =>
  `(asked) => asked.id === undefined ? undefined : ({ id: asked.id, result: asked.method === "initialize" ? { userAgent: "codex/0.166.0 (x)" } : asked.method === "account/read" ? ${JSON.stringify(account)} : { data: [] } })`;

it("[D66] an agent without a login says how to log in, another shows its account; a missing one says nothing", async () => {
  const path = [dirname(process.execPath), "/usr/bin", "/bin"].join(":");
  const out = await logins(
    {
      PATH: path,
      BLOCKYARD_CLAUDE: program("claude-out.cjs", claude({ tokenSource: "none", apiProvider: "firstParty" })),
      BLOCKYARD_CODEX: program("codex-out.cjs", codex({ account: null, requiresOpenaiAuth: true })),
    },
    nodeEnv,
  );
  expect(out.get("claude")).toMatchObject({ state: "out", how: expect.stringContaining("/login") });
  expect(out.get("codex")).toMatchObject({ state: "out", how: expect.stringContaining("codex login") });
  const within = await logins(
    {
      PATH: path,
      BLOCKYARD_CLAUDE: program(
        "claude-in.cjs",
        claude({ tokenSource: "none", apiKeySource: "ANTHROPIC_API_KEY" }),
      ),
      BLOCKYARD_CODEX: program(
        "codex-in.cjs",
        codex({ account: { type: "chatgpt", planType: "plus" }, requiresOpenaiAuth: true }),
      ),
    },
    nodeEnv,
  );
  expect(within.get("claude")).toEqual({ state: "in", account: "ANTHROPIC_API_KEY" });
  expect(within.get("codex")).toEqual({ state: "in", account: "plus" });
  const none = await logins({ PATH: folder }, nodeEnv);
  expect([...none.values()]).toEqual([{ state: "unknown" }, { state: "unknown" }]);
});
