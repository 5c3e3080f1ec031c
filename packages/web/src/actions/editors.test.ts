/** Links to editors: their form, and which are never created. */
import { expect, it } from "vitest";
import { absolutePath, EDITORS, editorLink, insidePath, templateFault } from "./editors.ts";

function check(template: string, path: string, expected: string | undefined): void {
  expect(editorLink(template, path, 7)).toBe(expected);
}

it("makes links that each editor knows", () => {
  const template = (id: string) => EDITORS.find((editor) => editor.id === id)?.template ?? "";
  check(template("vscode"), "/a/b.ts", "vscode://file/a/b.ts:7");
  check(template("zed"), "/a/b.ts", "zed://file/a/b.ts:7");
  check(template("idea"), "/a b/c.ts", "idea://open?file=/a%20b/c.ts&line=7");
  check(template("vscode"), "C:\\a\\b.ts", "vscode://file/C:/a/b.ts:7");
  for (const editor of EDITORS) expect(templateFault(editor.template)).toBeUndefined();
});

it("[V8] keeps a path a path, whatever it holds", () => {
  check("x:{path}", "/a?b&c=d#e", "x:/a%3Fb%26c%3Dd%23e");
  check("x:{path}", "/{line}/$&/$1", "x:/%7Bline%7D/%24%26/%241");
  check("x:{path}", '/"><script>', "x:/%22%3E%3Cscript%3E");
  check("x:{path}", "/a\nb\0", "x:/a%0Ab%00");
  check("x:{path}", "relative/a.ts", undefined);
});

it("[V8] links to no scheme that a browser answers to itself", () => {
  const schemes = ["javascript", "data", "vbscript", "blob", "file", "http", "https", "ms-settings", "about"];
  for (const scheme of schemes) {
    check(`${scheme}:{path}`, "/a", undefined);
    expect(templateFault(`${scheme}:{path}`)).toContain(scheme);
  }
  for (const template of [
    "JavaScript:{path}",
    " javascript:{path}",
    "java\tscript:{path}",
    "{path}",
    "//x{path}",
  ])
    check(template, "/a", undefined);
  expect(templateFault("vim:open")).toContain("{path}");
});

it("knows where a path of the workspace is", () => {
  expect(absolutePath("src/a.ts", "/yard/")).toBe("/yard/src/a.ts");
  expect(absolutePath("/etc/hosts", "/yard")).toBe("/etc/hosts");
  expect(absolutePath("src/a.ts", undefined)).toBeUndefined();
});

it("knows which files are the workspace's", () => {
  expect(insidePath("src/a.ts", "/yard")).toBe("src/a.ts");
  expect(insidePath("/yard/src/a.ts", "/yard/")).toBe("src/a.ts");
  for (const path of ["/yardstick/a.ts", "/etc/hosts", "../a.ts", "src/../../a", "/yard/", "src/"])
    expect(insidePath(path, "/yard")).toBeUndefined();
  expect(insidePath("a.ts", undefined)).toBeUndefined();
});
