import AnnalsEngine
import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage
import Foundation

/// The folder that a store is shipped to: its names, and files that appear whole.
///
/// Who writes holds the lock of the folder. Nobody needs it to read.
package struct ShippingFolder: Sendable {
  package let path: String
  package let fileSystem: any FileSystem
  private let names: @Sendable () throws -> [String]
  private let make: @Sendable () throws -> Void

  /// The name of the file whose lock a writer of the folder holds.
  package static let lockName = "shipping.lock"

  /// A folder in a file system that lists it, and makes it if it is missing.
  package init(
    _ path: String, in fileSystem: any FileSystem, names: @escaping @Sendable () throws -> [String],
    make: @escaping @Sendable () throws -> Void
  ) {
    self.path = path
    self.fileSystem = fileSystem
    self.names = names
    self.make = make
  }

  /// A folder on a disk.
  package init(_ path: String) {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    self.init(
      path, in: PosixFileSystem(),
      names: {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
          throw AnnalsError(
            .notFound, "there is no folder at \(path); \(StorageError.check(ofMissing: path))")
        }
        guard isFolder.boolValue else {
          throw AnnalsError(.invalidArgument, "\(path) is a file, not a folder")
        }
        do {
          return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
          throw AnnalsError(.permission, "cannot read the folder \(path): permission denied")
        }
      },
      make: {
        if FileManager.default.fileExists(atPath: path) { return }
        do {
          try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        } catch {
          throw AnnalsError(
            .io, "cannot make the folder \(path): \(error.localizedDescription)")
        }
        try PosixFileSystem().syncDirectory(of: path)
      })
  }

  /// The path of a file in the folder.
  package func path(of name: ShippedName) -> String { "\(path)/\(name.text)" }

  /// Makes the folder if it is missing.
  package func makeIfMissing() throws { try make() }

  /// The error of a folder without a base.
  var nothingShipped: AnnalsError {
    AnnalsError(.notFound, "nothing was shipped to \(path) yet; check the path")
  }

  /// What the folder has. Throws `.notFound` if there is no folder.
  package func contents() throws -> FolderContents { FolderContents(try names()) }

  /// Opens a file for reading. Throws `ShippingFault` if it is missing.
  package func open(_ name: ShippedName) throws -> any StorageFile {
    do throws(StorageError) {
      return try fileSystem.open(path(of: name), for: .reading)
    } catch  where error.isMissing {
      throw ShippingFault.missing(name)
    } catch {
      throw error
    }
  }

  /// Adds a file, which appears with its name once `fill` has written all of it and it is synced.
  /// It has the mode of the file `original`, if there is one. Throws if the name is taken; then
  /// nothing is left of the new file.
  package func add(
    _ name: ShippedName, like original: String?, _ fill: (any StorageFile) throws -> Void
  ) throws {
    let place = path(of: name)
    let temporary = place + ".new"
    // Nobody else writes here: it is what a crash left.
    do throws(StorageError) {
      try fileSystem.remove(temporary)
    } catch {
      guard error.isMissing else { throw error }
    }
    let file = try fileSystem.create(temporary, like: original, requiresOwner: false)
    defer { file.close() }
    do {
      try fill(file)
      try file.sync()
      try fileSystem.place(temporary, at: place)
    } catch {
      try? fileSystem.remove(temporary)
      throw error
    }
    try fileSystem.syncDirectory(of: place)
  }

  /// Removes a base with its segments, the last first, so that what is left at any moment can be
  /// restored.
  package func remove(_ series: ShippedSeries) throws {
    for name in series.segments.reversed() + [series.base].compactMap({ $0 }) {
      do throws(StorageError) {
        try fileSystem.remove(path(of: name))
      } catch {
        guard error.isMissing else { throw error }
      }
    }
    try syncNames()
  }

  /// Makes names survive a power cut.
  package func syncNames() throws {
    try fileSystem.syncDirectory(of: "\(path)/\(ShippingFolder.lockName)")
  }

  /// The header of a segment. Throws `ShippingFault`.
  package func header(of name: ShippedName) throws -> SegmentHeader {
    let file = try open(name)
    defer { file.close() }
    return try SegmentHeader(file.bytes(SegmentHeader.length, at: 0), of: name)
  }
}

extension StorageFile {
  /// Copies bytes from another file, and returns their crc32 and how many there were: fewer than
  /// asked for only if that file ends. Memory: 1 MiB.
  package func copy(
    _ range: Range<UInt64>, of other: any StorageFile, to place: UInt64
  ) throws(StorageError) -> (checksum: UInt32, count: UInt64) {
    var offset = range.lowerBound
    var checksum: UInt32 = 0
    while offset < range.upperBound {
      let bytes = try other.bytes(Int(min(range.upperBound - offset, 1 << 20)), at: offset)
      if bytes.isEmpty { break }
      let target = place + (offset - range.lowerBound)
      try bytes.withBytes { bytes throws(StorageError) in
        checksum = Checksum.crc32(bytes, startingFrom: checksum)
        try write(bytes, at: target)
      }
      offset += UInt64(bytes.count)
    }
    return (checksum, offset - range.lowerBound)
  }
}
