/** The browser of the page tests: Debian's package. */
import { debianProgram } from "../../debian.ts";

export function chromiumPath(): string {
  return debianProgram("chromium", [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ]);
}
