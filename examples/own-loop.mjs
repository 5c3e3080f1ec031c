/**
 * A loop of your own: whatever a program prints becomes a model's answer, live, in a turn of its own. The turn has a footer on
 * the page, `llm_*` events and a line in turn.list, and it survives a restart of the server.
 *
 *   ollama run llama3 "Why is the sky blue?" | node own-loop.mjs <url> <token> <conversation>
 */
import { connect } from "blockyard/client";

const [url, token, conversation] = process.argv.slice(2);
if (!url || !token || !conversation) {
  console.error("usage: <a program> | node own-loop.mjs <url> <token> <conversation>");
  process.exit(2);
}

const client = await connect({ url, token });

// What a model would be sent now: path, pruning, includes, results. A loop that calls an API itself sends these.
const { messages } = await client.call("conversation.context", { conversation, blocks: false });
console.log(`${messages.length} messages`);

// What is created from here on belongs to the turn.
const turn = await client.beginTurn(conversation, { provider: "pipe" });
process.once("SIGINT", async () => {
  await turn.end({ error: "Stopped." });
  process.exit(1);
});

const answer = await client.call("block.create", { conversation, kind: "text", role: "model" });
let pieces = 0;
for await (const text of process.stdin.setEncoding("utf8")) {
  await client.call("block.append", { block_id: answer.block_id, text });
  pieces++;
}
await client.call("block.status", { block_id: answer.block_id, status: "done" });
await turn.end({ stop_reason: "end_turn", usage: { output: pieces } });
console.log(`done: ${turn.id}`);
client.close();
