import Annals
import AnnalsFormat
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

@testable import FuzzTargets

extension LogImage {
  /// The image of a file in Fixtures.
  static func fixture(_ name: String) throws -> LogImage {
    let file = try Data(contentsOf: AnnalsTestSupport.fixture(name))
    return try #require(LogImage(file: ContiguousArray(file)))
  }

  /// A file in memory that is made of the image.
  func location(in files: MemoryFileSystem = MemoryFileSystem()) throws -> StoreLocation {
    try files.put(file, at: "/odd.annals")
    return StoreLocation(fileSystem: files, path: "/odd.annals")
  }

  /// Changes the directory in a frame, the last one unless another is named.
  mutating func editDirectory(
    in frame: Int? = nil, _ change: (inout CheckpointDirectory) throws -> Void
  ) throws {
    let frame = frame ?? frames.count - 1
    var directory = try frames[frame].payload.withUnsafeBytes {
      try CheckpointDirectory.decode($0)
    }
    try change(&directory)
    frames[frame].payload = directory.encode()
  }

  /// Appends a frame.
  mutating func append(_ kind: FrameKind, _ payload: ContiguousArray<UInt8>) {
    frames.append(Frame(kind: kind.rawValue, flags: 0, payload: payload))
  }
}
