import Annals
import Foundation

/// An open file or pipe as a source of bytes.
final class FileSource: ByteSource {
  private let handle: FileHandle
  /// How many bytes were read: what a progress bar shows.
  private(set) var count: UInt64 = 0

  /// A source of what the handle reads.
  init(_ handle: FileHandle) { self.handle = handle }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputFault) -> Int {
    let bytes: Data?
    do {
      bytes = try handle.read(upToCount: buffer.count)
    } catch {
      throw InputFault(offset: count, reason: "reading failed: \(error.localizedDescription)")
    }
    guard let bytes, !bytes.isEmpty else { return 0 }
    bytes.copyBytes(to: buffer)
    count += UInt64(bytes.count)
    return bytes.count
  }
}
