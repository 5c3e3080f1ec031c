/** A server with a certificate, or behind a proxy that has one: who reaches it, by which names, and with which cookie. */
import { readFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Ended, ended, newPlace, printed, removePlace, run, start } from "../cli/command.ts";

const pem = (name: string) => fileURLToPath(new URL(`./fixtures/${name}.pem`, import.meta.url));
const TLS = ["--host", "0.0.0.0", "--cert", pem("yard-cert"), "--key", pem("yard-key")];

const place = newPlace();
let link: URL;
let stop: () => Promise<Ended>;

beforeAll(async () => {
  const child = start(place, ["serve", "--port", "0", ...TLS]);
  const end = ended(child);
  stop = () => {
    child.kill("SIGTERM");
    return end;
  };
  link = new URL(await printed(child, /Open\s+(http\S+)/));
}, 60_000);

afterAll(async () => {
  await stop?.();
  removePlace(place);
});

/** What the server answers to somebody who trusts it, whatever its certificate says. */
function ask(path: string, headers: Record<string, string>) {
  return new Promise<{ status: number | undefined; cookie: string }>((resolve, reject) => {
    const at = { host: "127.0.0.1", port: Number(link.port), path, rejectUnauthorized: false };
    const asked = request({ ...at, headers }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, cookie: String(response.headers["set-cookie"] ?? "") });
    });
    asked.on("error", reject);
    asked.end();
  });
}

// Each starts several processes.
vi.setConfig({ testTimeout: 60_000 });

describe("[AC11] a server with a certificate", () => {
  it("[AC2] is called as its certificate says, and answers to that", async () => {
    expect(link.hostname).toBe("yard.example.org");
    const taken = await ask(`/${link.search}`, { host: link.host });
    expect(taken.status).toBe(303);
    expect(taken.cookie).toContain("; Secure");
    expect((await ask(`/${link.search}`, { host: `other.example.org:${link.port}` })).status).toBe(421);
  });

  it("[U8] serves the commands of its machine, which cannot check a certificate for another name", async () => {
    expect((await run(place, ["ls"])).stdout).toContain("(recorded)");
    expect((await run(place, ["link"])).stdout.trim()).toMatch(`${link.origin}/?link=`);
    expect((await run(place, ["doctor"])).stdout).toContain(`ok    server: answers at ${link.origin}`);
    const token = await run(place, ["token", "create", "--agent", "wall", "--viewer"]);
    expect(token.stderr).toContain(`${link.origin}/?link=`);
  });
});

describe("[AC2] a server behind a proxy", () => {
  it("[AC5] is reached under the proxy's address, whether that keeps the Host or not, with a cookie for TLS", async () => {
    const other = newPlace();
    const child = start(other, ["serve", "--port", "0", "--origin", "https://yard.example.org"]);
    const end = ended(child);
    const shown = new URL(await printed(child, /Open\s+(http\S+)/));
    expect(shown.origin).toBe("https://yard.example.org");
    const { local } = JSON.parse(readFileSync(join(other.home, "server.json"), "utf8")) as { local: string };
    const cookie = async (headers: Record<string, string>) => {
      const { search } = new URL((await run(other, ["link"])).stdout.trim());
      const asked = await get(`${local}/${search}`, headers);
      return `${asked.statusCode} ${/Secure/.exec(String(asked.headers["set-cookie"])) ?? ""}`;
    };
    expect(await cookie({ host: "yard.example.org" })).toBe("303 Secure");
    expect(await cookie({ "x-forwarded-proto": "https" })).toBe("303 Secure");
    expect(await cookie({})).toBe("303 ");
    expect(await cookie({ host: "other.example.org" })).toBe("421 ");
    const origin = async (value: string) =>
      (
        await get(`${local}/health`, {
          origin: value,
          authorization: `Bearer ${readFileSync(join(other.home, "token"), "utf8").trim()}`,
        })
      ).statusCode;
    expect(await origin("https://yard.example.org")).toBe(200);
    expect(await origin("https://other.example.org")).toBe(403);
    expect((await run(other, ["ls"])).code).toBe(0);
    child.kill("SIGTERM");
    await end;
    removePlace(other);
  });
});

function get(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, { headers }, (response) => {
      response.resume();
      resolve(response);
    });
    asked.on("error", reject);
    asked.end();
  });
}

describe("[AC53] a start that cannot be", () => {
  it.each([
    [
      "an address of another machine",
      ["--host", "192.0.2.1", ...TLS.slice(2)],
      /not an address of this machine/,
    ],
    ["a name of nothing", ["--host", "nowhere.invalid", ...TLS.slice(2)], /does not resolve/],
  ])("[U4] with %s is one sentence", async (_, args, sentence) => {
    const other = newPlace();
    const { code, stderr } = await run(other, ["serve", "--port", "0", ...args]);
    expect(code).toBe(1);
    expect(stderr).toMatch(sentence);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    removePlace(other);
  });
});
