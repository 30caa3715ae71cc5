import AnnalsEngine
import AnnalsModel
import Observation

/// The rows of a live timeline for a user interface, which updates when they change.
///
///     @State private var trips: LiveTimelineRows
///     // …
///     ForEach(0..<trips.rows.count, id: \.self) { position in … }
@MainActor @Observable
public final class LiveTimelineRows {
  /// The current rows.
  public private(set) var rows: TimelineRowList
  /// The difference from the previous rows; empty at first.
  public private(set) var diff = ListDiff()
  /// The error that ended the updates; nil while they continue.
  public private(set) var failure: AnnalsError?
  /// The live timeline of the rows.
  @ObservationIgnored public let timeline: LiveTimeline
  @ObservationIgnored private var observation: LiveObservation?

  /// Reads the rows of a live timeline and follows it until it ends. O(n log n); throws as
  /// `Snapshot.timeline(_:)` does.
  public init(_ timeline: LiveTimeline) throws(AnnalsError) {
    self.timeline = timeline
    let shown = timeline.current
    let rows = try shown.source.rows(in: timeline.store.snapshot())
    self.rows = rows
    observation = LiveObservation(
      Task { @MainActor [weak self] in
        var iterator = timeline.makeIterator(from: rows, shown)
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
