/** Results of sub-agents and of tools that look things up: the web, files by name, other tools. */

import type { Json, JsonObject } from "@blockyard/kernel";
import { linkList } from "../anthropic/server-results.ts";
import { isObject, parseJson } from "../framing/json.ts";
import { given, listOf, numberOf, objectOf, plural, textOf, wordsOf } from "../read.ts";
import { cutRow, rowOf } from "../row.ts";
import {
  contentOf,
  linesRow,
  type Outcome,
  outputRow,
  plain,
  type Show,
  type ToolReport,
} from "./outcome.ts";

/** Agent (Task, up to 2.1.50): the report itself, without the frame around it for the model. */
export const agentOutcome: Show = (report) => {
  if (report.isError) return undefined;
  if (!isObject(report.payload))
    return plain(report, {
      ...contentOf(report.content),
      text: framedReport(contentOf(report.content).text),
    });
  const { content, prompt: _prompt, ...facts } = report.payload;
  const status = textOf(report.payload.status);
  const isBackground =
    status === "async_launched" || status === "remote_launched" || report.payload.isAsync === true;
  // The model's message at the launch is no report; that comes when the agent has ended.
  if (isBackground) return { blocks: [], failed: false, short: "in the background", isBackground };
  const paragraphs = listOf(content)
    .map((part) => textOf(objectOf(part).text) ?? "")
    .filter((text) => text !== "" && !text.startsWith("<tools-used-before-summary>"));
  const text = paragraphs.length > 0 ? paragraphs.join("\n") : contentOf(report.content).text;
  const shown = plain(
    { ...report, payload: facts },
    { text, images: contentOf(report.content).images, references: [] },
  );
  return { ...shown, short: agentRow(report.payload, text) };
};

/**
 * The report inside the frame that 2.1 puts around it for the model: the indented text below the frame's heading, up to
 * the facts about the agent.
 */
