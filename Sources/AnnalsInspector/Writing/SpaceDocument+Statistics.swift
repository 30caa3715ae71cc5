import AnnalsDescription
import AnnalsInspection
import AnnalsModel

extension SpaceDocument {
  private static let most = 500

  /// What the statistics of a file say.
  package init(_ statistics: FileStatistics, isSound: Bool, command: String) {
    let shares = statistics.shares.filter { $0.totalBytes > 0 }
    self.init(
      size: statistics.fileSize, progress: 1, contents: Contents(statistics),
      uses: ByteUse.allCases.compactMap { use in
        statistics.bytesByUse[use].map { Use(use: use.rawValue, bytes: $0) }
      }.filter { $0.bytes > 0 },
      properties: shares.prefix(SpaceDocument.most).map {
        Share(
          entity: $0.entityName, property: $0.propertyName, bytes: $0.totalBytes,
          history: $0.historyBytes, state: $0.stateBytes, large: $0.largeValueBytes,
          changes: $0.changes)
      },
      moreProperties: max(0, shares.count - SpaceDocument.most),
      moreBytes: shares.dropFirst(SpaceDocument.most).reduce(0) { $0 + $1.totalBytes },
      authors: statistics.historyByAuthor.prefix(SpaceDocument.most).map {
        Author(author: $0.name, bytes: $0.bytes, transactions: $0.transactions)
      },
      months: statistics.historyByMonth.suffix(1_200).map {
        Month(month: $0.month, bytes: $0.bytes, transactions: $0.transactions)
      }, isSound: isSound, command: command)
  }
}

extension SpaceDocument.Contents {
  private static let mostAuthors = 500

  fileprivate init(_ statistics: FileStatistics) {
    let kinds = statistics.changesByKind
    self.init(
      transactions: statistics.transactions, emptyTransactions: statistics.emptyTransactions,
      inserts: kinds[.insert] ?? 0, updates: kinds[.update] ?? 0, deletes: kinds[.delete] ?? 0,
      earliestUs: statistics.earliest?.microseconds, latestUs: statistics.latest?.microseconds,
      clockJumps: statistics.clockJumps, datedBack: statistics.timestampsBack,
      openings: statistics.openings,
      authors: statistics.authors.prefix(SpaceDocument.Contents.mostAuthors).map {
        Author(author: $0.name, transactions: $0.transactions)
      }, authorCount: statistics.authors.count,
      features: statistics.features.map { Feature(place: $0.place, text: $0.text) })
  }
}
