/// A process that holds the lock of a file.
package struct LockHolder: Sendable, CustomStringConvertible {
  /// The number of the process.
  package var processID: Int64
  /// The name of its program; empty if it is not known.
  package var processName: String

  /// For example `annals (process 4711)`.
  package var description: String {
    processName.isEmpty ? "process \(processID)" : "\(processName) (process \(processID))"
  }
}
