import AnnalsFormat
import AnnalsLog
import AnnalsModel

// A stage of the commit (`CommitStages.swift`): what a transaction records besides its changes.

extension TransactionOrigin {
  /// Throws if the file cannot hold the date or the metadata; `.conflict` if the transaction was to
  /// have another number than the one after `newest`.
  func requireStorable(after newest: Int64) throws(AnnalsError) {
    if let number, number != newest + 1 {
      throw .conflict(
        "the transaction was to be number \(number), and the next one is \(newest + 1); nothing "
          + "was recorded")
    }
    try requireDatable()
    try requireStorableMetadata()
  }

  /// Throws `invalidArgument` for a timestamp that leaves no room for others around it.
  private func requireDatable() throws(AnnalsError) {
    guard let timestamp, !Timestamp.transactionRange.contains(timestamp) else { return }
    throw AnnalsError(
      .invalidArgument,
      "a transaction cannot be dated \(timestamp); \(Timestamp.transactionRangeText). Nothing was "
        + "recorded")
  }

  /// Throws `invalidChange` or `tooLarge` for metadata that a file cannot hold.
  private func requireStorableMetadata() throws(AnnalsError) {
    if metadata.isEmpty { return }
    guard metadata.count <= FormatLimits.maximumChanges else {
      throw AnnalsError(
        .tooLarge,
        "the transaction has \(metadata.count) entries of metadata; the most is "
          + "\(FormatLimits.maximumChanges). Nothing was recorded")
    }
    for (key, value) in metadata {
      let problem: String
      switch value {
      case .double(let number) where !number.isFinite: problem = "\(number) is no finite number"
      case .erased: problem = "it is no value"
      case .large: problem = "it is a large value that was not read; give it its bytes"
      case .object, .objects:
        // A row comes from the text form of an id, too, and may be any number.
        let rows = 1...FormatLimits.maximumRow
        guard let wrong = value.targets.first(where: { !rows.contains($0.row) }) else { continue }
        problem = "no object can be in row \(wrong.row)"
      default: continue
      }
      throw AnnalsError(
        .invalidChange, "the metadata `\(key)` cannot be kept; nothing was recorded: \(problem)")
    }
  }
}

extension StoreWriter {
  /// The record's content besides the changes. Reads the clock.
  func envelope(of draft: Draft) -> TransactionEnvelope {
    // Without a copy of the origin, which counts ten references.
    var metadata: [MetadataEntry] = []
    if !draft.origin.metadata.isEmpty {
      metadata = draft.origin.metadata.map { MetadataEntry(key: $0.key, value: $0.value) }
        .sorted { $0.key.precedesInBytes($1.key) }
    }
    var envelope = TransactionEnvelope(
      timestamp: draft.origin.timestamp ?? now(), author: draft.origin.author,
      context: draft.origin.context, metadata: metadata, schemaChange: draft.schemaChange,
      extensions: draft.origin.extensions, opening: draft.origin.opening)
    if draft.origin.timestamp == nil { keepOrder(&envelope) }
    envelope.features = draft.origin.features
    if envelope.schemaChange.contains(where: \.hasRelationshipRules) {
      envelope.features.formUnion(.references)
    }
    if envelope.schemaChange.contains(where: \.hasDerivations) {
      envelope.features.formUnion(.derivations)
    }
    if envelope.schemaChange.contains(where: \.hasDecimalOrDay)
      || metadata.contains(where: { $0.value.tag.isDecimalOrDay })
    {
      envelope.features.formUnion(.decimalsAndDays)
    }
    return envelope
  }

  /// The most that a clock may go back without a mark, in microseconds.
  private static let smallStepBack: Int64 = 1_000_000

  /// Where the clock is a little behind the newest transaction, dates this one just behind it. A
  /// larger step back keeps what the clock says, and is marked.
  private func keepOrder(_ envelope: inout TransactionEnvelope) {
    let newest = precedingPosition
    guard newest.number > 0, envelope.timestamp < newest.timestamp else { return }
    let last = newest.timestamp.microseconds
    let (step, overflow) = last.subtractingReportingOverflow(envelope.timestamp.microseconds)
    if !overflow, step <= StoreWriter.smallStepBack, last < .max {
      envelope.timestamp = Timestamp(microseconds: last + 1)
    } else {
      envelope.extensions = ExtensionArea.ofClockJump + envelope.extensions
    }
  }
}
