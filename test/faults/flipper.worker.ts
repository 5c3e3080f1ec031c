/** Puts links in the place of a folder and takes them away again, as fast as it can, until it is killed. */
import { existsSync, renameSync, rmSync, symlinkSync, writeSync } from "node:fs";
import { join } from "node:path";

const [root = "", ...targets] = process.argv.slice(2);
const folder = join(root, "d");
for (let swap = 0; ; swap++) {
  renameSync(folder, `${folder}.real`);
  // Whoever makes files may make the folder in between: then that one is put aside, and tried again.
  insist(swap, () => symlinkSync(targets[swap % targets.length] as string, folder));
  hold(0.2);
  rmSync(folder);
  insist(swap, () => renameSync(`${folder}.real`, folder));
  hold(0.6);
  if (swap % 10 === 0) writeSync(1, `${swap}\n`);
}

/** Timers are too coarse for this. */
function hold(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

function insist(swap: number, act: () => void): void {
  for (let tries = 0; ; tries++) {
    try {
      return act();
    } catch (error) {
      if (tries > 100) throw error;
      if (existsSync(folder)) renameSync(folder, `${folder}.aside-${swap}-${tries}`);
    }
  }
}
