/**
 * When something that is imported happened, as it says itself. Times sort people's lists and name the days of their costs, so none
 * is later than now, which would stand above all that is new for ever, and none is before there were computers to write it.
 */

import { z } from "zod";

export const time = z
  .number()
  .min(-8.64e15)
  .max(8.64e15)
  .transform((at) => Math.max(0, Math.min(at, Date.now())));
