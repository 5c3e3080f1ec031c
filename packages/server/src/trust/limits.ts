/** Bounds of what is looked at in a folder before it is trusted. */

// Acting files
/** This many are shown one by one; the rest is one entry, with a digest of all of it. */
export const ACTING_FILES = 500;
/** Deeper files, or more than this in one folder, are known by their file system metadata. */
export const ACTING_DEPTH = 7;
export const LOOKED_AT_FILES = 2_000;
export const ACTING_FILE_BYTES = 4 * 1024 * 1024;
export const ACTING_BYTES = 64 * 1024 * 1024;

// Git branch
export const BRANCH_CHARS = 250;
export const GIT_HEAD_BYTES = 64 * 1024;

// Git config
export const GIT_CONFIG_BYTES = 1024 * 1024;
export const GIT_CONFIG_INCLUDES = 20;
export const SUBMODULE_DEPTH = 4;

// Git index
export const GIT_INDEX_BYTES = 64 * 1024 * 1024;
export const GIT_INDEX_PARTS = 8;
export const SUBMODULES = 200;

// Own rules
export const OWN_RULES_BYTES = 1024 * 1024;

// Trust
export const TRUSTED_FOLDERS = 1_000;
export const NAMED_FILES = 5;
