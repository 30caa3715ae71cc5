import AnnalsModel

// What becomes of the items of extension areas that this version does not know.
//
// Docs/Writing-the-format.md, "What becomes of extension areas".

extension TransactionRecord {
  /// Drops the items that do not outlast a rewrite, and with `leavingLog` the place in a shared
  /// log. Returns whether there were any.
  fileprivate mutating func dropPassingItems(leavingLog: Bool) -> Bool {
    if isPlain || extensions.isEmpty { return false }
    var lasting = ExtensionArea.lasting(
      extensions, besides: [ExtensionArea.erasure, ExtensionArea.undo])
    if leavingLog { lasting = ExtensionArea.without(ExtensionArea.sharedLogPlace, in: lasting) }
    if lasting.count == extensions.count { return false }
    extensions = lasting
    return true
  }
}

extension ChangeBatch {
  /// Drops the items of its transactions, or of the last ones, that do not outlast a rewrite; with
  /// `leavingLog`, one for another store, also their places in a shared log. Returns whether there
  /// were any. O(these transactions).
  package mutating func dropPassingItems(
    ofLast count: Int = .max, leavingLog: Bool = false
  ) -> Bool {
    var hasDropped = false
    for index in transactions.indices.suffix(count)
    where transactions[index].dropPassingItems(leavingLog: leavingLog) {
      hasDropped = true
    }
    return hasDropped
  }
}

extension LargeValuePiece {
  /// The piece without the items that do not outlast a rewrite.
  package var lasting: LargeValuePiece {
    var result = self
    result.extensions = ExtensionArea.lasting(extensions)
    return result
  }
}

extension Entity {
  /// The definition without the items that do not outlast its change, made from `old`: those of the
  /// entity, and of each property and index that is stated otherwise. Nil if there are none.
  /// O(properties).
  package func withoutPassingItems(since old: Entity) -> Entity? {
    var kept = self
    kept.extensions = ExtensionArea.lasting(extensions)
    for place in attributes.indices where !attributes[place].extensions.isEmpty {
      if old.attributes.contains(attributes[place]) { continue }
      kept.attributes[place].extensions = ExtensionArea.lasting(attributes[place].extensions)
    }
    for place in relationships.indices where !relationships[place].extensions.isEmpty {
      if old.relationships.contains(relationships[place]) { continue }
      kept.relationships[place].extensions = ExtensionArea.lasting(relationships[place].extensions)
    }
    for place in indexes.indices where !indexes[place].extensions.isEmpty {
      if old.indexes.contains(indexes[place]) { continue }
      kept.indexes[place].extensions = ExtensionArea.lasting(indexes[place].extensions)
    }
    return kept == self ? nil : kept
  }
}
