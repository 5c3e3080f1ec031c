/** The guides are true: the tools' page matches the table, and every command shown exists. */

import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { limits } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { MAX_CONNECTIONS_EACH, MAX_GUEST_CONNECTIONS } from "../../packages/server/src/access/limits.ts";
import { MAX_CONNECTIONS } from "../../packages/server/src/app/limits.ts";
import { run as runCommand } from "../../packages/server/src/cli/run.ts";
import { MAX_SOCKETS, OWNER_SOCKETS } from "../../packages/server/src/transports/limits.ts";
import { agentsPage, allDrivers } from "./agents-page.ts";
import { ended, jsonLines, newPlace, removePlace, run, serve } from "./command.ts";
import { toolSchemas, toolsPage } from "./tools-page.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("the tools' page is what the table says: node test/cli/tools-page.ts > docs/guides/mcp-tools.md", async () => {
  const written = readFileSync(join(root, "docs/guides/mcp-tools.md"), "utf8");
  expect(written).toBe(toolsPage(await toolSchemas()));
});

it("[D54] the agents' table is what the drivers say: node test/cli/agents-page.ts", () => {
  const written = readFileSync(join(root, "docs/guides/agents.md"), "utf8");
  expect(written).toBe(agentsPage(written));
});

it("[D54] `blockyard run` names every agent that has a driver", () => {
  expect(runCommand.choices).toEqual(allDrivers().map(({ provider }) => provider));
});

it("[U5] every command and option in README and guides exists", async () => {
  const place = newPlace();
  const guides = readdirSync(join(root, "docs/guides")).map((name) => `docs/guides/${name}`);
  const used = new Map<string, Set<string>>();
  for (const page of ["README.md", "packages/web/src/app/home.tsx", ...guides]) {
    const text = readFileSync(join(root, page), "utf8");
    for (const [, rest = ""] of text.matchAll(/\bblockyard ((?:[a-z]+)(?:[^\n`#|]*))/g)) {
      const [name = "", ...words] = rest.trim().split(/\s+/);
      const options = used.get(name) ?? new Set<string>();
      for (const word of words) if (/^--[a-z]/.test(word)) options.add(word.replace(/[=,.;:)].*$/, ""));
      used.set(name, options);
    }
  }
  const overview = (await run(place, ["help"])).stdout;
  const commands = [...used].filter(([name]) => new RegExp(`^ {2}${name} `, "m").test(overview));
  expect(commands.length).toBeGreaterThan(8);
  for (const [name, options] of commands) {
    const page = (await run(place, ["help", name])).stdout;
    for (const option of options) expect(page, `${name} ${option}`).toContain(option);
  }
  removePlace(place);
}, 90_000);

it("the limits in the guide are those of the code", () => {
  const guide = readFileSync(join(root, "docs/guides/operations.md"), "utf8");
  const number = (value: number) => value.toLocaleString("en-US");
  const sockets = `| WebSockets | ${number(MAX_SOCKETS)}, ${number(OWNER_SOCKETS)} of them reserved for the owner |`;
  expect(guide).toContain(sockets);
  const connections = `| connections | ${number(MAX_CONNECTIONS)}; ${number(MAX_CONNECTIONS_EACH)} for each agent or viewer, ${number(MAX_GUEST_CONNECTIONS)} for all of them |`;
  expect(guide).toContain(connections);
  const { requestsPerMinute, requestBurst, callerCalls, callerQueue, blocksPerHour, storedCharsPerHour } =
    limits;
  expect(guide).toContain(`| ${number(requestsPerMinute)} a minute, ${number(requestBurst)} at once;`);
  expect(guide).toContain(`| ${callerCalls} under way, ${callerQueue} waiting;`);
  expect(guide).toContain(
    `| ${number(blocksPerHour)} blocks, ${storedCharsPerHour / 1024 / 1024} Mi characters;`,
  );
});

it("the loop in the guide runs as written", async () => {
  const place = newPlace();
  const text = readFileSync(join(root, "docs/guides/own-loop.md"), "utf8");
  const program = /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
  const token = (await run(place, ["token", "create", "--agent", "my-loop"])).stdout.trim();
  const server = await serve(place);
  const file = join(place.folder, "loop.mjs");
  writeFileSync(file, program);
  const env = { ...place.env, BLOCKYARD_URL: new URL(server.link).origin, BLOCKYARD_TOKEN: token };
  const { code, stdout, stderr } = await ended(spawn(process.execPath, [file], { env }));
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const blocks = jsonLines((await run(place, ["show", stdout.trim(), "--json"])).stdout).filter(
    ({ type }) => type === "block",
  );
  await server.stop();
  removePlace(place);
  expect(blocks.map(({ kind, status, agent, content }) => [kind, status, agent, content])).toEqual([
    ["text", "done", "my-loop", "Count to three."],
    ["text", "done", "my-loop", "One, two, three."],
    ["tool_call", "done", "my-loop", '{"path":"count.txt"}'],
    ["code", "done", "my-loop", "1\n2\n3\n"],
  ]);
}, 90_000);
