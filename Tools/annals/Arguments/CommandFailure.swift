import AnnalsInspector

/// The error that ends a command: a message with what to do, and the exit status.
struct CommandFailure: Error {
  var message: String
  var status: ExitStatus

  init(_ message: String, status: ExitStatus = .couldNotRun) {
    self.message = message
    self.status = status
  }

  /// What is wrong with a request.
  init(_ fault: RequestFault) {
    self.init(fault.message, status: fault.kind == .usage ? .usage : .couldNotRun)
  }
}

/// The exit status of the process.
enum ExitStatus: Int32 {
  case done = 0
  /// The command ran and found problems, or a difference with `--exit-code`.
  case foundProblems = 1
  case couldNotRun = 2
  case usage = 64
}
