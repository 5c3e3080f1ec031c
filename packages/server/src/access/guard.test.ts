/** Which addresses are ours. The guard itself is tested on a real port, in test/access. */
import type { IncomingMessage } from "node:http";
import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { addressesOf, browserOf, urlOf } from "./guard.ts";

const plain = (host: string) => ({ host, secure: false, names: [] });
const secure = (host: string, ...names: string[]) => ({ host, secure: true, names });

describe("[AC2] the addresses of a server", () => {
  it("[AC2] on this machine are its loopback names with the port, and nothing else", () => {
    const { hosts, origins } = addressesOf(plain("127.0.0.1"), 4567);
    expect([...hosts]).toEqual(["127.0.0.1:4567", "localhost:4567"]);
    expect([...origins]).toEqual(["http://127.0.0.1:4567", "http://localhost:4567"]);
  });

  it.each([
    ["::1", "[::1]:4567"],
    ["127.5.5.5", "127.5.5.5:4567"],
    ["yard.example.org", "yard.example.org:4567"],
    ["2001:db8::1", "[2001:db8::1]:4567"],
  ])("[AC2] that listens on %s hold %s", (host, expected) => {
    const { hosts } = addressesOf(secure(host), 4567);
    expect(hosts.has(expected)).toBe(true);
    expect(hosts.size).toBeLessThanOrEqual(4);
    expect(urlOf(secure(host), 4567)).toBe(`https://${expected}`);
  });

  it("[AC2] that listens everywhere are the machine's own, never a wildcard", () => {
    const { hosts } = addressesOf(secure("0.0.0.0"), 4567);
    expect(hosts.has(`${hostname().toLowerCase()}:4567`)).toBe(true);
    expect(hosts.has("0.0.0.0:4567")).toBe(false);
    expect(hosts.has("evil.com:4567")).toBe(false);
    expect(urlOf(secure("0.0.0.0"), 4567)).toBe("https://127.0.0.1:4567");
  });

  it("[AC2] on the scheme's own port hold the names without it", () => {
    expect(addressesOf(secure("yard.example.org"), 443).origins.has("https://yard.example.org")).toBe(true);
    expect(addressesOf(plain("127.0.0.1"), 443).hosts.has("127.0.0.1")).toBe(false);
  });

  it("[AC2] include the names in its certificate, by which it is reached if it listens everywhere", () => {
    const place = secure("0.0.0.0", "localhost", "yard.example.org");
    const { hosts, origins } = addressesOf(place, 4567);
    expect(hosts.has("yard.example.org:4567")).toBe(true);
    expect(origins.has("https://yard.example.org:4567")).toBe(true);
    expect(urlOf(place, 4567)).toBe("https://yard.example.org:4567");
    expect(urlOf(secure("10.0.0.5", "yard.example.org"), 4567)).toBe("https://10.0.0.5:4567");
  });

  it("[AC2] hold where a proxy shows it, exactly", () => {
    const place = { ...plain("127.0.0.1"), origin: "https://yard.example.org" };
    const { hosts, origins } = addressesOf(place, 4567);
    expect(hosts.has("yard.example.org")).toBe(true);
    expect(hosts.has("yard.example.org:4567")).toBe(false);
    expect(origins.has("https://yard.example.org")).toBe(true);
    expect(origins.has("http://yard.example.org")).toBe(false);
    expect(urlOf(place, 4567)).toBe("https://yard.example.org");
  });

  it("[AC3] hold the plain socket of the commands, from which no page may ask", () => {
    const { hosts, origins } = addressesOf(secure("0.0.0.0"), 4567, 4999);
    expect(hosts.has("127.0.0.1:4999")).toBe(true);
    expect([...origins].filter((origin) => origin.includes("4999"))).toEqual([]);
  });
});

const KIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

it.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${KIT} HeadlessChrome/156.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KIT} Chrome/156.0.0.0 Safari/537.36 Edg/156.0`,
    "Edge on Windows",
  ],
  [`Mozilla/5.0 (X11; Linux x86_64) ${KIT} Chrome/156.0.0.0 Safari/537.36 OPR/140.0`, "Opera on Linux"],
  [`Mozilla/5.0 (Linux; Android 16; K) ${KIT} Chrome/156.0.0.0 Mobile Safari/537.36`, "Chrome on Android"],
  ["Mozilla/5.0 (Android 16; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0", "Firefox on Android"],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${KIT} CriOS/156.0 Mobile/15E Safari/604.1`,
    "Chrome on iPhone",
  ],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${KIT} Version/19.0 Safari/605.1.15`, "Safari on macOS"],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${KIT} Chrome/156.0.0.0 Safari/537.36`, "Chrome on ChromeOS"],
  ["curl/8.17.0", "a browser"],
  [undefined, "a browser"],
])("[U61] the session of %s is called %s", (agent, name) => {
  expect(browserOf({ headers: { "user-agent": agent } } as unknown as IncomingMessage)).toBe(name);
});
