/** Retained memory, apart from what only waits to be collected. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes of the buffers that something still refers to. */
export function heldBuffers(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}
