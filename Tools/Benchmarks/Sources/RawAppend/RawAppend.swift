import Foundation
import Measuring
import Workload

/// The least cost of a durable commit: the operations of the workload as plain records, each
/// written with one `pwrite` to a file full of zeros and synced with one `fdatasync`. No state, no
/// lock, no checksum.
///
///     raw-append FILE [--operations 20000]
@main
enum RawAppend {
  /// The bytes of a commit of Annals other than values: the headers of the frame and of the record.
  private static let headerLength = 48

  static func main() {
    do {
      try run()
    } catch {
      FileHandle.standardError.write(Data("raw-append: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() throws {
    let options = try Options(["operations"])
    guard let path = options.words.first else { throw Failure("raw-append FILE") }
    let workload = Workload(operations: try options.number("operations", 20_000))
    let records = workload.operations.map(record)
    let total = records.reduce(0) { $0 + $1.count }
    unlink(path)
    let file = open(path, O_CREAT | O_RDWR, 0o644)
    guard file >= 0 else { throw Failure("\(path): \(String(cString: strerror(errno)))") }
    defer { close(file) }
    try fill(file, count: total)
    let recorder = Recorder(peer: "raw-append", configuration: "zeros,fdatasync")
    try recorder.time("2 single-object txs", items: records.count) {
      var offset = 0
      for record in records {
        let written = record.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, offset) }
        guard written == record.count, sync(file) == 0 else { throw Failure("a write failed") }
        offset += record.count
      }
    }
    recorder.value("2 bytes a transaction", Double(total) / Double(records.count), "bytes")
  }

  /// Fills the file with zeros and syncs it before the measurement.
  private static func fill(_ file: Int32, count: Int) throws {
    let zeros = [UInt8](repeating: 0, count: 1 << 20)
    for start in stride(from: 0, to: count, by: zeros.count) {
      let written = zeros.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, start) }
      guard written == zeros.count else { throw Failure("the file cannot be filled") }
    }
    guard fsync(file) == 0 else { throw Failure("the file cannot be synced") }
  }

  private static func sync(_ file: Int32) -> Int32 {
    #if os(Linux)
      fdatasync(file)
    #else
      fcntl(file, F_FULLFSYNC)
    #endif
  }

  /// A record about as long as one with the values before and after.
  private static func record(_ operation: Workload.Operation) -> [UInt8] {
    let once = values(operation)
    let count = operation.kind == .update ? once.count * 2 : once.count
    var record = [UInt8](repeating: 1, count: headerLength)
    record += once
    if count > once.count { record += once }
    return record
  }

  private static func values(_ operation: Workload.Operation) -> [UInt8] {
    var bytes: [UInt8] = []
    let properties = operation.kind == .update ? operation.properties : .ofNewPost
    for property in PostProperty.allCases where properties.contains(property) {
      switch property {
      case .identifier: withUnsafeBytes(of: operation.post.identifier.uuid) { bytes += $0 }
      case .timestamp: withUnsafeBytes(of: operation.post.timestamp) { bytes += $0 }
      case .title: bytes += operation.post.titleText.utf8
      case .url: bytes += operation.post.url.utf8
      case .source: bytes += operation.post.sourceText.utf8
      case .image: break
      case .posted: bytes.append(UInt8(truncatingIfNeeded: operation.post.posted))
      case .latitude: withUnsafeBytes(of: operation.post.latitude) { bytes += $0 }
      case .longitude: withUnsafeBytes(of: operation.post.longitude) { bytes += $0 }
      }
    }
    return bytes
  }
}
