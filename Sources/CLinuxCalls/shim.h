// What Swift's modules for glibc and musl leave out: extended attributes of files, and `fallocate`,
// which the system's headers declare under _GNU_SOURCE alone. Declared here by hand, since including
// those headers would make this module the owner of types that all others expect in Glibc.
#if defined(__linux__)
#include <sys/syscall.h>

long syscall(long number, ...);

__PTRDIFF_TYPE__ flistxattr(int descriptor, char *list, __SIZE_TYPE__ size);
__PTRDIFF_TYPE__ fgetxattr(int descriptor, const char *name, void *value, __SIZE_TYPE__ size);
int fsetxattr(
    int descriptor, const char *name, const void *value, __SIZE_TYPE__ size, int flags);
// Opens a file so that reads come from the disk, past the cache.
#if defined(__arm__) || defined(__aarch64__)
enum { annals_past_cache = 0x10000 };  // O_DIRECT
#else
enum { annals_past_cache = 0x4000 };  // O_DIRECT
#endif

int fallocate(int descriptor, int mode, long offset, long length);

// Renames a file unless the new name is taken. By number, since musl has no function for it.
static inline int annals_rename_if_free(const char *from, const char *to) {
  const int current_directory = -100;  // AT_FDCWD
  const unsigned no_replace = 1;       // RENAME_NOREPLACE
  return (int)syscall(
      SYS_renameat2, current_directory, from, current_directory, to, no_replace);
}

// What a look at a file tells that never changes its times.
struct annals_place {
  unsigned long long device;
  unsigned long long inode;
  unsigned long long size;
};

// The place of the file at `path`, or of `descriptor` itself if the path is empty. `statx` without
// the times: once `stat` has told them, the next write has to give the file new ones, which costs as
// much as the write. By number and offset, since the headers with `struct statx` are such as above.
static inline int annals_find(int descriptor, const char *path, struct annals_place *place) {
  unsigned char status[256];
  unsigned device[2];
  const int of_descriptor = 0x1000;          // AT_EMPTY_PATH
  const unsigned wanted = 0x100 | 0x200;     // STATX_INO, STATX_SIZE
  int failure = (int)syscall(
      SYS_statx, descriptor, path, *path ? 0 : of_descriptor, wanted, status);
  if (failure) return failure;
  __builtin_memcpy(&place->inode, status + 32, 8);
  __builtin_memcpy(&place->size, status + 40, 8);
  __builtin_memcpy(device, status + 136, 8);
  place->device = (unsigned long long)device[0] << 32 | device[1];
  return 0;
}
#endif
