import AnnalsEngine
import AnnalsModel
import Observation

/// The rows of a live timeline for a user interface: what is read of it is read again when they
/// change.
///
///     @State private var trips: LiveTimelineRows
///     // …
///     ForEach(0..<trips.rows.count, id: \.self) { position in … }
@MainActor @Observable
public final class LiveTimelineRows {
  /// The rows now.
  public private(set) var rows: TimelineRowList
  /// What made them of the rows before; empty at first.
  public private(set) var diff = ListDiff()
  /// What ended the following; nil as long as it goes on.
  public private(set) var failure: AnnalsError?
  /// What the rows are of.
  @ObservationIgnored public let timeline: LiveTimeline
  @ObservationIgnored private var observation: LiveObservation?

  /// The rows of a live timeline, which it follows until it ends. O(n log n); throws as
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
