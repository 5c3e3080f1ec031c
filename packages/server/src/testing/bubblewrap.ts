/** Whether bubblewrap can be tried here; where it cannot, that is said. */

import { execFileSync } from "node:child_process";
import { debianProgram } from "../../../../test/debian.ts";

export const mayConfine = process.platform === "linux" && hasBubblewrap();

function hasBubblewrap(): boolean {
  try {
    const program = debianProgram("bubblewrap", ["/usr/bin/bwrap"]);
    execFileSync(program, ["--unshare-all", "--ro-bind", "/", "/", "true"], { stdio: "ignore" });
    return true;
  } catch (error) {
    process.stderr.write(`The sandbox is not tested: ${error}\n`);
    return false;
  }
}
