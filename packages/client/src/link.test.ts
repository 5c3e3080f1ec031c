/** The connection in places where timers come late. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { Server } from "../../../test/e2e/server.ts";
import { connect } from "./index.ts";

let home: string;
let server: Server;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "blockyard-link-"));
  server = await Server.start({ home, root: home });
});
afterEach(() => {
  vi.useRealTimers();
});
afterAll(async () => {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

it("[CL6] a hidden tab, whose timers come once a minute, stays connected", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "performance"] });
  const each = globalThis.setInterval;
  vi.stubGlobal("setInterval", (run: () => void) => each(run, 60_000));
  const states: string[] = [];
  const client = await connect({
    url: server.url,
    token: server.token,
    onState: ({ state }) => states.push(state),
  });
  vi.unstubAllGlobals();
  for (let minute = 0; minute < 5; minute++) {
    vi.advanceTimersByTime(60_000);
    await client.call("conversation.list", {}, { write: false }); // after the answer to the ping
  }
  expect(states).toEqual(["connecting", "open"]);
  client.close();
});

it("[CL6] a connection that answers no ping is closed", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
  const states: string[] = [];
  const onState = ({ state }: { readonly state: string }) => void states.push(state);
  const client = await connect({ url: server.url, token: server.token, onState });
  vi.advanceTimersByTime(15_000 + 20_000); // all at once: no answer can have come
  expect(states).toEqual(["connecting", "open", "waiting"]);
  client.close();
});
