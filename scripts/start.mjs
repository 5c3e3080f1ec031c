/** `npm start`: installs what is missing, then runs the server. Arguments are passed on. */
import { runProgram } from "./setup.mjs";

await runProgram("packages/server/src/main.ts", process.argv.slice(2));
