/**
 * The addresses at which a page shows that it is ours: which sessions its cookies open, with a challenge; the binding of a
 * session to the page's key; and a ticket for a signed challenge. A cookie alone reaches them and gets nothing from them.
 */

import { isProblem, type Problem, problem } from "@blockyard/kernel";
import type { Context, Hono } from "hono";
import { z } from "zod";
import type { Auth } from "../access/auth.ts";
import type { SessionAsked } from "../access/http-gateway.ts";
import { TICKET_MS } from "../access/limits.ts";
import { answer } from "./answer.ts";
import { readJson } from "./bodies.ts";
import { SESSION_BODY_BYTES } from "./limits.ts";
import type { NodeBindings } from "./node-bindings.ts";

type Asked = Context<{ Bindings: NodeBindings }>;

const word = z.string().min(1).max(1_000);
const bindInput = z.strictObject({ secret: word, key: word });
const ticketInput = z.strictObject({ session: word, challenge: word, signature: word });

export function sessionRoutes(
  app: Hono<{ Bindings: NodeBindings }>,
  auth: Auth,
  asked: (context: Asked) => SessionAsked,
  refused: (context: Asked) => Problem | undefined,
): void {
  app.get("/v1/session", (context) => {
    const sessions = asked(context).sessions.map(({ id, role, agent, name, key }) => ({
      ...{ id, role, agent, name },
      bound: key !== undefined,
    }));
    context.header("cache-control", "no-store");
    return context.json({ sessions, challenge: auth.proof.challenge() });
  });

  app.post("/v1/session/bind", async (context) => {
    const input = refused(context) ?? (await read(context, bindInput));
    if (isProblem(input)) return answer(context, input);
    const { sessions, cookie } = asked(context);
    for (const session of sessions) {
      const opened = auth.sessions.bind(session, input.secret, input.key);
      if (!opened) continue;
      context.header("set-cookie", cookie(opened));
      return context.json({ session: session.id });
    }
    return answer(context, problem("forbidden", "this browser has no session bound to that key"));
  });

  app.post("/v1/session/ticket", async (context) => {
    const input = refused(context) ?? (await read(context, ticketInput));
    if (isProblem(input)) return answer(context, input);
    const { sessions, origin } = asked(context);
    const session = sessions.find(({ id }) => id === input.session);
    const ticket = session && auth.proof.ticket(session, origin, input.challenge, input.signature);
    if (ticket === undefined)
      return answer(context, problem("forbidden", "the signature is not from the page"));
    context.header("cache-control", "no-store");
    return context.json({ ticket, valid_ms: TICKET_MS });
  });
}

async function read<T>(context: Asked, schema: z.ZodType<T>): Promise<T | Problem> {
  const body = await readJson(context, SESSION_BODY_BYTES);
  if (isProblem(body)) return body;
  const parsed = schema.safeParse(body.json);
  return parsed.success ? parsed.data : problem("invalid", "invalid request body");
}
