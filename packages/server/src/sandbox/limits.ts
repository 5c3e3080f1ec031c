/** Bounds of the sandbox. */

// Administrators
/** Entries searched for the administrator's own files. */
export const ADMINISTRATORS_LOOKED_AT = 20_000;

// Git obeys
export const GIT_CONFIG_BYTES = 1024 * 1024;
/**
 * Folders of submodules and worktrees protected one by one, of all repositories together, and their depth; with more,
 * none is writable.
 */
export const GIT_FOLDERS = 300;
export const GIT_FOLDER_DEPTH = 8;

/** Configurations that are read for one repository, with those that they include. */
export const GIT_CONFIG_INCLUDES = 40;

// Kept places
/** As many as the kernel follows. */
export const LINKS_ON_A_WAY = 40;

// Nested
/** Entries of a folder searched for repositories, and repositories protected: those nearest to its top. */
export const NESTED_LOOKED_AT = 20_000;
export const NESTED_REPOSITORIES = 100;

// Known paths
export const KNOWN_BYTES = 16 * 1024 * 1024;
/** Guarded files cached for one folder, and folders cached. */
export const KNOWN_GUARDED = 1_000;
export const KNOWN_FOLDERS = 20;

// Sockets
/** A newer file may be gone again in a moment, and a missing file cannot be covered: the command would not start. */
export const COVERED_SOCKET_MS = 60_000;

// Sandbox
/** What bubblewrap accepts, with some margin, and what the system passes on to a program. */
export const BUBBLEWRAP_ARGS = 8_900;
export const ARGUMENT_BYTES = 1_500_000;
/** How long it may take to find out whether the sandbox works here. */
export const SANDBOX_TRY_MS = 10_000;
