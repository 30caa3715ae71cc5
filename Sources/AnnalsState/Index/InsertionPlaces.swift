import AnnalsFormat

/// Where keys that rise belong among entries.
struct InsertionPlaces {
  private let entries: IndexEntries
  /// For searching, if there are many entries between two keys; nil to walk through them.
  private let leaf: LeafEntries?
  private var place = 0

  init(_ entries: IndexEntries, isSparse: Bool) {
    self.entries = entries
    leaf = isSparse ? LeafEntries(entries) : nil
  }

  /// The entry whose held bytes begin the key, or else the one that the key stands before.
  mutating func next(_ key: UnsafeRawBufferPointer) -> (place: Int, isHeld: Bool) {
    if let leaf {
      let found = leaf.place(of: key)
      return (found.index, found.isHeld)
    }
    return entries.bytes.withUnsafeBytes { all in
      while place < entries.count {
        let held = UnsafeRawBufferPointer(rebasing: all[entries.range(place)])
        switch compare(key, held: held) {
        case .after: place += 1
        case .before: return (place, false)
        case .matches: return (place, true)
        }
      }
      return (place, false)
    }
  }
}
