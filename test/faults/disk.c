/*
 * A disk that can lose power, fail and fill up, as a library that is preloaded into a writing process. It stands between
 * the process and the system's calls, for files below FAULT_DIR only:
 *
 *   FAULT_SHADOW  a directory. Whatever a file had at its last fsync is kept there under the file's name: that is what
 *                 a power loss leaves, at worst: also a file that was removed, until its directory is synced. The real
 *                 fsync is left out.
 *   FAULT_POWER   the process is killed in front of the n-th call.
 *   FAULT_KILL    the process is killed in front of the n-th call that changes a file or a folder: those above, and creating,
 *                 naming and removing.
 *   FAULT_FAIL    the n-th call, and the FAULT_TIMES - 1 after it, fail with FAULT_ERRNO. FAULT_CALLS picks the calls:
 *                 any of w (write), s (sync), t (truncate).
 *   FAULT_FULL    a file. While it exists, writes that make a file longer fail with ENOSPC.
 *   FAULT_READONLY  a file. While it exists, writes, truncations and removals fail with EROFS.
 *   FAULT_COUNT   a file that gets the number of calls, and of calls that change something, when the process ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 4096

typedef struct {
  char known, tracked;
  dev_t device;
  ino_t inode;
  char shadow[PATH_MAX];
  struct { off_t from; size_t length; } *dirty;
  int count, capacity;
} File;

static File files[FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls, changes;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_fsync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_close)(int);
static int (*real_unlink)(const char *);
static int (*real_unlinkat)(int, const char *, int);
static int (*real_open)(const char *, int, ...);
static int (*real_rename)(const char *, const char *);
static int (*real_link)(const char *, const char *);
static int (*real_mkdir)(const char *, mode_t);
static int (*real_rmdir)(const char *);
static ssize_t (*real_sendfile)(int, int, off_t *, size_t);

/* Shadows of removed files, until the directory is synced. */
static char removed[64][PATH_MAX];
static int removals;

__attribute__((constructor)) static void find(void) {
  real_pwrite = dlsym(RTLD_NEXT, "pwrite");
  real_write = dlsym(RTLD_NEXT, "write");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
  real_close = dlsym(RTLD_NEXT, "close");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_unlinkat = dlsym(RTLD_NEXT, "unlinkat");
  real_open = dlsym(RTLD_NEXT, "open");
  real_rename = dlsym(RTLD_NEXT, "rename");
  real_link = dlsym(RTLD_NEXT, "link");
  real_mkdir = dlsym(RTLD_NEXT, "mkdir");
  real_rmdir = dlsym(RTLD_NEXT, "rmdir");
  real_sendfile = dlsym(RTLD_NEXT, "sendfile");
}

static long number(const char *name, long otherwise) {
  const char *value = getenv(name);
  return value && *value ? atol(value) : otherwise;
}

/* Counts a call that changes something, or does not return from it. */
static void change(void) {
  if (__atomic_add_fetch(&changes, 1, __ATOMIC_SEQ_CST) == number("FAULT_KILL", -1)) kill(getpid(), SIGKILL);
}

static void change_at(const char *path) {
  const char *directory = getenv("FAULT_DIR");
  if (directory && !strncmp(path, directory, strlen(directory))) change();
}

/* The state of a descriptor, or NULL if its file is none of ours. */
static File *tracked(int fd) {
  if (fd < 3 || fd >= FILES) return NULL;
  File *file = &files[fd];
  struct stat status;
  if (fstat(fd, &status)) return NULL;
  /* Not every close comes by here: a number may stand for another file by now. */
  if (!file->known || file->device != status.st_dev || file->inode != status.st_ino) {
    char link[64], path[PATH_MAX];
    const char *directory = getenv("FAULT_DIR");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    file->known = 1;
    file->tracked = file->count = 0;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    if (!directory || length <= 0 || !S_ISREG(status.st_mode)) return NULL;
    path[length] = 0;
    if (strncmp(path, directory, strlen(directory))) return NULL;
    file->tracked = 1;
    const char *shadow = getenv("FAULT_SHADOW");
    if (shadow) snprintf(file->shadow, sizeof file->shadow, "%s%s", shadow, strrchr(path, '/'));
    else file->shadow[0] = 0;
  }
  return file->tracked ? file : NULL;
}

