/** The thread of json-parser.ts: bytes in, the JSON in them or a problem out, one at a time. It keeps nothing. */

import { parentPort } from "node:worker_threads";
import { parseBytes } from "./strict-json.ts";

parentPort?.on("message", (bytes: Uint8Array) => parentPort?.postMessage(parseBytes(bytes)));
parentPort?.postMessage("ready");
