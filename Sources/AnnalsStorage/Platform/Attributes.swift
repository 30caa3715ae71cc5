import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import CLinuxCalls
  import Glibc
#elseif canImport(Musl)
  import CLinuxCalls
  import Musl
#endif

/// Gives `copy` the owner, group, mode and extended attributes of `original` (on Linux these
/// include access control lists).
///
/// If the process may not set the owner, throws `notPermitted`, or leaves the file to the process's
/// user unless `requiresOwner`. If the group cannot be kept, the new group gets no more rights than
/// everybody had.
func copyAttributes(
  of original: FileDescriptor, to copy: FileDescriptor, requiresOwner: Bool
) throws(Errno) {
  let wanted = try FileStatus(of: original)
  let present = try FileStatus(of: copy)
  var mode = wanted.mode
  if wanted.group != present.group && fchown(copy.rawValue, uid_t.max, wanted.group) != 0 {
    let others = mode.rawValue & 0o007
    mode = FilePermissions(rawValue: mode.rawValue & ~0o070 | mode.rawValue & others << 3)
  }
  if wanted.owner != present.owner {
    do throws(Errno) {
      try retrying { fchown(copy.rawValue, wanted.owner, gid_t.max) }
    } catch {
      if requiresOwner || error != .notPermitted { throw error }
    }
  }
  // After the owner, since a change of owner clears mode bits. Extended attributes come after the
  // mode, since an access control list refines it.
  try retrying { fchmod(copy.rawValue, mode.rawValue) }
  try copyExtendedAttributes(of: original, to: copy)
}

#if canImport(Darwin)
  private func copyExtendedAttributes(
    of original: FileDescriptor, to copy: FileDescriptor
  ) throws(Errno) {
    let parts = copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)
    do throws(Errno) {
      try retrying { fcopyfile(original.rawValue, copy.rawValue, nil, parts) }
    } catch {
      if ![.notSupported, .notSupportedOnSocket, .notPermitted].contains(error) { throw error }
    }
  }
#else
  private func copyExtendedAttributes(
    of original: FileDescriptor, to copy: FileDescriptor
  ) throws(Errno) {
    // Skips attributes of the system, ones that vanish meanwhile, and file systems without them.
    let forgivable: [Errno] = [
      .notSupported, .notSupportedOnSocket, .notPermitted, .permissionDenied, .noFunction, .noData,
    ]
    let names: [[CChar]]
    do throws(Errno) {
      names = try extendedAttributeNames(of: original)
    } catch  where forgivable.contains(error) {
      return
    }
    for name in names {
      do throws(Errno) {
        try setExtendedAttribute(name, extendedAttribute(name, of: original), on: copy)
      } catch  where forgivable.contains(error) {
        continue
      }
    }
  }

  /// The names of the extended attributes, each with its terminating zero (C: `flistxattr`).
  func extendedAttributeNames(of file: FileDescriptor) throws(Errno) -> [[CChar]] {
    let list = try growing { buffer in
      flistxattr(
        file.rawValue, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), UInt(buffer.count))
    }
    return list.split(separator: 0).map { $0.map { CChar(bitPattern: $0) } + [0] }
  }

  /// The value of one extended attribute (C: `fgetxattr`).
  func extendedAttribute(_ name: [CChar], of file: FileDescriptor) throws(Errno) -> [UInt8] {
    try growing { buffer in fgetxattr(file.rawValue, name, buffer.baseAddress, UInt(buffer.count)) }
  }

  /// Sets one extended attribute (C: `fsetxattr`).
  func setExtendedAttribute(
    _ name: [CChar], _ value: [UInt8], on file: FileDescriptor
  ) throws(Errno) {
    try retrying { fsetxattr(file.rawValue, name, value, UInt(value.count), 0) }
  }

  /// Calls `read` with an empty buffer to learn the size, then with one of that size; again if the
  /// value grew in between.
  private func growing(
    _ read: (UnsafeMutableRawBufferPointer) -> Int
  ) throws(Errno) -> [UInt8] {
    while true {
      let size = try retrying { read(UnsafeMutableRawBufferPointer(start: nil, count: 0)) }
      if size == 0 { return [] }
      var bytes = [UInt8](repeating: 0, count: size)
      do throws(Errno) {
        let count = try retrying { bytes.withUnsafeMutableBytes { read($0) } }
        return Array(bytes.prefix(count))
      } catch  where error == .outOfRange {
        continue
      }
    }
  }
#endif
