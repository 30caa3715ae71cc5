import Foundation

/// A point in time, with the processor time used by the process so far.
public struct Mark: Sendable {
  /// Nanoseconds of a monotonic clock.
  public var wall: Int64
  /// Nanoseconds spent in the process's own code.
  public var user: Int64
  /// Nanoseconds that the system spent for the process.
  public var system: Int64

  /// Now.
  public init() {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    wall = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    let usage = Mark.usage()
    user = Mark.nanoseconds(usage.ru_utime)
    system = Mark.nanoseconds(usage.ru_stime)
  }

  /// The time between two marks.
  public static func - (later: Mark, earlier: Mark) -> Mark {
    var result = later
    result.wall -= earlier.wall
    result.user -= earlier.user
    result.system -= earlier.system
    return result
  }

  /// The number of voluntary context switches so far.
  public static var voluntarySwitches: Int { usage().ru_nvcsw }

  static func usage() -> rusage {
    var usage = rusage()
    #if os(Linux)
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
      getrusage(RUSAGE_SELF, &usage)
    #endif
    return usage
  }

  private static func nanoseconds(_ time: timeval) -> Int64 {
    Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_usec) * 1_000
  }
}

/// The memory of the process and the size of files.
public enum Footprint {
  /// The resident memory in bytes; 0 if unknown.
  public static var resident: Int {
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
      return 0
    }
    let fields = text.split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
  }

  /// The most memory that the process has had, in bytes.
  ///
  /// Linux counts into `ru_maxrss` what the program that started this one had, so it is asked for
  /// the mark of this process's own memory.
  public static var peak: Int {
    #if os(Linux)
      guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
        let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
        let kibibytes = Int(line.filter(\.isNumber))
      else { return 0 }
      return kibibytes * 1_024
    #else
      return Int(Mark.usage().ru_maxrss)
    #endif
  }

  /// What is allocated for the files of a folder in bytes, or their lengths where those are less.
  public static func folder(_ path: String) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.reduce(0) { $0 + file(path + "/" + $1) }
  }

  /// The length of a file in bytes, or what is allocated for it if that is less; 0 if there is
  /// none.
  public static func file(_ path: String) -> Int {
    var status = stat()
    guard stat(path, &status) == 0 else { return 0 }
    return min(Int(status.st_size), Int(status.st_blocks) * 512)
  }
}
