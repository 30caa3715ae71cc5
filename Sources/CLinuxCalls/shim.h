// What Swift's modules for glibc and musl leave out: extended attributes of files, and `fallocate`,
// which their headers declare under _GNU_SOURCE alone.
#if defined(__linux__)
#include <sys/types.h>
#include <sys/xattr.h>

int fallocate(int descriptor, int mode, off_t offset, off_t length);
#endif
