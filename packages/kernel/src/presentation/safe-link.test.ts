/** Addresses in Markdown: only safe ones become links. */
import { describe, expect, test } from "vitest";
import { decodeReferences } from "./character-references.ts";
import { namesOtherHost, safeImageData, safeLink } from "./safe-link.ts";

const REFUSED = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "java\tscript:alert(1)",
  "java\nscript:alert(1)",
  "\u0001javascript:alert(1)",
  "javascript&colon;alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "data:image/svg+xml,<svg onload=alert(1)>",
  "vbscript:msgbox(1)",
  "file:///etc/passwd",
  "blob:https://example.org/x",
  "//example.org/x",
  "/v1/tools/block.create",
  "#top",
  "src/main.ts",
  "streamdown:incomplete-image",
  "",
];

describe("links", () => {
  test.each(REFUSED)("[R37] %j is text", (href) => {
    expect(safeLink(href)).toBeUndefined();
    expect(safeLink(decodeReferences(href))).toBeUndefined();
    expect(safeImageData(href)).toBeUndefined();
  });

  test("http, https and mailto are links", () => {
    expect(safeLink("https://example.org/a b")).toBe("https://example.org/a%20b");
    expect(safeLink("http://example.org")).toBe("http://example.org/");
    expect(safeLink("mailto:a@example.org")).toBe("mailto:a@example.org");
  });

  test("a picture that is wholly in its address is shown", () => {
    expect(safeImageData("data:image/png;base64,iVBORw0KGgo=")).toBeDefined();
    expect(safeImageData('data:image/png;base64,"onerror=')).toBeUndefined();
  });
});

test.each([
  ["https://bank.example/login", "https://evil.example/", true],
  ["www.bank.example", "https://evil.example/", true],
  ["github.com", "https://evil.example/github.com", true],
  ["https://github.com@evil.example", "https://evil.example/", false],
  ["GitHub.com/a/b", "https://www.github.com/a/b", false],
  ["http://example.org", "https://example.org/", false],
  ["price.ts", "https://evil.example/", false],
  ["the docs of example.com", "https://evil.example/", false],
])("[V152] %s, which links to %s, names another host: %s", (text, href, expected) => {
  expect(namesOtherHost(text, href)).toBe(expected);
});
