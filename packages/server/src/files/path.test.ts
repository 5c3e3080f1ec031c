/** What paths mean, and which are refused. */
import { isProblem } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { cleanPath } from "./path.ts";

describe("[F22] a path", () => {
  const check = (path: string, expected: string) =>
    it(`${JSON.stringify(path.slice(0, 40))} is ${expected}`, () => {
      const clean = cleanPath(path);
      expect(isProblem(clean) ? clean.problem : clean.name).toBe(expected);
    });
  check("a.txt", "a.txt");
  check("./a//b/./c.txt", "a/b/c.txt");
  check("a/b/", "a/b");
  check("...", "...");
  check("..a/b..", "..a/b..");
  check("a b/ü.txt", "a b/ü.txt");
  check("%2e%2e/x", "%2e%2e/x");
  check("~/x", "~/x");
  check("aux.c", "aux.c");
  check("", "invalid");
  check(".", "invalid");
  check("/", "forbidden");
  check("/etc/passwd", "forbidden");
  check("..", "forbidden");
  check("../x", "forbidden");
  check("a/../../x", "forbidden");
  check("a/..", "forbidden");
  check("C:x", "forbidden");
  check("c:/x", "forbidden");
  check("a\\..\\x", "invalid");
  check("a\0b", "invalid");
  check("a\nb", "invalid");
  check("a\u001b[2Jb", "invalid");
  check("a\u2028b", "invalid");
  check("a\ud800b", "invalid");
  check("nul", "forbidden");
  check("a/CON/b", "forbidden");
  check("COM1", "forbidden");
  check("x".repeat(256), "invalid");
  check("a/".repeat(65), "invalid");
  check("ü".repeat(128), "invalid");
});

describe("[F23] git's own folder", () => {
  const check = (path: string, expected: boolean) =>
    it(`${JSON.stringify(path)} is ${expected ? "" : "not "}refused`, () => {
      expect(isProblem(cleanPath(path))).toBe(expected);
    });
  check(".git", true);
  check(".git/config", true);
  check(".git/hooks/pre-commit", true);
  check(".GIT/config", true);
  check(".Git", true);
  check("sub/.git", true);
  check("sub/.git/config", true);
  check(".git./config", true);
  check(".git /config", true);
  check(".git . ./config", true);
  check(".g\u200cit/config", true);
  check(".gi\u2060t", true);
  check(".g\u00adit", true);
  check("\ufeff.git", true);
  check(".git::$INDEX_ALLOCATION/config", true);
  check("git~1/config", true);
  check("GIT~2", true);
  check("\uff0egit", true);
  check("\uff0e\uff27\uff29\uff34", true);
  check(".gitignore", false);
  check(".github/x", false);
  check("git/config", false);
  check("a.git/x", false);
  check(".gitx", false);
});
