import AnnalsFormat
import AnnalsInspection
import AnnalsStorage
import Foundation

/// Everything that a store's file contains: its bytes as they are, and what they inflate to
/// wherever a deflated section may begin. For checks that what was erased is nowhere.
///
/// Memory: the file and its inflated sections.
package struct FileContents {
  private var stored = Data()
  private var inflated = Data()

  /// Reads a file.
  ///
  /// - Throws: `StorageError`, or the fault of a frame.
  package init(_ file: any StorageFile) throws {
    var walk = try FileWalk(file)
    while let region = try walk.next() {
      stored += try walk.withBytes(of: region) { Data($0) }
      guard case .frame(let frame) = region.content else { continue }
      inflated += try walk.withPayload(of: frame, at: region.offset) { payload in
        payload.indices.reduce(into: Data()) { result, start in
          result += FileContents.section(of: payload, at: start) ?? []
        }
      }
    }
  }

  /// How often a run of bytes is there.
  package func count(of run: [UInt8]) -> Int {
    [stored, inflated].reduce(0) { count, bytes in
      var count = count
      var start = bytes.startIndex
      while let found = bytes.range(of: Data(run), in: start..<bytes.endIndex) {
        count += 1
        start = found.upperBound
      }
      return count
    }
  }

  /// How often a text is there.
  package func count(of text: String) -> Int { count(of: Array(text.utf8)) }

  /// What a section inflates to, if one of deflated bytes may begin here.
  private static func section(
    of payload: UnsafeRawBufferPointer, at start: Int
  ) -> ContiguousArray<UInt8>? {
    var reader = ByteReader(UnsafeRawBufferPointer(rebasing: payload[start...]))
    guard let head = try? reader.readVarInt(), head & 3 == 1, head >> 2 <= 1 << 20,
      let stream = try? reader.readSizedBytes(), stream.count > 4, stream[0] & 6 != 6,
      stream.count < Int(head >> 2), Int(head >> 2) / 300 <= stream.count
    else { return nil }
    var inflate = Inflate()
    var result = ContiguousArray<UInt8>(repeating: 0, count: Int(head >> 2))
    let isWhole = result.withUnsafeMutableBytes {
      (try? inflate.decompress(stream, into: UnsafeMutableRawBufferPointer($0))) != nil
    }
    return isWhole ? result : nil
  }
}
