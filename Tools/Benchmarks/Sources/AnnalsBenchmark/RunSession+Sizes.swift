import Annals
import Foundation
import Measuring
import Workload

extension RunSession {
  // MARK: 10: sizes

  /// Compacts copies of the file, so that the file itself stays unchanged.
  func measureSizes() throws {
    let copy = path + ".copy"
    try copyFile(to: copy)
    defer { unlink(copy) }
    let store = try open(copy)
    try recorder.time("10 compact", items: 1) { try store.compact() }
    try check("state after compacting", store.snapshot(), after: workload.operations.count)
    try store.close()
    recorder.megabytes("10d compacted size", Footprint.file(copy))
  }

  // MARK: 6: replay

  /// Opens a copy without a checkpoint, so that the whole history is replayed.
  func replay() throws {
    let copy = path + ".copy"
    try copyFile(to: copy)
    defer { unlink(copy) }
    let compacting = try open(copy)
    try compacting.compact(smallest: true)
    // A new opening would write a checkpoint when it is closed.
    try compacting.close()
    recorder.megabytes("10e sealed history", Footprint.file(copy))
    let changes = workload.posts.count + workload.operations.count
    try recorder.median("6r full replay", of: 5) {
      let store = try open(copy)
      try expect(
        "objects after replay", store.snapshot().count(of: PostRecord.self),
        is: workload.liveCount)
      return changes
    }
    let store = try open(copy)
    try check("state after replay", store.snapshot(), after: workload.operations.count)
  }

  private func copyFile(to copy: String) throws {
    unlink(copy)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
  }
}
