/** Which addresses are ours. The guard itself is tried on a real port, in test/access. */
import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { addressesOf, urlOf } from "./guard.ts";

describe("[AC2] the addresses of a server", () => {
  it("[AC2] on this machine are its loopback names with the port, and nothing else", () => {
    const { hosts, origins } = addressesOf("127.0.0.1", 4567, false);
    expect([...hosts]).toEqual(["127.0.0.1:4567", "localhost:4567", "[::1]:4567"]);
    expect([...origins]).toEqual(["http://127.0.0.1:4567", "http://localhost:4567", "http://[::1]:4567"]);
  });

  it.each([
    ["::1", "[::1]:4567"],
    ["127.5.5.5", "127.5.5.5:4567"],
    ["yard.example.org", "yard.example.org:4567"],
    ["2001:db8::1", "[2001:db8::1]:4567"],
  ])("[AC2] that listens on %s hold %s", (host, expected) => {
    const { hosts } = addressesOf(host, 4567, true);
    expect(hosts.has(expected)).toBe(true);
    expect(hosts.size).toBeLessThanOrEqual(4);
    expect(urlOf(host, 4567, true)).toBe(`https://${expected}`);
  });

  it("[AC2] that listens everywhere are the machine's own, never a wildcard", () => {
    const { hosts } = addressesOf("0.0.0.0", 4567, true);
    expect(hosts.has(`${hostname().toLowerCase()}:4567`)).toBe(true);
    expect(hosts.has("0.0.0.0:4567")).toBe(false);
    expect(hosts.has("evil.com:4567")).toBe(false);
    expect(urlOf("0.0.0.0", 4567, true)).toBe("https://127.0.0.1:4567");
  });

  it("[AC2] on the scheme's own port hold the names without it", () => {
    expect(addressesOf("yard.example.org", 443, true).origins.has("https://yard.example.org")).toBe(true);
    expect(addressesOf("127.0.0.1", 443, false).hosts.has("127.0.0.1")).toBe(false);
  });
});
