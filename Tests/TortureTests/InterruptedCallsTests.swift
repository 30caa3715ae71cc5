import AnnalsTestSupport
import AnnalsTorture
import Foundation
import Testing

/// Real processes whose calls to the operating system are interrupted by signals again and again,
/// and move fewer bytes than they were asked to.
@Suite struct InterruptedCallsTests {
  /// A library that comes before the system's: of the calls for files in the folder three in four
  /// end with EINTR, now and then a hundred in a row, and what is read or written is cut to half.
  private static let storm = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <stdarg.h>
    #include <stdatomic.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <sys/types.h>
    #include <unistd.h>
    static atomic_uint calls;
    static atomic_uchar marked[4096];
    static int interrupts(void) {
      unsigned call = atomic_fetch_add(&calls, 1);
      if (call == 0) {
        int (*really)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
        really(getenv("ANNALS_STORM_MARK"), O_CREAT | O_WRONLY, 0600);
      }
      if (call % 4 != 3 || call % 3000 < 100) { errno = EINTR; return 1; }
      return 0;
    }
    static int is_marked(int file) { return file >= 0 && file < 4096 && marked[file]; }
    static int open_marking(const char *name, const char *path, int flags, mode_t mode) {
      int (*really)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
      int isOurs = strstr(path, "annals-test-") != 0 && !strstr(path, ".so");
      if (isOurs && interrupts()) return -1;
      int file = really(path, flags, mode);
      if (file >= 0 && file < 4096) marked[file] = isOurs;
      return file;
    }
    #define OPEN(NAME) int NAME(const char *path, int flags, ...) { \\
      va_list list; va_start(list, flags); mode_t mode = va_arg(list, int); va_end(list); \\
      return open_marking(#NAME, path, flags, mode); }
    OPEN(open)
    OPEN(open64)
    int close(int file) {
      int (*really)(int) = dlsym(RTLD_NEXT, "close");
      if (file >= 0 && file < 4096) marked[file] = 0;
      return really(file);
    }
    #define MOVE(NAME, BYTES) ssize_t NAME(int file, BYTES data, size_t count, off_t at) { \\
      ssize_t (*really)(int, BYTES, size_t, off_t) = dlsym(RTLD_NEXT, #NAME); \\
      if (!is_marked(file)) return really(file, data, count, at); \\
      if (interrupts()) return -1; \\
      return really(file, data, count > 1 ? count / 2 : count, at); }
    MOVE(pread, void *)
    MOVE(pread64, void *)
    MOVE(pwrite, const void *)
    MOVE(pwrite64, const void *)
    #define ON_FILE(NAME, PARAMETERS, TYPES, ...) int NAME PARAMETERS { \\
      int (*really)TYPES = dlsym(RTLD_NEXT, #NAME); \\
      if (is_marked(file) && interrupts()) return -1; \\
      return really(__VA_ARGS__); }
    ON_FILE(fsync, (int file), (int), file)
    ON_FILE(fdatasync, (int file), (int), file)
    ON_FILE(flock, (int file, int kind), (int, int), file, kind)
    ON_FILE(ftruncate, (int file, off_t size), (int, off_t), file, size)
    ON_FILE(ftruncate64, (int file, off_t size), (int, off_t), file, size)
    ON_FILE(fallocate, (int file, int mode, off_t at, off_t count), (int, int, off_t, off_t),
            file, mode, at, count)
    int rename(const char *from, const char *to) {
      int (*really)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
      return interrupts() ? -1 : really(from, to);
    }
    int unlink(const char *path) {
      int (*really)(const char *) = dlsym(RTLD_NEXT, "unlink");
      return interrupts() ? -1 : really(path);
    }
    """

  @Test(.enabled(if: TemporaryFolder.compiler != nil, "there is no C compiler"))
  func interruptedAndShortCallsAreGoneOnWith() throws {
    let compiler = try #require(TemporaryFolder.compiler)
    try TemporaryFolder.with { folder in
      try Self.storm.write(toFile: folder + "/storm.c", atomically: true, encoding: .utf8)
      let library = folder + "/storm.so"
      let compiled = try TemporaryFolder.run(
        compiler, "-shared", "-fPIC", "-o", library, folder + "/storm.c", "-ldl")
      #expect(compiled.status == 0, "\(compiled.output)")
      let mark = folder + "/interrupted"
      let wrapper = folder + "/program"
      let program = try TemporaryFolder.torture
      let script = """
        #!/bin/sh
        export ANNALS_STORM_MARK='\(mark)' LD_PRELOAD='\(library)'
        exec '\(program)' "$@"

        """
      // Installed by another process: a child that this one starts just then would hold the file
      // open for writing, and it could not be run.
      try script.write(toFile: folder + "/script", atomically: true, encoding: .utf8)
      let installed = try TemporaryFolder.run(
        "install", "-m", "755", folder + "/script", wrapper)
      try #require(installed.status == 0)
      var tally = Tally()
      let place = folder + "/stores"
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
      let trial = KillTrial(folder: place, executable: wrapper, seed: CrashTrialTests.seed)
      for _ in 0..<(isLong ? 20 : 2) { try trial.round(kills: 8, &tally) }
      #expect(tally.found == tally.acknowledged && tally.acknowledged > 0)
      #expect(FileManager.default.fileExists(atPath: mark), "no call was interrupted")
    }
  }
}
