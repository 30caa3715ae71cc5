import Annals
import AnnalsExchange
import Foundation
import SystemPackage

/// An open file or pipe as a source of bytes.
final class FileSource: ByteSource {
  private let handle: FileHandle
  /// The number of bytes read, for a progress bar.
  private(set) var count: UInt64 = 0

  /// A source that reads from the handle.
  init(_ handle: FileHandle) { self.handle = handle }

  private var descriptor: FileDescriptor { FileDescriptor(rawValue: handle.fileDescriptor) }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputFault) -> Int {
    let read: Int
    do {
      read = try descriptor.read(into: buffer, retryOnInterrupt: true)
    } catch {
      throw InputFault(offset: count, reason: "reading failed: \(error)")
    }
    count += UInt64(read)
    return read
  }
}
