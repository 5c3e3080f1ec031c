/** Prints the growth of every walker: `npm run growth`, or `npm run growth -- Markdown` for some. Ends with 1 if one is not linear. */
import { everyText } from "./fragments.ts";
import { RATIO_MAX, worstGrowth } from "./growth.ts";
import { WALKERS } from "./walkers.ts";

const [word = "", chars = "20000"] = process.argv.slice(2);
for (const walker of WALKERS.filter(({ name }) => name.startsWith(word))) {
  const growth = worstGrowth(walker, everyText(), Number(chars));
  const figures = growth
    ? `${growth.ratio.toFixed(2).padStart(6)} ${growth.ms.toFixed(0).padStart(6)} ms  ${JSON.stringify(growth.fragment)}`
    : "     –         too fast to tell";
  if (growth && growth.ratio > RATIO_MAX) process.exitCode = 1;
  console.log(`${walker.name.padEnd(36)} ${figures}`);
}
