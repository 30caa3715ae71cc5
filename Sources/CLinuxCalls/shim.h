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
int fallocate(int descriptor, int mode, long offset, long length);

// Renames a file unless the new name is taken. By number, since musl has no function for it.
static inline int annals_rename_if_free(const char *from, const char *to) {
  const int current_directory = -100;  // AT_FDCWD
  const unsigned no_replace = 1;       // RENAME_NOREPLACE
  return (int)syscall(
      SYS_renameat2, current_directory, from, current_directory, to, no_replace);
}
#endif
