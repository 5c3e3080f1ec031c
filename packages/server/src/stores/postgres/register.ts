/**
 * Which nodes have the database open: a row each, with the end of its lease by the server's clock.
 */

import type { NodeList, NodeRegister } from "@blockyard/kernel";
import type { Connections } from "./connections.ts";

export class PostgresRegister implements NodeRegister {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  beat(node: string, leaseMs: number): Promise<NodeList> {
    return this.#connections.again("beat", async (connection) => {
      await connection.run({
        name: "beat",
        text: `INSERT INTO blockyard.node VALUES ($1, clock_timestamp() + $2 * interval '1 millisecond')
          ON CONFLICT (name) DO UPDATE SET until = excluded.until`,
        values: [node, leaseMs],
      });
      const rows = await connection.rows<{ name: string; is_alive: boolean }>({
        name: "nodes that are alive",
        text: "SELECT name, until > clock_timestamp() AS is_alive FROM blockyard.node ORDER BY name",
      });
      const named = (isAlive: boolean) =>
        rows.filter((row) => row.is_alive === isAlive).map(({ name }) => name);
      return { alive: named(true), dead: named(false) };
    });
  }

  async remove(node: string): Promise<void> {
    await this.#connections.again("remove a node", (connection) =>
      connection.run({ text: "DELETE FROM blockyard.node WHERE name = $1", values: [node] }),
    );
  }
}
