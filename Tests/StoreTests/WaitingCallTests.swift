import AnnalsTestSupport
import Foundation
import Testing

@testable import AnnalsEngine

/// A task's wait for a call on another thread.
@Suite(.deadline) struct WaitingCallTests {
  /// A task that is resumed twice ends the process.
  @Test func aCallThatHasEndedIsNotCancelledAnyMore() async throws {
    for round in 0..<200 {
      let call = WaitingCall<Int>(cancellation: .cancelledWrite)
      let started = DispatchSemaphore(value: 0)
      let task = Task { try await call.wait { started.signal() } }
      let ending = Task {
        started.waitUnlessCancelled()
        call.end(with: .success(round))
        task.cancel()
      }
      #expect(try await task.value == round)
      await ending.value
    }
  }

  @Test func aCancelledCallEndsOnceAndDoesNotBegin() async throws {
    let call = WaitingCall<Int>(cancellation: .cancelledWrite)
    let started = DispatchSemaphore(value: 0)
    let task = Task { try await call.wait { started.signal() } }
    let ending = Task {
      started.waitUnlessCancelled()
      task.cancel()
    }
    await #expect(throws: AnnalsError.self) { try await task.value }
    await ending.value
    #expect(call.isCancelled)
    #expect(throws: AnnalsError.self) { try call.begin() }
    call.end(with: .success(1))
  }
}
