/**
 * A body of any length to the server, over hours if need be: piece by piece, as slowly as the server takes it, without the
 * time limits that a fetch has. An answer that comes before the end (a refusal) ends the sending.
 */

import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Json } from "@blockyard/kernel";
import { type Problem, problem } from "@blockyard/kernel/plain";

export function sendBody(
  url: string,
  token: string,
  body: AsyncIterable<Uint8Array>,
): Promise<Json | Problem> {
  return new Promise((resolve) => {
    const start = url.startsWith("https:") ? httpsRequest : httpRequest;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" };
    const request = start(url, { method: "POST", headers });
    let isOver = false;
    const end = (answer: Json | Problem) => {
      if (isOver) return;
      isOver = true;
      resolve(answer);
      request.destroy();
    };
    const lost = (error: Error) =>
      end(
        problem("unavailable", `lost the connection to the server: ${error.message}. Try: blockyard doctor`),
      );
    request.on("error", lost);
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", lost);
      response.on("end", () => end(answerOf(Buffer.concat(chunks).toString("utf8"), response.statusCode)));
    });
    void pump(body, request, () => isOver).catch(lost);
  });
}

async function pump(
  body: AsyncIterable<Uint8Array>,
  request: ReturnType<typeof httpRequest>,
  isOver: () => boolean,
): Promise<void> {
  for await (const bytes of body) {
    if (isOver()) return;
    if (request.write(bytes)) continue;
    await new Promise<void>((resolve) => {
      const go = () => {
        request.off("drain", go).off("close", go);
        resolve();
      };
      request.once("drain", go).once("close", go);
    });
  }
  if (!isOver()) request.end();
}

function answerOf(text: string, status: number | undefined): Json | Problem {
  try {
    return JSON.parse(text) as Json | Problem;
  } catch {
    return problem("unavailable", `the server answered ${status ?? "nothing"}: ${text.slice(0, 200)}`);
  }
}
