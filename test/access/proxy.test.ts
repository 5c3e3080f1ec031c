/** Two servers behind a real proxy on plain HTTP that keeps the Host, as the guide says: page, cookie, tools and sockets. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeConfig, type Running, serve } from "@blockyard/server";
import { afterAll, beforeAll, expect, it } from "vitest";
import WebSocket from "ws";
import { Browser } from "./browser.ts";

const folder = mkdtempSync(join(tmpdir(), "blockyard-proxy-"));
let proxy: Server;
let origin = "";
let nodes: readonly Running[] = [];
/** The port of the node that the proxy sends everything to. */
let upstream = 0;

beforeAll(async () => {
  proxy = createServer((incoming, answer) => {
    const { method, url, headers } = incoming;
    const passed = request({ host: "127.0.0.1", port: upstream, method, path: url, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    incoming.pipe(passed);
  });
  proxy.on("upgrade", ({ url, rawHeaders }, socket) => {
    const lines = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1]}`] : []));
    const passed = connect(upstream, "127.0.0.1", () => {
      passed.write(`GET ${url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      passed.pipe(socket).pipe(passed);
    });
    for (const each of [passed, socket]) each.on("error", () => each.destroy());
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  nodes = [await node(first)];
  mkdirSync(second, { mode: 0o700 });
  cpSync(join(first, "token"), join(second, "token"));
  nodes = [...nodes, await node(second)];
});

afterAll(async () => {
  for (const each of nodes) await each.stop();
  proxy.closeAllConnections();
  proxy.close();
  rmSync(folder, { recursive: true, force: true });
});

function node(home: string): Promise<Running> {
  return serve(makeConfig({ env: {}, home, root: folder, port: 0, origin }), () => undefined);
}

function portOf(home: string): number {
  const { local } = JSON.parse(readFileSync(join(home, "server.json"), "utf8")) as { local: string };
  return Number(new URL(local).port);
}

it("[AC2] a proxy on this machine that keeps the Host is answered, on plain HTTP too", async () => {
  expect(nodes.map(({ url }) => url)).toEqual([origin, origin]);
  upstream = portOf(join(folder, "first"));
  const browser = new Browser(origin);
  const traded = await browser.follow(nodes[0]?.link ?? "");
  expect(traded.status).toBe(303);
  // Over plain HTTP a browser would throw away a cookie for TLS.
  expect(traded.headers.get("set-cookie")).not.toContain("Secure");
  // One node lets it in, the other one binds its session, and either takes its tickets.
  upstream = portOf(join(folder, "second"));
  expect((await browser.bind()).status).toBe(200);
  upstream = portOf(join(folder, "first"));
  expect(await browser.prove()).toBe(200);
  const headers = { ...browser.headers, origin };
  for (const name of ["first", "second"]) {
    upstream = portOf(join(folder, name));
    expect((await fetch(`${origin}/health`, { headers })).status).toBe(200);
    const made = await fetch(`${origin}/v1/tools/conversation.create`, {
      method: "POST",
      headers,
      body: JSON.stringify({ title: name }),
    });
    expect(await made.json()).toHaveProperty("conversation");
    const socket = new WebSocket(`${origin.replace("http", "ws")}/v1/feed`, { headers });
    await new Promise((open, failed) => socket.once("open", open).once("error", failed));
    socket.terminate();
  }
});

it("[AC2] a server that was not told of the proxy does not answer to its name", async () => {
  const alone = await serve(
    makeConfig({ env: {}, home: join(folder, "alone"), root: folder, port: 0 }),
    () => undefined,
  );
  upstream = Number(new URL(alone.url).port);
  const answer = await fetch(`${origin}/health`, {
    headers: { authorization: `Bearer ${alone.auth.ownerToken}` },
  });
  expect(answer.status).toBe(421);
  expect(await answer.json()).toMatchObject({ message: expect.stringContaining("--origin") });
  await alone.stop();
});
