/** A package registry on loopback with a few tiny packages, which can hold an archive back, keep archives elsewhere, or be gone. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const VERSION = "1.0.0";

interface Archive {
  readonly bytes: Buffer;
  readonly integrity: string;
}

export class Registry {
  readonly #archives = new Map<string, Archive>();
  readonly #server: Server;
  url = "";
  /** Paths that were asked for. */
  readonly asked: string[] = [];
  /** A package whose archive never comes; `onHeld` is called when it is asked for. */
  held: string | undefined;
  onHeld = (): void => undefined;
  /** Whether archives are where no other registry has them. */
  isOdd = false;

  private constructor(names: readonly string[]) {
    for (const name of names) this.#archives.set(name, pack(name));
    this.#server = createServer((request, response) => {
      const path = request.url ?? "";
      this.asked.push(path);
      const name = path.split("/").at(this.isOdd && path.startsWith("/odd/") ? 2 : 1) ?? "";
      const archive = this.#archives.get(name);
      const isArchive = path === this.#placeOf(name);
      if (archive === undefined || (!isArchive && path !== `/${name}`)) {
        response.writeHead(404).end("{}");
      } else if (!isArchive) {
        response.setHeader("content-type", "application/json").end(this.#list(name, archive));
      } else if (name === this.held) {
        this.onHeld();
      } else response.end(archive.bytes);
    });
  }

  static async open(names: readonly string[]): Promise<Registry> {
    const registry = new Registry(names);
    await new Promise<void>((done) => registry.#server.listen(0, "127.0.0.1", done));
    registry.url = `http://127.0.0.1:${(registry.#server.address() as AddressInfo).port}/`;
    return registry;
  }

  /** As a lockfile has it. */
  entry(name: string): { readonly version: string; readonly integrity: string } {
    return { version: VERSION, integrity: (this.#archives.get(name) as Archive).integrity };
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  #placeOf(name: string): string {
    return this.isOdd ? `/odd/${name}` : `/${name}/-/${name}-${VERSION}.tgz`;
  }

  #list(name: string, { integrity }: Archive): string {
    const dist = { tarball: new URL(this.#placeOf(name), this.url).href, integrity };
    return JSON.stringify({
      name,
      "dist-tags": { latest: VERSION },
      versions: { [VERSION]: { name, version: VERSION, dist } },
    });
  }
}

function pack(name: string): Archive {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-pack-"));
  mkdirSync(join(folder, "package"));
  writeFileSync(join(folder, "package/package.json"), JSON.stringify({ name, version: VERSION }));
  execFileSync("tar", ["-czf", join(folder, "a.tgz"), "-C", folder, "package"]);
  const bytes = readFileSync(join(folder, "a.tgz"));
  rmSync(folder, { recursive: true });
  return { bytes, integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}` };
}
