/** Bounds of the sandbox. */

// Administrators
/** Entries among which what is the administrator's is looked for. */
export const ADMINISTRATORS_LOOKED_AT = 20_000;

// Git obeys
export const GIT_CONFIG_BYTES = 1024 * 1024;
/** So many folders of submodules and worktrees are kept one by one, of all repositories together, and so deep; of more none is written to. */
export const GIT_FOLDERS = 300;
export const GIT_FOLDER_DEPTH = 8;

/** Configurations that are read for one repository, with those that they include. */
export const GIT_CONFIG_INCLUDES = 40;

// Kept places
/** As many as the kernel follows. */
export const LINKS_ON_A_WAY = 40;

// Nested
/** Entries of a folder that are looked at for repositories, and repositories that are kept: those nearest to its top. */
export const NESTED_LOOKED_AT = 20_000;
export const NESTED_REPOSITORIES = 100;

// Known paths
export const KNOWN_BYTES = 16 * 1024 * 1024;
/** Guarded files of one folder that are remembered, and folders of which something is. */
export const KNOWN_GUARDED = 1_000;
export const KNOWN_FOLDERS = 20;

// Sockets
/** One that is newer may be gone again in a moment, and what is not there cannot be covered: the command would not start. */
export const COVERED_SOCKET_MS = 60_000;

// Sandbox
/** What bubblewrap takes, with some room, and what the system passes on to a program. */
export const BUBBLEWRAP_ARGS = 8_900;
export const ARGUMENT_BYTES = 1_500_000;
/** How long it may take to find out whether the sandbox works here. */
export const SANDBOX_TRY_MS = 10_000;
