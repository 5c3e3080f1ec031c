/** Turns: opened, closed, counted. */
import { type BlockEvent, type JsonObject, nativeFacts } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import {
  blockStart,
  briefs,
  call,
  delta,
  done,
  event,
  foldLines,
  init,
  type Line,
  opening,
  reply,
  say,
  system,
} from "../../../../test/claude-lines.ts";
import { bytesOf, streams } from "../../../../test/recordings.ts";
import { countedIn } from "../adapter.ts";
import { fold } from "../fold.ts";
import { normalize } from "../normalize.ts";
import { providers } from "../registry.ts";
import { claudeAdapter } from "./adapter.ts";

const usage = (tokens: number) => ({
  m: { inputTokens: tokens, outputTokens: tokens, cacheReadInputTokens: tokens, costUSD: tokens },
});

function turnsOf(lines: Parameters<typeof foldLines>[0]) {
  return foldLines(lines).turns.map(({ status, reason, error }) =>
    [status, reason, error].filter((part) => part !== undefined),
  );
}

describe("boundaries", () => {
  it("[C27] each init opens a turn, its result closes it", () => {
    const lines = [
      init(),
      say("m1", "a"),
      done({ result_index: 0 }),
      init(),
      say("m2", "b"),
      done({ result_index: 1 }),
    ];
    const { turns, sessions } = foldLines(lines);
    expect(turns.map(({ turn, status, model }) => [turn, status, model])).toEqual([
      ["run/turn-0", "done", "m"],
      ["run/turn-1", "done", "m"],
    ]);
    expect(sessions).toEqual([{ provider: "claude", sessionId: "s", model: "m", cwd: "/w" }]);
  });

  it("[C27] conversation without an init is a turn, notices alone are none", () => {
    expect(foldLines([say("m1", "a"), done()]).turns).toHaveLength(1);
    expect(
      foldLines([
        system("informational", { content: "Hello" }),
        { type: "prompt_suggestion", suggestion: "x" },
      ]).turns,
    ).toEqual([]);
  });

  it("[C27] an init repeated before anything else is one turn", () => {
    expect(foldLines([init(), init({ model: "n" }), say("m1", "a"), done()]).turns).toHaveLength(1);
  });

  it("[C27] a background agent's work between two turns opens none", () => {
    const launched = { tool_use_result: { status: "async_launched", agentId: "a1" } };
    const lines = [
      init(),
      call("a", "Agent", { prompt: "p" }),
      reply("a", "Launched", launched),
      done({ result_index: 0, total_cost_usd: 1 }),
      call("b", "Bash", { command: "ls" }, { parent_tool_use_id: "a" }),
      reply("b", "out", { parent_tool_use_id: "a" }),
      init(),
      say("m2", "Done."),
      done({ result_index: 1, total_cost_usd: 3, origin: { kind: "task-notification" } }),
    ];
    expect(foldLines(lines).turns.map(({ turn, status, costUsd }) => [turn, status, costUsd])).toEqual([
      ["run/turn-0", "done", 1],
      ["run/turn-1", "done", 2],
    ]);
  });

  it("[C27] the end of a resumed session's task, reported before the prompt is started, does not end the prompt's turn", () => {
    const ofTask = { origin: { kind: "task-notification" }, result: "", num_turns: 0 };
    const ended = system("task_notification", { task_id: "k", status: "stopped", summary: "Did not finish" });
    const human = { origin: { kind: "human" }, result_index: 1 };
    const silent = foldLines([
      ended,
      init(),
      done({ ...ofTask, result_index: 0, total_cost_usd: 5, model_usage_since_last_result: {} }),
      init(),
      say("m1", "Here."),
      done({ ...human, total_cost_usd: 7, model_usage_since_last_result: usage(2) }),
    ]);
    expect(silent.turns.map(({ turn, status, costUsd }) => [turn, status, costUsd])).toEqual([
      ["run/turn-0", "done", 2],
    ]);
    // The model may speak of the task first; the turn pays for that too.
    const spoken = foldLines([
      ended,
      init(),
      say("m1", "It has stopped."),
      done({ ...ofTask, result_index: 0, total_cost_usd: 3, model_usage_since_last_result: usage(3) }),
      init(),
      say("m2", "Here."),
      done({ ...human, total_cost_usd: 5, model_usage_since_last_result: usage(2) }),
    ]);
    const [turn, ...more] = spoken.turns;
    expect([turn?.turn, turn?.status, turn?.costUsd, turn?.usage?.output]).toEqual([
      "run/turn-0",
      "done",
      5,
      5,
    ]);
    expect(more).toEqual([]);
  });

  it("[C27] an init that comes after its turn has begun belongs to it", () => {
    expect(foldLines([say("m1", "a"), init(), say("m1", "b"), done()]).turns).toHaveLength(1);
  });

  it.each([
    ["with a number", { result_index: 0 }, { result_index: 1 }],
    ["without", {}, {}],
  ])("[C27] a held result (%s) leaves the later turn alone", (_, first, second) => {
    const lines = [
      init(),
      say("m1", "one"),
      init(),
      call("t1", "Bash", { command: "ls" }),
      done({ ...first, total_cost_usd: 1 }),
      reply("t1", "out"),
      say("m3", "two"),
      done({ ...second, total_cost_usd: 3 }),
    ];
    const { turns, blocks } = foldLines(lines);
    expect(turns.map(({ turn, costUsd }) => [turn, costUsd])).toEqual([
      ["run/turn-0", 1],
      ["run/turn-1", 2],
    ]);
    expect(blocks.find((block) => block.kind === "tool_call")?.status).toBe("done");
  });

  it.each([
    [done(), ["done"]],
    [done({ is_error: true, result: "API Error: 400" }), ["error", "failed", "API Error: 400"]],
    [
      done({ subtype: "error_max_turns", errors: [] }),
      ["error", "truncated", "Reached the maximum number of turns"],
    ],
    [
      done({ subtype: "error_max_turns", is_error: true, errors: ["Reached maximum number of turns (2)"] }),
      ["error", "truncated", "Reached maximum number of turns (2)"],
    ],
    [
      done({
        subtype: "error_during_execution",
        is_error: true,
        terminal_reason: "aborted_streaming",
        errors: ["[ede_diagnostic] x"],
      }),
      ["error", "interrupted", "aborted streaming"],
    ],
    [
      done({ subtype: "error_during_execution", is_error: true, errors: ["Boom"] }),
      ["error", "failed", "Boom"],
    ],
  ])("[C28] %j", (result, expected) => {
    expect(turnsOf([init(), say("m1", "a"), result])).toEqual([expected]);
  });

  it("[C28] an older version gives the reason in a line of its own", () => {
    const stopped = done({ subtype: "error_during_execution", is_error: false });
    const content = [{ type: "text", text: "[Request interrupted by user]" }];
    const told = { type: "user", message: { role: "user", content }, parent_tool_use_id: null };
    const below = { ...told, parent_tool_use_id: "somewhere" };
    const reasons = (line: JsonObject) =>
      turnsOf([init(), say("m1", "a"), line, stopped]).map((turn) => turn[1]);
    expect([reasons(told), reasons(below)]).toEqual([["interrupted"], ["failed"]]);
  });

  it("[C28] without a result the turn was interrupted", () => {
    expect(turnsOf([init(), say("m1", "a")])).toEqual([["error", "interrupted"]]);
  });

  it("[C29] a result's text is shown only if there was none", () => {
    expect(briefs([done({ result: "Hello" })])).toEqual(['text model done "Hello"']);
    expect(briefs([init(), say("m1", "Hello"), done({ result: "Hello" })])).toHaveLength(1);
    expect(briefs([init(), done({ is_error: true, result: "Not logged in" })])).toEqual([
      'error system error(failed) "Not logged in"',
    ]);
    expect(
      briefs([
        init(),
        say("m1", "a"),
        done({ subtype: "error_during_execution", is_error: true, errors: ["Boom"] }),
      ]),
    ).toEqual(['text model done "a"', 'error system error(failed) "Boom"']);
  });
});

