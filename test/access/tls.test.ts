/** A server with a certificate, or behind a program that has one: who reaches it, by which names, and with what cookie. */
import { request } from "node:https";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

describe("[AC11] a server with a certificate", () => {
  it("[AC2] is called as its certificate says, and answers to that", async () => {
    expect(link.hostname).toBe("yard.example.org");
    const taken = await ask(`/${link.search}`, { host: link.host });
    expect(taken.status).toBe(303);
    expect(taken.cookie).toContain("; Secure");
    expect((await ask(`/${link.search}`, { host: `other.example.org:${link.port}` })).status).toBe(421);
  });

  it("[U8] serves the commands of its machine, which cannot check a certificate for another name", async () => {
    expect((await run(place, ["ls"])).stdout).toContain("A recorded");
    expect((await run(place, ["link"])).stdout.trim()).toBe(link.href);
    expect((await run(place, ["doctor"])).stdout).toContain(`ok    server: answers at ${link.origin}`);
    const token = await run(place, ["token", "create", "--agent", "wall", "--viewer"]);
    expect(token.stderr).toContain(`${link.origin}/?token=`);
  });
});

describe("[AC53] a start that cannot be", () => {
  it.each([
    [
      "an address of another machine",
      ["--host", "192.0.2.1", ...TLS.slice(2)],
      /not an address of this machine/,
    ],
    ["a name of nothing", ["--host", "nowhere.invalid", ...TLS.slice(2)], /leads to no address/],
  ])("[U4] with %s is one sentence", async (_, args, sentence) => {
    const other = newPlace();
    const { code, stderr } = await run(other, ["serve", "--port", "0", ...args]);
    expect(code).toBe(1);
    expect(stderr).toMatch(sentence);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    removePlace(other);
  });
});
