/**
 * A database as the doctor sees it: connected to as the store would be, and left as it is.
 */

import type { DatabaseAddress } from "../../config/database-address.ts";
import { Connections } from "./connections.ts";
import { readVersion } from "./schema.ts";

export async function describe(address: DatabaseAddress): Promise<string> {
  const connections = new Connections(address, "blockyard-doctor", { max: 1 });
  try {
    return await connections.again(`cannot open ${address.shown}`, async (connection) => {
      const version = await readVersion(connection, address.shown);
      const [server] = await connection.rows<{ version: string }>({
        text: "SELECT current_setting('server_version') AS version",
      });
      const tables =
        version === undefined ? "no tables yet: the first start creates them" : `schema ${version}`;
      return `${address.shown} answers: PostgreSQL ${server?.version}, ${tables}`;
    });
  } finally {
    await connections.close();
  }
}
