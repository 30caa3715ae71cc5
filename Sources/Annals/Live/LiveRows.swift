import AnnalsEngine
import AnnalsModel
import Observation

/// The rows of a live view for a user interface, which updates when they change.
///
///     @State private var events: LiveRows<Object<Event>>
///     // …
///     List(events.rows.objectIDs, id: \.self) { id in … }
///
/// Over an editing context the rows are those that are pending there, up to date as soon as an edit
/// returns.
@MainActor @Observable
public final class LiveRows<Row: Sendable> {
  /// The current rows.
  public private(set) var rows: RowList<Row>
  /// The difference from the previous rows; empty at first.
  public private(set) var diff = ListDiff()
  /// The error that ended the updates; nil while they continue.
  ///
  /// Over an editing context the rows are then those before the edit that failed, and the next edit
  /// that can be shown brings what was missed.
  public private(set) var failure: AnnalsError?
  /// The live view of the rows; nil over an editing context.
  @ObservationIgnored public let view: LiveView<Row>?
  @ObservationIgnored private var observation: LiveObservation?
  @ObservationIgnored private var pending: PendingRows?
  @ObservationIgnored private let read: RowList<Row>.Reader

  /// Reads the rows of a live view and follows it until it ends. O(n log n); throws as
  /// `Snapshot.fetch(_:)` does.
  public init(_ view: LiveView<Row>) throws(AnnalsError) {
    self.view = view
    read = view.read
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

  init(
    _ source: LiveSource, in context: EditingContext, _ read: @escaping RowList<Row>.Reader
  ) throws(AnnalsError) {
    view = nil
    self.read = read
    let pending = try PendingRows(source, in: context)
    rows = RowList(pending.rows, read)
    self.pending = pending
    context.followers[ObjectIdentifier(self)] = { [weak self] change in
      MainActor.assumeIsolated { self?.follow(change) != nil }
    }
  }

  private func follow(_ change: EditingContext.EditedObjects) {
    show { pending throws(AnnalsError) in try pending.step(change) }
  }

  /// Shows what a step has made of the pending rows.
  private func show(_ step: (PendingRows) throws(AnnalsError) -> ListDiff) {
    guard let pending else { return }
    do throws(AnnalsError) {
      let diff = try step(pending)
      failure = nil
      if diff.isEmpty { return }
      rows = RowList(pending.rows, read)
      self.diff = diff
    } catch {
      failure = error
    }
  }
}

extension LiveRows {
  /// Reads the rows that a fetch finds in what is pending in an editing context, and follows them.
  /// O(n log n), then O(log n) for each changed object; throws as `Snapshot.fetch(_:)` does.
  public convenience init<R: Record>(
    _ fetch: Fetch<R>, sections: RecordSections<R>? = nil, in context: EditingContext
  ) throws(AnnalsError) where Row == Object<R> {
    try self.init(LiveSource(fetch, sections), in: context, RowList.reader(R.self))
  }

  /// Replaces the fetch and the sections, as `LiveView.change(to:)` does; nil for no sections.
  public func change<R: Record>(
    to fetch: Fetch<R>, sections: RecordSections<R>? = nil
  ) where Row == Object<R> {
    view?.change(to: fetch, sections: sections)
    changePending(to: LiveSource(fetch, sections))
  }

  /// Replaces what is shown of an editing context.
  func changePending(to source: LiveSource) {
    show { pending throws(AnnalsError) in try pending.change(to: source) }
  }
}

extension LiveRows where Row == DynamicObject {
  /// Reads the rows that a fetch by names finds in what is pending in an editing context, and
  /// follows them; as the other form.
  public convenience init(
    _ fetch: DynamicFetch, sections: ListSections? = nil, in context: EditingContext
  ) throws(AnnalsError) {
    try self.init(LiveSource(fetch, sections), in: context, RowList.storedReader)
  }
}
