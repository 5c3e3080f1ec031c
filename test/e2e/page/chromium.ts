/**
 * Browsers from Debian's packages. Page tests use Chromium's headless shell: the same engine without windows and profiles, a third less
 * processor time. Benches and screenshots use Chromium itself, as readers do.
 */
import { debianProgram } from "../../debian.ts";

export function chromiumPath(): string {
  return debianProgram("chromium", [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ]);
}

/** BLOCKYARD_TEST_BROWSER is the path of another one. A distribution without the headless shell has Chromium. */
export function testBrowserPath(): string {
  const chosen = process.env["BLOCKYARD_TEST_BROWSER"];
  if (chosen) return chosen;
  try {
    return debianProgram("chromium-headless-shell", ["/usr/bin/chromium-headless-shell"]);
  } catch {
    return chromiumPath();
  }
}
