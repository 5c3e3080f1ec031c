/** Whether bubblewrap can be tried here. Installed where it can be, as other tests do with Chromium; otherwise that is said. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

export const mayConfine = process.platform === "linux" && hasBubblewrap();

function hasBubblewrap(): boolean {
  if (!existsSync("/usr/bin/bwrap")) {
    try {
      execFileSync("apt-get", ["install", "-y", "bubblewrap"], { stdio: "ignore", timeout: 300_000 });
    } catch {
      process.stderr.write("The sandbox is not tested: apt-get install bubblewrap\n");
      return false;
    }
  }
  try {
    execFileSync("/usr/bin/bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"], { stdio: "ignore" });
    return true;
  } catch {
    process.stderr.write("The sandbox is not tested: the kernel does not allow bubblewrap\n");
    return false;
  }
}
