/** Whatever ends the tests also ends what they have started. */
import type { ChildProcess } from "node:child_process";

const living = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

export function endWithUs(child: ChildProcess): ChildProcess {
  living.add(child);
  child.once("exit", () => living.delete(child));
  return child;
}
