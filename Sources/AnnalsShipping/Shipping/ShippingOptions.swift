/// How much a shipping folder keeps, and when a new base is made.
public struct ShippingOptions: Sendable {
  /// How many bases, with their segments, are kept at least; nil to remove none.
  public var keptBases: Int?
  /// For how long every moment can be restored at least; nil to remove no base. If both are given,
  /// a base is kept if either keeps it.
  public var keptFor: Duration?
  /// Whether all older bases are removed once the newest is one of a file from which values were
  /// erased that an older one still has.
  public var forgetsErased = false
  /// A new base is made when more bytes were shipped in segments since the last than this many
  /// times its own.
  public var bytesPerBase = 1.0
  /// No new base is made for fewer bytes than this.
  public var leastBytesPerBase: UInt64 = 4 << 20
  /// A new base is made after this many segments.
  public var segmentsPerBase = 10_000

  /// The default: removes nothing.
  public init() {}
}

/// What one pass shipped.
public struct ShippingReport: Sendable {
  /// Why a new base was made.
  public enum NewBase: Sendable, Hashable {
    /// The folder had none.
    case first
    /// The file was rewritten: compacted, pruned, erased from, upgraded, or put back.
    case rewritten
    /// The file does not have everything that was shipped: a copy was put back, or the writer's
    /// disk lost transactions that it had not acknowledged. What was shipped stays in the base
    /// before.
    case branched
    /// So many segments follow the last base.
    case manySegments
    /// A file of the folder is missing or damaged; the text says which.
    case incomplete(String)
  }

  /// Why a new base was made; nil if none was.
  public internal(set) var newBase: NewBase?
  /// The number of the base that is continued, from 1.
  public internal(set) var base: UInt64 = 0
  /// How many segments were added.
  public internal(set) var segments = 0
  /// How many bytes were added to the folder.
  public internal(set) var bytes: UInt64 = 0
  /// The last transaction before this pass that the folder had; nil if it had none.
  public internal(set) var headBefore: Int64?
  /// The last transaction that the folder has now.
  public internal(set) var head: Int64 = 0
  /// Whether the file has later transactions that are not known to be synced yet.
  public internal(set) var hasUnsynced = false
  /// The numbers of the bases that were removed.
  public internal(set) var removed: [UInt64] = []
  /// The numbers of the older bases that have values which were erased from the file since.
  public internal(set) var holdErased: [UInt64] = []

  /// Whether anything was shipped.
  public var isChanged: Bool { newBase != nil || segments > 0 }
}
