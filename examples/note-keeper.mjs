/**
 * A program beside the agents: follows a conversation, prints what its agents do, and keeps a note of every tool call in a
 * block of its own, which people and models can read, edit and undo like any other.
 *
 *   node note-keeper.mjs <url> <token> <conversation>
 */
import { connect } from "blockyard/client";

const [url, token, conversation] = process.argv.slice(2);
if (!url || !token || !conversation) {
  console.error("usage: node note-keeper.mjs <url> <token> <conversation>");
  process.exit(2);
}

const client = await connect({ url, token });
console.log(`connected as ${client.replica.self?.agent}`);

// A block of our own, beside the conversation's path: it is no part of what the models read.
const note = await client.call("block.create", {
  conversation,
  kind: "text",
  role: "model",
  side: true,
  status: "running",
  content: "# Tool calls\n",
});

process.on("SIGINT", async () => {
  await client.call("block.status", { block_id: note.block_id, status: "done" });
  client.close();
});

client.onTool((update) => {
  if (update.stage !== "end") return;
  const line = `- ${update.success ? "ok" : "failed"}: ${update.name} ${update.compactParams ?? ""}\n`;
  process.stdout.write(line);
  void client.call("block.append", { block_id: note.block_id, text: line });
});

const view = await client.follow(conversation, (change, { record }) => {
  if (change.order) console.log(`${record?.blocks ?? 0} blocks`);
});
console.log(`following "${view.record?.title}"`);
