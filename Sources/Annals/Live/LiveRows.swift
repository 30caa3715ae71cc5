import AnnalsEngine
import AnnalsModel
import Observation

/// The rows of a live view for a user interface, which updates when they change.
///
///     @State private var events: LiveRows<Object<Event>>
///     // …
///     List(events.rows.objectIDs, id: \.self) { id in … }
@MainActor @Observable
public final class LiveRows<Row: Sendable> {
  /// The current rows.
  public private(set) var rows: RowList<Row>
  /// The difference from the previous rows; empty at first.
  public private(set) var diff = ListDiff()
  /// The error that ended the updates; nil while they continue.
  public private(set) var failure: AnnalsError?
  /// The live view of the rows.
  @ObservationIgnored public let view: LiveView<Row>
  @ObservationIgnored private var observation: LiveObservation?

  /// Reads the rows of a live view and follows it until it ends. O(n log n); throws as
  /// `Snapshot.fetch(_:)` does.
  public init(_ view: LiveView<Row>) throws(AnnalsError) {
    self.view = view
    let (rows, first) = try view.begin()
    self.rows = rows
    observation = LiveObservation(
      Task { @MainActor [weak self] in
        var iterator = first
        do throws(AnnalsError) {
          while let update = try await iterator.next(isolation: MainActor.shared) {
            guard let self else { return }
            self.rows = update.rows
            self.diff = update.diff
          }
        } catch {
          self?.failure = error
        }
      })
  }
}
