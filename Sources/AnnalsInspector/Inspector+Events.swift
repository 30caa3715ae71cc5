import Foundation

/// Something to tell a page that shows a store.
public struct InspectorEvent: Sendable {
  /// `head` or `changed`.
  public let name: String
  /// The event as JSON, on one line.
  public let data: String
}

extension Inspector {
  /// How often files are looked at.
  private static let pause = Duration.milliseconds(200)

  /// What happens to the store that the query names, from now on; first where it stands. Ends when
  /// the task that reads it is cancelled. At most five events a second; what happened in between is
  /// told together.
  ///
  /// Nil if there is no such store.
  public func events(query: String) -> AsyncStream<InspectorEvent>? {
    guard let parameters = RequestParameters(query: query),
      let file = try? place.file(parameters["store"])
    else { return nil }
    return AsyncStream(bufferingPolicy: .bufferingNewest(16)) { continuation in
      let task = Task {
        var changes = FileChanges(of: file)
        while !Task.isCancelled {
          for event in changes.next() {
            if let told = InspectorEvent(event) { continuation.yield(told) }
          }
          try? await Task.sleep(for: Inspector.pause)
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}

extension InspectorEvent {
  fileprivate init?(_ event: FileEvent) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    let encoded: Data?
    switch event {
    case .head(let head):
      name = "head"
      encoded = try? encoder.encode(head)
    case .changed(let changed):
      name = "changed"
      encoded = try? encoder.encode(changed)
    }
    guard let encoded else { return nil }
    data = String(decoding: encoded, as: UTF8.self)
  }
}
