import AnnalsInspector
import Dispatch
import Foundation

/// Runs requests on threads of its own, since they read files, a few at a time. Others wait; if too
/// many do, further ones are refused.
actor WorkPool {
  private let queue = DispatchQueue(label: "annals requests", attributes: .concurrent)
  private var running = 0
  private var waiting: [(number: Int, admit: CheckedContinuation<Bool, Never>)] = []
  private var next = 0
  private let width: Int
  private let mostWaiting: Int

  init(width: Int = 4, mostWaiting: Int = 32) {
    self.width = width
    self.mostWaiting = mostWaiting
  }

  /// Runs `body`, and cancels it if the task is cancelled. Nil if too many are waiting.
  func run(
    _ body: @escaping @Sendable (InspectorCancellation) -> InspectorAnswer
  ) async -> InspectorAnswer? {
    if running >= width {
      guard waiting.count < mostWaiting else { return nil }
      guard await wait() else {
        return InspectorAnswer(status: 499, contentType: "text/plain", body: Data())
      }
    } else {
      running += 1
    }
    defer { leave() }
    let cancellation = InspectorCancellation()
    if Task.isCancelled { cancellation.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: body(cancellation)) }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Waits until somebody who ends gives its place to this one; false if the task is cancelled.
  private func wait() async -> Bool {
    next += 1
    let number = next
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: false) }
        waiting.append((number, continuation))
      }
    } onCancel: {
      Task { await self.giveUp(number) }
    }
  }

  private func giveUp(_ number: Int) {
    guard let place = waiting.firstIndex(where: { $0.number == number }) else { return }
    waiting.remove(at: place).admit.resume(returning: false)
  }

  private func leave() {
    if waiting.isEmpty {
      running -= 1
    } else {
      waiting.removeFirst().admit.resume(returning: true)
    }
  }
}
