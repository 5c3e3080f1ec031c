/** The names are those of the registry, no more and no fewer. */
import { expect, it } from "vitest";
import { LOGGING_PROVIDERS, PROVIDER_NAMES } from "./names.ts";
import { providers } from "./registry.ts";

it("every provider is named once, and those that keep logs are", () => {
  expect([...providers.keys()]).toEqual([...PROVIDER_NAMES]);
  const logging = [...providers.values()].filter(({ findLogs }) => findLogs !== undefined);
  expect(logging.map(({ name }) => name)).toEqual([...LOGGING_PROVIDERS]);
});
