#!/usr/bin/env node
/** Starts a script in a process of its own, which has its input and output: `launcher.mjs SCRIPT [ARGUMENT …]`. */
import { spawn } from "node:child_process";

spawn(process.execPath, process.argv.slice(2), { stdio: "inherit" });