const agent: JsonObject = {
  type: "assistant",
  message: {
    ...{ id: "m", role: "assistant", model: "opus" },
    content: [{ type: "tool_use", id: "t", name: "Agent", input: { description: "x", prompt: "y" } }],
  },
  parent_tool_use_id: null,
};

describe("cost and usage", () => {
  it("[D42] for a stopped turn the input of its answers is known; not the last one's output, and no cost if the result states zeros", () => {
    const zeros = { total_cost_usd: 0, modelUsage: {}, usage: { input_tokens: 0, output_tokens: 0 } };
    const lines = (why: string) => [
      init(),
      event({
        type: "message_start",
        message: {
          id: "m",
          role: "assistant",
          model: "c",
          content: [],
          usage: { input_tokens: 1_189, output_tokens: 1 },
        },
      }),
      done({ ...zeros, subtype: "error_during_execution", is_error: true, terminal_reason: why }),
    ];
    const [stopped] = foldLines(lines("aborted_streaming")).turns;
    expect(stopped).toMatchObject({
      reason: "interrupted",
      usage: { input: 1_189, output: 0 },
      uncounted: true,
    });
    expect(stopped?.costUsd).toBeUndefined();
    // A turn that the API paused is an error of a turn that is "completed".
    expect(foldLines(lines("completed")).turns[0]?.error).toBe("error during execution");
    // What failed before the model was asked has cost nothing, as it says.
    const [failed] = foldLines([init(), done({ ...zeros, is_error: true })]).turns;
    expect([failed?.costUsd, failed?.uncounted]).toEqual([0, undefined]);
  });

  it.each([
    ["in its second answer", [start("n", 300)], { input: 500, output: 20 }],
    [
      "while it waits for an answer",
      [{ type: "system", subtype: "status", status: "requesting" }],
      undefined,
    ],
    ["while a sub-agent works", [agent], undefined],
  ])("[D42] a turn that was stopped %s cost at least what its result states", (_, lines, used) => {
    const stated = { opus: { inputTokens: 200, outputTokens: 20, costUSD: 0.5 } };
    const result = done({
      ...{ subtype: "error_during_execution", is_error: true, terminal_reason: "aborted_streaming" },
      ...{ total_cost_usd: 0.5, modelUsage: stated, model_usage_since_last_result: stated },
    });
    const [turn] = foldLines([init(), start("m", 200), ...ended("m", 20), ...lines, result]).turns;
    const usage = used ?? { input: 200, output: 20 };
    expect(turn).toMatchObject({ costUsd: 0.5, uncounted: true, usage });
    const [whole] = foldLines([init(), start("m", 200), ...ended("m", 20), result]).turns;
    expect([whole?.costUsd, whole?.uncounted]).toEqual([0.5, undefined]);
    const [killed] = foldLines([init(), start("m", 200), ...ended("m", 20), ...lines]).turns;
    expect(killed).toMatchObject({ reason: "interrupted", uncounted: true, usage });
    expect(killed?.costUsd).toBeUndefined();
  });

  function start(id: string, input_tokens: number): Line {
    const usage = { input_tokens, output_tokens: 1 };
    return event({
      type: "message_start",
      message: { id, role: "assistant", model: "opus", content: [], usage },
    });
  }

  function ended(id: string, output_tokens: number): Line[] {
    const delta = { stop_reason: "tool_use" };
    return [
      event({ type: "message_delta", delta, usage: { output_tokens } }),
      event({ type: "message_stop", message: { id } }),
    ];
  }

  const claude = providers.get("claude")!;
  const recorded = streams.filter(({ provider }) => provider === "claude");

  it.each(recorded.map((recording) => [recording.name, recording] as const))(
    "[C30] %s: turns add up to the last total",
    (_, recording) => {
      const text = new TextDecoder().decode(bytesOf(recording));
      const totals = [...text.matchAll(/"(?:total_)?cost_usd":([\d.e-]+)/g)].map((match) => Number(match[1]));
      const { turns } = normalize(claude, [bytesOf(recording)]);
      const sum = turns.reduce((all, turn) => all + (turn.costUsd ?? 0), 0);
      // A resumed run begins at the sum of the runs before it; a reset begins at zero.
      const before = recording.name.includes("resume.run2") ? 0.0138208 : 0;
      const last = recording.name.includes("slash-context-usage")
        ? (totals.at(-2) ?? 0)
        : (totals.at(-1) ?? 0);
      expect(sum).toBeCloseTo(last - before, 9);
    },
  );

  it("[C30] a resumed run, by the CLI's numbers or by ours", () => {
    const result = done({
      total_cost_usd: 5,
      modelUsage: usage(5),
      usage: { input_tokens: 2, output_tokens: 2 },
    });
    const since = { ...result, model_usage_since_last_result: usage(2) };
    const [told] = foldLines([init(), since]).turns;
    expect([told?.costUsd, told?.usage?.output, told?.usage?.input]).toEqual([2, 2, 4]);
    let state = claudeAdapter.start("run", { previousCostUsd: 3 });
    const events = [];
    for (const line of [init(), result]) {
      const [next, made] = claudeAdapter.step(state, line as never);
      state = next;
      events.push(...made);
    }
    const [known] = fold(events).turns;
    expect([known?.costUsd, known?.usage?.output]).toEqual([2, 2]);
  });

  it("[C30] the CLI's number for the turn counts, whatever it remembers of earlier ones", () => {
    // Killed before it could store its total, it continues with an older one, or with none.
    for (const total of [2, 4, 90]) {
      const stated = { modelUsage: usage(total), model_usage_since_last_result: usage(2) };
      const line = done({ total_cost_usd: total, duration_api_ms: 10 * total, ...stated });
      let state = claudeAdapter.start("run", { previousCostUsd: 50, previousApiMs: 500 });
      const events = [];
      for (const each of [init(), line]) {
        const [next, made] = claudeAdapter.step(state, each as never);
        state = next;
        events.push(...made);
      }
      const [turn] = fold(events).turns;
      const apiMs = { 2: 20, 4: undefined, 90: 400 }[total];
      expect([total, turn?.costUsd, turn?.native?.["turn_api_ms"]]).toEqual([total, 2, apiMs]);
    }
  });

  it("[C30] so does the time spent waiting for the model; if the older share is unknown, it is left out", () => {
    const result = (apiMs: number, more = {}) =>
      done({ total_cost_usd: 5, modelUsage: usage(5), duration_api_ms: apiMs, ...more });
    const since = { model_usage_since_last_result: usage(2) };
    const shares = (lines: Parameters<typeof foldLines>[0]) =>
      foldLines(lines).turns.map(({ native }) => [native?.["duration_api_ms"], nativeFacts(native).apiMs]);
    expect(shares([init(), result(500), init(), result(700)])).toEqual([
      [500, 500],
      [700, 200],
    ]);
    // The end of a background agent is reported with zero.
    expect(shares([init(), result(500), init(), result(0), init(), result(700)])).toEqual([
      [500, 500],
      [0, undefined],
      [700, 200],
    ]);
    const told = countedIn([{ native: { duration_api_ms: 500 } }, { native: { duration_api_ms: 0 } }]);
    expect(told.previousApiMs).toBe(500);
    expect(shares([init(), result(500, since), init(), result(700)])).toEqual([
      [500, undefined],
      [700, 200],
    ]);
    const earlier = [{ costUsd: 3, native: { duration_api_ms: 400 } }, { native: {} }];
    let state = claudeAdapter.start("run", countedIn(earlier));
    const events: BlockEvent[] = [];
    for (const line of [init(), result(500, since)]) {
      const [next, made] = claudeAdapter.step(state, line as never);
      state = next;
      events.push(...made);
    }
    expect(nativeFacts(fold(events).turns[0]?.native).apiMs).toBe(100);
  });

  it("[C30] running totals become each turn's own, and start over after a reset", () => {
    const lines = [
      ...[1, 4].flatMap((total) => [
        init(),
        say(`m${total}`, "x"),
        done({ total_cost_usd: total, modelUsage: usage(total) }),
      ]),
      { type: "conversation_reset", new_conversation_id: "n", trigger: "clear" },
      ...[2].flatMap((total) => [
        init(),
        say("m9", "x"),
        done({ total_cost_usd: total, modelUsage: usage(total) }),
      ]),
    ];
    expect(foldLines(lines).turns.map((turn) => [turn.costUsd, turn.usage?.output])).toEqual([
      [1, 1],
      [3, 3],
      [2, 2],
    ]);
  });

  it("[C31] a message is counted once, its last row wins", () => {
    const final = {
      input_tokens: 10,
      cache_read_input_tokens: 5,
      output_tokens: 64,
      output_tokens_details: { thinking_tokens: 7 },
    };
    const lines = [
      init(),
      opening("m1"),
      blockStart(0, { type: "text", text: "" }),
      delta(0, { type: "text_delta", text: "a" }),
      say("m1", "a"),
      event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: final }),
      event({ type: "message_stop" }),
      say("m1", "b"),
    ];
    expect(foldLines(lines.slice(0, -1)).messages).toEqual([
      {
        messageId: "m1",
        turn: "run/turn-0",
        model: "m",
        usage: { input: 15, cacheRead: 5, cacheWrite: 0, output: 64, reasoning: 7 },
      },
    ]);
  });

  it("[C31] a message without deltas tells its usage when it changes, a sub-agent's names its call", () => {
    const lines = [
      call("a", "Agent", { prompt: "p" }),
      say("m2", "x", { parent_tool_use_id: "a" }),
      say("m2", "y", { parent_tool_use_id: "a" }),
    ];
    const { messages } = foldLines(lines);
    expect(messages.map(({ messageId, parent }) => [messageId, parent])).toEqual([
      ["msg-a", undefined],
      ["m2", "run/c:a"],
    ]);
  });
});
