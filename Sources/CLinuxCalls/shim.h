// What Swift's modules for glibc and musl leave out: extended attributes of files, and `fallocate`,
// which the system's headers declare under _GNU_SOURCE alone. Declared here by hand, since including
// those headers would make this module the owner of types that all others expect in Glibc.
#if defined(__linux__)
__PTRDIFF_TYPE__ flistxattr(int descriptor, char *list, __SIZE_TYPE__ size);
__PTRDIFF_TYPE__ fgetxattr(int descriptor, const char *name, void *value, __SIZE_TYPE__ size);
int fsetxattr(
    int descriptor, const char *name, const void *value, __SIZE_TYPE__ size, int flags);
int fallocate(int descriptor, int mode, long offset, long length);
#endif
