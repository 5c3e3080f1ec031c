/**
 * What an agent over ACP reports about itself: what its session said when it began, and since. It sends no requests.
 */

import type { JsonObject } from "@blockyard/kernel";
import { isObject } from "@blockyard/providers";
import type { Offers } from "../../driver.ts";
import type { Connection } from "./connection.ts";
import { currentMode, currentModel, effortsIn, modelsIn } from "./settings.ts";

export function offersOf({ session, commands, usage }: Connection): Offers {
  const { efforts, current } = effortsIn(session);
  const { used, size } = usage;
  return {
    mode: currentMode(session),
    model: currentModel(session),
    effort: current,
    commands: commands.flatMap(({ name, description, input }) => {
      if (typeof name !== "string") return [];
      const hint = isObject(input) ? (input as JsonObject)["hint"] : undefined;
      return [
        {
          ...{ name, description: typeof description === "string" ? description : "" },
          ...(typeof hint === "string" && hint !== "" ? { hint } : {}),
        },
      ];
    }),
    models: modelsIn(session).map(({ id, name }) => ({
      ...{ id, name },
      ...(efforts.length === 0 ? {} : { efforts }),
    })),
    ...(typeof used === "number" && typeof size === "number"
      ? { usage: { usedTokens: used, windowTokens: size } }
      : {}),
  };
}
