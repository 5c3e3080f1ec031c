/**
 * A Codex app-server that says anything (protocol.ts): recordings of it, changed, to the adapter and as a process to the driver.
 */
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@blockyard/kernel";
import { isObject } from "@blockyard/providers";
import { codexDriver } from "../../packages/server/src/turns/drivers/codex/driver.ts";
import { bytesOf, streams } from "../recordings.ts";
import type { Fuzz } from "./fuzz.ts";
import { type Protocol, pick, type Random, runProtocol, SOMETIMES } from "./protocol.ts";

const FAKE = fileURLToPath(new URL("../e2e/agents/fake-codex.mjs", import.meta.url));

const ASKS = [
  "item/commandExecution/requestApproval",
  "item/fileChange/requestApproval",
  "item/tool/requestUserInput",
  "mcpServer/elicitation/request",
  "item/permissions/requestApproval",
  "item/tool/call",
  "brand/new",
];

const protocol: Protocol = {
  provider: "codex-app-server",
  turnsOf: "codex",
  recordings: streams.filter(
    (each) =>
      each.provider === "codex-app-server" &&
      bytesOf(each).length < 100_000 &&
      /"turn\/start\\"|turn\/start/.test(Buffer.from(bytesOf(each)).toString()),
  ),
  ids: {
    asked: ({ id, method }) => (typeof method === "string" ? id : undefined),
    answered: ({ id, method }) => (typeof method === "string" ? undefined : id),
  },
  question,
  driver: (options, recording, log) => {
    const env = { ...options.env, BLOCKYARD_CODEX: FAKE, CODEX_FAKE: JSON.stringify({ recording, log }) };
    return codexDriver({ ...options, env });
  },
};

export const fuzz: Fuzz = { name: "codex", sometimes: SOMETIMES, run: (seed) => runProtocol(protocol, seed) };

function question(random: Random, said: JsonObject): JsonObject {
  const params = isObject(said["params"]) ? said["params"] : {};
  const items = [{ id: "q", question: "?", options: [{ label: "A" }] }];
  return {
    id: random(3),
    method: pick(random, ASKS),
    params: { ...params, itemId: pick(random, ["x", "y"]), questions: items, permissions: {} },
  };
}
