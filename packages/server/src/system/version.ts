/**
 * The version that this server says it has: the one of its package.
 */

import packageJson from "../../package.json" with { type: "json" };

export const VERSION: string = packageJson.version;
