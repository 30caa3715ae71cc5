import Annals
import AnnalsStorage
import Foundation

/// A source of bytes that reads a file.
final class FileOfInput: ByteSource {
  private let file: any StorageFile
  /// The length of the file when it was opened.
  let size: UInt64
  /// The number of bytes read.
  private(set) var position: UInt64 = 0
  /// Why reading failed; nil if it did not.
  private(set) var failure: AnnalsError?

  /// Opens the file at the path. Throws `.notFound`, `.permission`, `.io`.
  init(_ path: String, in fileSystem: any FileSystem) throws(AnnalsError) {
    let opened = try AnnalsError.translating { try fileSystem.open(path, for: .reading) }
    file = opened
    size = try AnnalsError.translating { try opened.size() }
  }

  deinit { file.close() }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputFault) -> Int {
    do throws(StorageError) {
      let count = try file.read(into: buffer, at: position)
      position += UInt64(count)
      return count
    } catch {
      failure = AnnalsError(error)
      throw InputFault(offset: position, reason: "\(error)")
    }
  }
}

/// A source of bytes that reads what a closure returns, piece by piece.
final class PiecesOfInput: ByteSource {
  private let next: () throws -> Data?
  private var piece = Data()
  /// What the closure threw; nil if it did not.
  private(set) var failure: (any Error)?

  /// A source of what `next` returns until it returns nil.
  init(_ next: @escaping () throws -> Data?) { self.next = next }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(InputFault) -> Int {
    while piece.isEmpty {
      do {
        guard let more = try next() else { return 0 }
        piece = more
      } catch {
        failure = error
        throw InputFault(offset: 0, reason: "\(error)")
      }
    }
    let count = piece.copyBytes(to: buffer)
    piece = piece.dropFirst(count)
    return count
  }
}
