import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The machine's local time as the C library reads it: from the variable TZ in all its forms, or
/// from `/etc/localtime`.
package enum LocalTime {
  /// How many seconds local clocks are ahead of UTC at a second since 1970 (C: `localtime_r`); 0
  /// where the C library has no date.
  package static func offset(at second: Int64) -> Int {
    // Unlike `localtime`, `localtime_r` need not read the variable.
    _ = zoneIsRead
    guard var time = time_t(exactly: second) else { return 0 }
    var parts = tm()
    guard localtime_r(&time, &parts) != nil else { return 0 }
    return Int(parts.tm_gmtoff)
  }

  private static let zoneIsRead: Void = tzset()

  /// What the C library cannot read of this value of TZ (nil if it is not set): the value, or a
  /// file. It uses UTC then, without a word. Nil if it can read it.
  package static func unreadableZone(_ value: String?) -> String? {
    guard let value else {
      let path = "/etc/localtime"
      return isZoneFile(path) ?? true ? nil : path
    }
    let name = value.hasPrefix(":") ? String(value.dropFirst()) : value
    // An empty one is UTC, and so is what these are meant for, even without a file.
    if name.isEmpty || ["UTC", "GMT", "UCT", "Zulu"].contains(name) || isRule(name) { return nil }
    let folder = getenv("TZDIR").map { String(cString: $0) } ?? "/usr/share/zoneinfo"
    return isZoneFile(name.hasPrefix("/") ? name : "\(folder)/\(name)") ?? false ? nil : value
  }

  /// Whether a file begins as compiled zones do; nil if it cannot be opened.
  private static func isZoneFile(_ path: String) -> Bool? {
    let options: FileDescriptor.OpenOptions = [.closeOnExec, .nonBlocking]
    guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: options) else {
      return nil
    }
    defer { try? file.close() }
    var start: [UInt8] = [0, 0, 0, 0]
    let count = try? start.withUnsafeMutableBytes { try file.read(into: $0) }
    return count == start.count && start == Array("TZif".utf8)
  }

  /// Whether a text begins as a zone of POSIX: a name of three letters or more, or one in angle
  /// brackets, and an offset, as in `JST-9`.
  private static func isRule(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    var rest = bytes[...]
    if rest.first == UInt8(ascii: "<") {
      guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
      rest = rest[(end + 1)...]
    } else {
      let name = rest.prefix { (0x41...0x5A).contains($0 & ~0x20) }
      guard name.count >= 3 else { return false }
      rest = rest[name.endIndex...]
    }
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    return rest.first.map { (0x30...0x39).contains($0) } ?? false
  }
}
