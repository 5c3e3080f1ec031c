/** Loro and Automerge, for others.ts: one document per block, each flush as an update. */
import * as Automerge from "@automerge/automerge";
import { LoroDoc } from "loro-crdt";
import { flushesOf } from "./blocks.ts";
import type { Other } from "./other.ts";

export const others: readonly Other[] = [
  {
    name: "loro",
    write(block, insert) {
      const doc = new LoroDoc();
      const text = doc.getText("t");
      let version = doc.version();
      for (const flush of flushesOf(block)) {
        text.insert(text.length, flush);
        doc.commit();
        insert(doc.export({ mode: "update", from: version }));
        version = doc.version();
      }
      doc.free();
    },
  },
  {
    name: "automerge",
    write(block, insert) {
      let doc = Automerge.from({ text: "" });
      for (const flush of flushesOf(block)) {
        doc = Automerge.change(doc, (draft) =>
          Automerge.splice(draft, ["text"], draft.text.length, 0, flush),
        );
        insert(Automerge.getLastLocalChange(doc) as Uint8Array);
      }
      Automerge.free(doc);
    },
  },
];
