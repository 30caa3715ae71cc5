import AnnalsFormat
import AnnalsLog
import AnnalsModel
import AnnalsStorage

extension LogFile {
  /// Opens the file of a store as another program does, appends to it under the lock, and closes
  /// it: what `write` makes is not checked.
  package static func write(
    to path: String, in files: any FileSystem, _ write: (LogFile) throws -> Void
  ) throws {
    let opening = Opening(number: 0, id: 99, processName: "other", processID: 1)
    var recovery = try LogFile.recover(
      at: path, in: files, LogOptions(access: .writing, durability: .full, opening: opening))
    var batch = ChangeBatch()
    while try recovery.next(into: &batch) != nil {}
    let log = try LogFile(recovery)
    guard try log.lock(.none) == .current else { throw TestFailure("the log is not current") }
    try write(log)
    try log.sync()
    log.unlock()
    try log.close()
  }
}
