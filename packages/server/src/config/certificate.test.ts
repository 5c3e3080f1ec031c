/** Users' certificates: their names, and the errors of invalid ones. */
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readCertificate } from "./certificate.ts";

const pem = (name: string) =>
  fileURLToPath(new URL(`../../../../test/access/fixtures/${name}.pem`, import.meta.url));

describe("[AC2] a certificate", () => {
  it("[AC2] names the server, never by a wildcard", () => {
    const { names } = readCertificate({ cert: pem("yard-cert"), key: pem("yard-key") });
    expect(names).toEqual(["localhost", "yard.example.org", "10.0.0.5", "[2001:db8::5]"]);
  });

  it.each([
    ["that is none", pem("yard-key"), pem("yard-key"), /are not a certificate and its key/],
    [
      "without its key",
      pem("yard-cert"),
      fileURLToPath(import.meta.url),
      /are not a certificate and its key/,
    ],
    ["that is not there", pem("nowhere"), pem("yard-key"), /cannot read --cert .*nowhere.pem \(ENOENT\)/],
  ])("[AC53] %s is refused in a sentence", (_, cert, key, sentence) => {
    expect(() => readCertificate({ cert, key })).toThrow(sentence);
  });
});
