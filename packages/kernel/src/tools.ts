/**
 * The kernel and its tools, for a program that opens a database and calls some: no wire, nothing about how things read, no
 * adapters' events. Everything here is in index.ts too.
 */

export { callIn } from "./tools/call.ts";
export { exportLines } from "./tools/conversation-export.ts";
export { coreTable } from "./tools/index.ts";
export { Cursors } from "./write/cursors.ts";
export { Kernel } from "./write/kernel.ts";