/* Counts a call. Returns the error that it has to fail with, or 0; or does not return. */
static int is_read_only(void) {
  const char *flag = getenv("FAULT_READONLY");
  return flag && !access(flag, F_OK);
}

static int fate(char kind) {
  if (is_read_only()) return EROFS;
  long n = ++calls;
  change();
  if (n == number("FAULT_POWER", -1)) kill(getpid(), SIGKILL);
  const char *kinds = getenv("FAULT_CALLS");
  static long picked;
  if (kinds && !strchr(kinds, kind)) return 0;
  long fail = number("FAULT_FAIL", -1);
  picked++;
  if (fail > 0 && picked >= fail && picked < fail + number("FAULT_TIMES", 1)) return number("FAULT_ERRNO", EIO);
  return 0;
}

static int is_full(int fd, off_t end) {
  const char *flag = getenv("FAULT_FULL");
  struct stat status;
  return flag && !access(flag, F_OK) && !fstat(fd, &status) && end > status.st_size;
}

static void mark(File *file, off_t from, size_t length) {
  if (!file->shadow[0]) return;
  if (file->count == file->capacity) {
    file->capacity = file->capacity ? file->capacity * 2 : 64;
    file->dirty = realloc(file->dirty, file->capacity * sizeof *file->dirty);
  }
  file->dirty[file->count].from = from;
  file->dirty[file->count++].length = length;
}

/* Copies what changed since the last time. A kill in the middle of it is a power loss in the middle of a sync. */
static void keep(int fd, File *file) {
  if (!file->shadow[0]) return;
  char link[64];
  struct stat status;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int from = open(link, O_RDONLY), to = open(file->shadow, O_WRONLY | O_CREAT, 0600);
  if (from < 0 || to < 0 || fstat(fd, &status)) abort();
  for (int i = 0; i < file->count; i++) {
    char bytes[65536];
    off_t at = file->dirty[i].from, end = at + (off_t)file->dirty[i].length;
    while (at < end) {
      size_t most = end - at < (off_t)sizeof bytes ? (size_t)(end - at) : sizeof bytes;
      ssize_t got = pread(from, bytes, most, at);
      if (got <= 0) break;
      if (real_pwrite(to, bytes, got, at) != got) abort();
      at += got;
    }
  }
  if (real_ftruncate(to, status.st_size)) abort();
  file->count = 0;
  real_close(from);
  real_close(to);
}

static ssize_t put(int fd, const void *bytes, size_t length, off_t at) {
  pthread_mutex_lock(&lock);
  File *file = tracked(fd);
  int error = file ? fate('w') : 0;
  if (file && !error && is_full(fd, at + (off_t)length)) error = ENOSPC;
  ssize_t done = -1;
  if (error) errno = error;
  else done = real_pwrite(fd, bytes, length, at);
  if (file && done > 0) mark(file, at, done);
  pthread_mutex_unlock(&lock);
  return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return put(fd, bytes, length, at); }
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) { return put(fd, bytes, length, at); }

ssize_t write(int fd, const void *bytes, size_t length) {
  pthread_mutex_lock(&lock);
  File *file = tracked(fd);
  pthread_mutex_unlock(&lock);
  if (!file) return real_write(fd, bytes, length);
  off_t at = lseek(fd, 0, SEEK_CUR);
  ssize_t done = put(fd, bytes, length, at);
  if (done > 0) lseek(fd, at + done, SEEK_SET);
  return done;
}

