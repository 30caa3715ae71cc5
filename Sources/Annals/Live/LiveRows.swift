import AnnalsEngine
import AnnalsModel
import Observation

/// The rows of a live view for a user interface: what is read of it is read again when they change.
///
///     @State private var events: LiveRows<Object<Event>>
///     // …
///     List(events.rows.objectIDs, id: \.self) { id in … }
@MainActor @Observable
public final class LiveRows<Row: Sendable> {
  /// The rows now.
  public private(set) var rows: RowList<Row>
  /// What made them of the rows before; empty at first.
  public private(set) var diff = ListDiff()
  /// What ended the following; nil as long as it goes on.
  public private(set) var failure: AnnalsError?
  /// What the rows are of.
  @ObservationIgnored public let view: LiveView<Row>
  @ObservationIgnored private var observation: LiveObservation?

  /// The rows of a live view, which it follows until it ends. O(n log n); throws as
  /// `Snapshot.fetch(_:)` does.
  public init(_ view: LiveView<Row>) throws(AnnalsError) {
    self.view = view
    let shown = view.current
    rows = try shown.source.rows(in: view.store.snapshot())
    let first = view.makeIterator(from: rows, edition: shown.edition)
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
