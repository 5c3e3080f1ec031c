/** Codex processes that start at the same time, the first time. */
import { expect, it } from "vitest";
import { FirstStart } from "./first-start.ts";

it("[D94] one starts after the other until one works, then side by side", async () => {
  const starts = new FirstStart();
  const begun: string[] = [];
  const enter = async (name: string) => {
    const leave = await starts.enter();
    begun.push(name);
    return leave;
  };
  const settle = () => new Promise((resume) => setImmediate(resume));
  const first = enter("first");
  const second = enter("second");
  const third = enter("third");
  const fourth = enter("fourth");
  await settle();
  expect(begun).toEqual(["first"]);
  // A process that ends without having worked has created nothing that the next could rely on.
  (await first)(false);
  await settle();
  expect(begun).toEqual(["first", "second"]);
  (await second)(true);
  await Promise.all([third, fourth, enter("fifth")]);
  expect(begun.slice(2).sort()).toEqual(["fifth", "fourth", "third"]);
});
