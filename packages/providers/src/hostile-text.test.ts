/**
 * Texts that make a careless pattern backtrack: each of these took minutes to days. Reading an agent's output takes
 * time linear in its length; a test that does not end fails.
 */
import { expect, it } from "vitest";
import { only, used } from "../../../test/claude-lines.ts";
import { bytesOf, type Recording, streams } from "../../../test/recordings.ts";
import { displayOfCall, readCall } from "./codex/log-call.ts";
import { normalize } from "./normalize.ts";
import { numberedLines } from "./opencode/outcome.ts";
import { recognise } from "./recognise.ts";
import { providers } from "./registry.ts";

const MEGABYTE = 1024 * 1024;

it.each(["\u2028", " ", "\t", ",", "data:", ", "])("[P9] a head of nothing but %j", (sign) => {
  expect(recognise(`{"a":1}\n${sign.repeat(64 * 1024)}x`)).toBeUndefined();
});

it("[P9] a head that is one list of many values", () => {
  expect(recognise(`x\n[${"1,".repeat(256 * 1024)}1]`)).toBeUndefined();
});

it("[P9] a listing that begins again and again", () => {
  expect(numberedLines("<file>\n".repeat(MEGABYTE))).toBeUndefined();
  expect(numberedLines("<file>\n1| a\n2| b\n</file>\n<file>\n</file>")?.text).toBe("a\nb");
});

it.each(["\n", " ", "1", "\n 1"])("[C18] an edit's answer of nothing but %j", (sign) => {
  const input = { file_path: "/w/a.ts", old_string: "a", new_string: "b" };
  const said = sign.repeat(MEGABYTE);
  expect(only(used("Edit", input, said), "tool_call").status).toBe("done");
});

it.each([" [blocked by ", "[", " ["])("[C18] a list of tasks with many %j", (sign) => {
  const said = `#1 [pending] ${sign.repeat(MEGABYTE / sign.length)}x`;
  expect(only(used("TaskList", {}, said), "tool_call").status).toBe("done");
});

it.each([`mcp__${"_".repeat(MEGABYTE)}x!`, `mcp__a${"__".repeat(MEGABYTE)}`])(
  "[P9] a name of a server that is underscores",
  (namespace) => {
    const call = readCall({ type: "function_call", name: "tool", namespace, arguments: "{}" });
    expect(displayOfCall(call).displayName).toBe("tool");
  },
);

/** What `String()` throws for, and JSON allows. */
const ODD = { toString: 1, valueOf: 1 };

/** The recording, where every field of that name has an odd value. Lines of traffic have lines in them. */
function withOdd(recording: Recording, name: string): Uint8Array {
  const odd = (text: string): string =>
    JSON.stringify(
      JSON.parse(text, (key, value) =>
        key === "line" && /^\{.*\}$/.test(value) ? odd(value) : key === name ? ODD : value,
      ),
    );
  const lines = new TextDecoder().decode(bytesOf(recording)).split("\n");
  const changed = lines.map((line) => {
    const [, data = "", json = ""] = /^(data: )?(\{.*\})$/.exec(line) ?? [];
    return json === "" ? line : `${data}${odd(json)}`;
  });
  return new TextEncoder().encode(changed.join("\n"));
}

const short = streams.filter((recording) => bytesOf(recording).length < 50_000);

it.each(["type", "id", "uuid", "method", "url", "source", "subtype"])(
  "[P21] every recording is read where %j is an object with a toString of its own",
  (name) => {
    for (const recording of short) {
      const provider = providers.get(recording.provider);
      expect(provider).toBeDefined();
      if (provider)
        expect(() => normalize(provider, [withOdd(recording, name)]), recording.name).not.toThrow();
    }
  },
);
