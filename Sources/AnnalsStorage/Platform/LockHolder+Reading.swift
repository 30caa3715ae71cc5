import SystemPackage

extension LockHolder {
  /// Whether it is the calling process.
  package var isCurrentProcess: Bool { processID == ProcessIdentity.id }

  /// The process that took the `flock` of this file (Linux: `/proc/locks`); nil if nobody holds it,
  /// or if the system does not say: on Darwin, and for processes of another container.
  init?(of file: FileIdentity) {
    guard let locks = LockHolder.contents(of: "/proc/locks") else { return nil }
    let major = String(file.device >> 32, radix: 16)
    let minor = String(file.device & 0xFFFF_FFFF, radix: 16)
    let pad = { (text: String) in text.utf8.count < 2 ? "0" + text : text }
    let place = "\(pad(major)):\(pad(minor)):\(file.inode)"
    for line in locks.split(separator: "\n") {
      // 1: FLOCK  ADVISORY  WRITE 4711 fe:00:131073 0 EOF
      let words = line.split(separator: " ")
      guard words.count >= 6, words[1] == "FLOCK", words[5] == place, let id = Int64(words[4]),
        id > 0
      else { continue }
      self.init(processID: id, processName: LockHolder.name(of: id))
      return
    }
    return nil
  }

  /// The last component of what the process was started as; empty if that is not known, or not
  /// fit for a message.
  private static func name(of process: Int64) -> String {
    guard let arguments = contents(of: "/proc/\(process)/cmdline"),
      let program = arguments.split(separator: "\0", omittingEmptySubsequences: false).first,
      let name = FilePath(String(program)).lastComponent?.string,
      name.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.isASCII && $0.value < 0x7F })
    else { return "" }
    return name
  }

  /// What a file of the system says, up to 1 MiB; nil if it cannot be read.
  private static func contents(of path: String) -> String? {
    guard let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec]) else {
      return nil
    }
    defer { try? file.close() }
    var bytes: [UInt8] = []
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 1)
    defer { piece.deallocate() }
    while bytes.count < 1 << 20, let count = try? file.read(into: piece), count > 0 {
      bytes += piece.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