/* A removed name is gone for good when its directory is synced. */
static void forget_removed(int fd) {
  struct stat status;
  if (fstat(fd, &status) || !S_ISDIR(status.st_mode)) return;
  for (int i = 0; i < removals; i++) real_unlink(removed[i]);
  removals = 0;
}

int unlink(const char *path) {
  const char *directory = getenv("FAULT_DIR"), *shadow = getenv("FAULT_SHADOW"), *name = strrchr(path, '/');
  if (directory && !strncmp(path, directory, strlen(directory)) && is_read_only()) {
    errno = EROFS;
    return -1;
  }
  change_at(path);
  pthread_mutex_lock(&lock);
  int done = real_unlink(path);
  if (!done && directory && shadow && name && !strncmp(path, directory, strlen(directory)) && removals < 64)
    snprintf(removed[removals++], PATH_MAX, "%s%s", shadow, name);
  pthread_mutex_unlock(&lock);
  return done;
}

int remove(const char *path) {
  struct stat status;
  return !lstat(path, &status) && S_ISDIR(status.st_mode) ? rmdir(path) : unlink(path);
}

int unlinkat(int fd, const char *path, int flags) {
  char link[64], whole[PATH_MAX * 2];
  if (path[0] == '/') return flags ? rmdir(path) : unlink(path);
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = fd == AT_FDCWD ? -1 : readlink(link, whole, PATH_MAX);
  if (length <= 0) return real_unlinkat(fd, path, flags);
  snprintf(whole + length, sizeof whole - length, "/%s", path);
  return flags ? rmdir(whole) : unlink(whole);
}

static int opened(const char *path, int flags, mode_t mode) {
  if (flags & (O_CREAT | O_TRUNC)) change_at(path);
  return real_open(path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return opened(path, flags | O_LARGEFILE, mode);
}

int rename(const char *from, const char *to) {
  change_at(to);
  return real_rename(from, to);
}

int link(const char *from, const char *to) {
  change_at(to);
  return real_link(from, to);
}

int mkdir(const char *path, mode_t mode) {
  change_at(path);
  return real_mkdir(path, mode);
}

int rmdir(const char *path) {
  change_at(path);
  return real_rmdir(path);
}

static ssize_t sent(int to, int from, off_t *at, size_t count) {
  pthread_mutex_lock(&lock);
  if (tracked(to)) change();
  pthread_mutex_unlock(&lock);
  return real_sendfile(to, from, at, count);
}

ssize_t sendfile(int to, int from, off_t *at, size_t count) { return sent(to, from, at, count); }
ssize_t sendfile64(int to, int from, off_t *at, size_t count) { return sent(to, from, at, count); }

int fsync(int fd) {
  pthread_mutex_lock(&lock);
  forget_removed(fd);
  File *file = tracked(fd);
  int error = file ? fate('s') : 0;
  if (file && !error) keep(fd, file);
  pthread_mutex_unlock(&lock);
  if (!error) return 0;
  errno = error;
  return -1;
}

int fdatasync(int fd) { return fsync(fd); }

static int cut(int fd, off_t length) {
  pthread_mutex_lock(&lock);
  File *file = tracked(fd);
  int error = file ? fate('t') : 0;
  int done = -1;
  if (error) errno = error;
  else done = real_ftruncate(fd, length);
  pthread_mutex_unlock(&lock);
  return done;
}

int ftruncate(int fd, off_t length) { return cut(fd, length); }
int ftruncate64(int fd, off_t length) { return cut(fd, length); }

int close(int fd) {
  pthread_mutex_lock(&lock);
  if (fd >= 0 && fd < FILES) files[fd].known = files[fd].tracked = files[fd].count = 0;
  pthread_mutex_unlock(&lock);
  return real_close(fd);
}

__attribute__((destructor)) static void report(void) {
  const char *path = getenv("FAULT_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld %ld\n", calls, changes);
  fclose(file);
}