function framedReport(text: string): string {
  const heading = text.indexOf("[Subagent hand-back]");
  const start = heading < 0 ? -1 : text.indexOf("\n", heading);
  if (start < 0) return text.replace(/\nagentId: \S+ \([\s\S]*$/, "");
  const lines: string[] = [];
  for (const line of text.slice(start + 1).split("\n")) {
    if (line !== "" && !line.startsWith("  ")) break;
    lines.push(line.slice(2));
  }
  return lines.join("\n").trimEnd();
}

function agentRow(payload: JsonObject, text: string): string {
  return usesRow(numberOf(payload.totalToolUseCount), text);
}

export function usesRow(uses: number | undefined, text: string): string {
  return uses === undefined || uses === 0 ? outputRow(text) : plural(uses, "tool use");
}

export const webSearchOutcome: Show = (report) => {
  if (report.isError) return undefined;
  if (!isObject(report.payload)) return report.payload === undefined ? foundLinks(report) : undefined;
  const results = listOf(report.payload.results);
  const citations = results.flatMap((result) =>
    listOf(objectOf(result).content).flatMap((hit) => {
      const { url, title } = objectOf(hit);
      return typeof url === "string" ? [given({ url, title: wordsOf(title) }) as JsonObject] : [];
    }),
  );
  const said = results
    .filter((result): result is string => typeof result === "string")
    .map((text) => text.trim());
  const links = linkList(
    citations.map(({ url, title }) => ({ url: textOf(url) ?? "", title: textOf(title) })),
  );
  const text = [...said, links].filter((part) => part !== "").join("\n\n");
  const facts = given({
    query: wordsOf(report.payload.query),
    durationSeconds: numberOf(report.payload.durationSeconds),
  });
  return {
    blocks: [{ kind: "tool_result", text, metadata: { citations, result: facts as JsonObject } }],
    failed: false,
    short: plural(citations.length, "result"),
  };
};

/** Without a payload: the words for the model, which hold lists of links. */
function foundLinks(report: ToolReport): Outcome {
  const shown = plain(report);
  const [block] = shown.blocks;
  const lists = [...(block?.text ?? "").matchAll(/^Links: (\[.*\])$/gm)].map(([, list = ""]) =>
    parseJson(list),
  );
  const citations = lists
    .flatMap(listOf)
    .map(objectOf)
    .filter(({ url }) => typeof url === "string");
  if (block === undefined || lists.length === 0) return shown;
  const blocks = [{ ...block, metadata: { ...block.metadata, citations } }];
  return { ...shown, blocks, short: plural(citations.length, "result") };
}

export const webFetchOutcome: Show = (report) => {
  const payload = objectOf(report.payload);
  const text = textOf(payload.result);
  if (report.isError || text === undefined) return undefined;
  const { result: _result, ...facts } = payload;
  const shown = plain({ ...report, payload: facts }, { text, images: [], references: [] });
  const row = [numberOf(payload.code), wordsOf(payload.codeText)]
    .filter((part) => part !== undefined)
    .join(" ");
  return { ...shown, short: row === "" ? outputRow(text) : row };
};

export const toolSearchOutcome: Show = (report) => {
  const names = contentOf(report.content).references;
  if (report.isError || names.length === 0) return undefined;
  return { ...plain(report), short: cutRow(names.join(", ")) };
};

/** Glob, Grep: the matches, as the model saw them, and their number. */
export const foundOutcome: Show = (report) => {
  if (report.isError) return undefined;
  const { filenames: _filenames, ...facts } = objectOf(report.payload);
  const files = numberOf(facts.numFiles) ?? listedFiles(report);
  const matches = numberOf(facts.numMatches);
  const text = contentOf(report.content).text;
  const inLines = facts.mode === "content";
  const short = inLines
    ? linesRow(text)
    : matches !== undefined && matches > 0
      ? `${plural(matches, "match", "matches")} in ${plural(files ?? 0, "file")}`
      : files === undefined
        ? outputRow(text)
        : plural(files, "file");
  const { content: _content, ...left } = facts;
  return { ...plain({ ...report, payload: Object.keys(left).length === 0 ? undefined : left }), short };
};

/** Without a payload, how many files Glob found: it lists one a line. */
function listedFiles({ toolName, payload, content }: ToolReport): number | undefined {
  if (payload !== undefined || !toolName.startsWith("Glob")) return undefined;
  const lines = contentOf(content).text.split("\n");
  const paths = lines.filter((line) => line.startsWith("/") || /^[A-Za-z]:\\/.test(line));
  return paths.length === lines.length ? paths.length : undefined;
}

export const skillOutcome: Show = (report) => {
  if (report.isError) return undefined;
  const payload = objectOf(report.payload);
  const said = contentOf(report.content);
  const launched = /^Launching skill: (\S+)$/.exec(said.text)?.[1];
  // A skill that ran as an agent of its own has a report, in a frame for the model.
  const framed = FORKED_SKILL.exec(said.text);
  const text = wordsOf(payload.result) ?? framed?.[2] ?? said.text;
  return {
    ...plain({ ...report, payload: undefined }, { ...said, text }),
    short: wordsOf(payload.commandName) ?? launched ?? framed?.[1] ?? rowOf(text),
  };
};

const FORKED_SKILL =
  /^(?:<tools-used-before-summary>.*\n)?Skill "([^"]+)" completed \(forked execution\)\.\n+Result:\n([\s\S]*)$/;

/** Without a payload some tools give the model the same as JSON. */
function payloadOf({ payload, content }: ToolReport): Json | undefined {
  return payload ?? (typeof content === "string" ? parseJson(content) : undefined);
}

export const messageOutcome: Show = (report) => {
  const payload = objectOf(payloadOf(report));
  const message = wordsOf(payload.message);
  if (message === undefined) return undefined;
  const { message: _message, ...facts } = payload;
  const left = Object.keys(facts).length === 0 ? undefined : facts;
  return plain({ ...report, payload: left }, { text: message, images: [], references: [] });
};

/** An MCP server's text, without the envelope. */
export const resourceOutcome: Show = (report) => {
  const contents = listOf(objectOf(payloadOf(report)).contents).map(objectOf);
  if (report.isError || contents.length === 0) return undefined;
  const text = contents.map((part) => textOf(part.text) ?? JSON.stringify(part)).join("\n");
  const facts = contents.map(({ text: _text, ...rest }) => rest);
  const shown = plain({ ...report, payload: { contents: facts } }, { text, images: [], references: [] });
  return { ...shown, short: outputRow(text) };
};

export const resourcesOutcome: Show = (report) => {
  const resources = payloadOf(report);
  if (report.isError || !Array.isArray(resources)) return undefined;
  return { ...plain(report), short: plural(resources.length, "resource") };
};

export const findingsOutcome: Show = (report) => {
  const findings = listOf(objectOf(report.payload).findings);
  if (report.isError || findings.length === 0) return undefined;
  return { ...plain(report), short: plural(findings.length, "finding") };
};
