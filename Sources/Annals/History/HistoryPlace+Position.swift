import AnnalsEngine

extension HistoryPlace: HistoryPosition {
  /// The place itself.
  public var historyPlace: HistoryPlace { self }
}
