/** Outputs as rollout logs of several versions write them. */
import { expect, it } from "vitest";
import { readOutput } from "./log-output.ts";

it.each([
  [
    "Chunk ID: ea7440\nWall time: 0.5008 seconds\nProcess exited with code 3\nOriginal token count: 18\nOutput:\na\nOutput:\nb",
    { text: "a\nOutput:\nb", hasRun: true, exitCode: 3, durationMs: 501 },
  ],
  [
    "Chunk ID: 7e74f5\nWall time: 0.5 seconds\nProcess running with session ID 73919\nOriginal token count: 2\nOutput:\nname? ",
    { text: "name? ", hasRun: true, session: "73919", durationMs: 500 },
  ],
  [
    "Exit code: 0\nWall time: 0.5 seconds\nOutput:\nslow\n",
    { text: "slow\n", hasRun: true, exitCode: 0, durationMs: 500 },
  ],
  [
    "Exit code: 1\nWall time: 0 seconds\nTotal output lines: 9\nOutput:\n",
    { text: "", hasRun: true, exitCode: 1, durationMs: 0 },
  ],
  [
    '{"output":"x\\n","metadata":{"exit_code":2,"duration_seconds":0.25}}',
    { text: "x\n", hasRun: true, exitCode: 2, durationMs: 250 },
  ],
  ['Wall time: 0.0041 seconds\nOutput:\n{"sum":42}', { text: '{"sum":42}', hasRun: true, durationMs: 4 }],
  [
    "Wall time: 0.0000 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n",
    { text: "Success.\n", hasRun: true, exitCode: 0, durationMs: 0 },
  ],
  ["aborted by user after 3.2s", { text: "aborted by user after 3.2s", hasRun: false, aborted: true }],
  [
    "Wall time: 1.2 seconds\naborted by user",
    { text: "aborted by user", hasRun: false, aborted: true, durationMs: 1200 },
  ],
  ["unsupported call: x", { text: "unsupported call: x", hasRun: false }],
  ["Output:\nno header", { text: "Output:\nno header", hasRun: false }],
  [
    "Exit code: 0\nsomething else\nOutput:\nx",
    { text: "Exit code: 0\nsomething else\nOutput:\nx", hasRun: false },
  ],
  ["", { text: "", hasRun: false }],
  [null, { text: "", hasRun: false }],
])("[X23] %j", (output, expected) => {
  expect(readOutput(output)).toEqual({ images: [], ...expected });
});

it("[X23] a list of parts: header, texts, images", () => {
  const parts = [
    { type: "input_text", text: "Wall time: 0.0022 seconds\nOutput:" },
    { type: "input_text", text: "One pixel:" },
    { type: "input_image", image_url: "data:image/png;base64,aGk=" },
    { type: "input_text", text: "end" },
  ];
  const expected = {
    text: "One pixel:\nend",
    images: [{ data: "aGk=", mediaType: "image/png" }],
    hasRun: true,
    durationMs: 2,
  };
  expect(readOutput(parts)).toEqual(expected);
  const printed = JSON.stringify([
    { type: "text", text: "a" },
    { type: "image", data: "aGk=", mimeType: "image/png" },
  ]);
  expect(readOutput(printed)).toMatchObject({
    text: "a",
    images: [{ data: "aGk=", mediaType: "image/png" }],
  });
});

it("[X23] a script that failed, and an output that says so itself", () => {
  const script = [
    { type: "input_text", text: "Script failed\nWall time 0.0 seconds\nOutput:\n" },
    { type: "input_text", text: "Error: boom" },
  ];
  expect(readOutput(script)).toMatchObject({ text: "Error: boom", failed: true });
  expect(readOutput({ content: "no", success: false })).toMatchObject({ text: "no", failed: true });
});
