import Foundation

/// Waits for the signals that end a command which runs on: SIGINT and SIGTERM.
final class StopSignals {
  private let stopped: DispatchSemaphore
  private var sources: [any DispatchSourceSignal] = []
  private static let numbers = [SIGINT, SIGTERM]

  /// From now on the signals end nothing else. What else ends the command signals `stopped`, too.
  init(_ stopped: DispatchSemaphore = DispatchSemaphore(value: 0)) {
    self.stopped = stopped
    for number in StopSignals.numbers {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { stopped.signal() }
      // Until it is registered, a signal is lost.
      let registered = DispatchSemaphore(value: 0)
      source.setRegistrationHandler { registered.signal() }
      source.resume()
      registered.wait()
      sources.append(source)
    }
  }

  /// Waits at most so long. Returns whether a signal came.
  func wait(_ duration: Duration) -> Bool {
    let (seconds, attoseconds) = duration.components
    let length = Double(seconds) + Double(attoseconds) / 1e18
    return stopped.wait(timeout: .now() + length) == .success
  }

  /// Lets the signals end the process again.
  func close() {
    for source in sources { source.cancel() }
    sources = []
    for number in StopSignals.numbers { signal(number, SIG_DFL) }
  }
}
