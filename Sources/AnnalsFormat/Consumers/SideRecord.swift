import AnnalsModel

/// A change of what stands beside objects and history, in a frame of its own that readers may skip:
/// the content of a frame whose kind has the role `sideRecord`.
///
/// With `SideState`, what a log makes of such records: they are replayed, carried by checkpoints,
/// kept by rewrites and salvaged without further ado.
package enum SideRecord: Sendable {
  case consumerChange(ConsumerChange)
  case retention(RetentionPolicy)

  /// The kind of its frame.
  package var kind: FrameKind {
    switch self {
    case .consumerChange: .consumerChange
    case .retention: .retention
    }
  }

  /// Reads the payload of a frame of this kind, with these flags.
  package init(
    _ payload: UnsafeRawBufferPointer, of kind: FrameKind, flags: FrameFlags
  ) throws(DecodeFault) {
    var reader = ByteReader(payload)
    switch kind {
    case .consumerChange: self = .consumerChange(try ConsumerCodec.decode(&reader))
    case .retention: self = .retention(try RetentionCodec.decode(&reader))
    default: throw .invalid(at: 0, reason: "no side record")
    }
    try reader.expectEnd()
    guard flags.contains(.skippable) else {
      throw .invalid(
        at: 0,
        reason: kind == .retention
          ? "a retention policy that is not skippable" : "a consumer change that is not skippable")
    }
  }

  /// Appends the payload of its frame.
  package func encode(into bytes: inout ContiguousArray<UInt8>) {
    switch self {
    case .consumerChange(let change): ConsumerCodec.encode(change, into: &bytes)
    case .retention(let policy): RetentionCodec.encode(policy, into: &bytes)
    }
  }

  /// What to say of a record of this kind that cannot be read, and what that costs.
  package static func loss(of kind: FrameKind) -> (what: String, consequence: String) {
    switch kind {
    case .consumerChange:
      (
        "a consumer change cannot be read",
        "It may have registered a blocking consumer, so all history is kept: the store lists a "
          + "consumer `unreadable record at …` in its place. Open the store's consumers again, "
          + "then remove that one; or prune by force"
      )
    case .retention:
      (
        "the retention cannot be read",
        "Nothing is lost: all history is kept until a retention is set again"
      )
    default: ("a \(kind.name) cannot be read", "Nothing else is lost")
    }
  }
}

/// What the side records of a log add up to.
package struct SideState: Equatable, Sendable {
  /// The consumers.
  package var consumers = ConsumerTable()
  /// The retention policy.
  package var retention = RetentionPolicy.off

  package init() {}

  /// Applies a record. Returns false, and changes nothing, if a limit forbids it.
  @discardableResult
  package mutating func apply(_ record: SideRecord) -> Bool {
    switch record {
    case .consumerChange(let change): return consumers.apply(change)
    case .retention(let policy): retention = policy
    }
    return true
  }

  /// Makes up for a record of this kind, at this offset of the file, that cannot be read: what it
  /// may have said must not cost any history. `base` is the base of the file.
  package mutating func applyUnreadable(
    _ kind: FrameKind, at offset: UInt64, base: Int64, now: Timestamp
  ) {
    switch kind {
    case .consumerChange: consumers.applyUnreadable(at: offset, base: base, registered: now)
    case .retention: retention = .off
    default: break
    }
  }

  /// The records that make this state in a new file.
  package var records: [SideRecord] {
    var result = consumers.list.map { SideRecord.consumerChange(.set($0)) }
    if !retention.isOff { result.append(.retention(retention)) }
    return result
  }

  /// The features that a file with this state announces.
  package var features: Features { records.reduce(.none) { $0.union($1.kind.feature) } }
}

// In the extension area of a directory.
extension SideState {
  /// The items, by tag.
  var extensionItems: [(tag: UInt64, bytes: ContiguousArray<UInt8>)] {
    var items: [(tag: UInt64, bytes: ContiguousArray<UInt8>)] = []
    if !consumers.isEmpty {
      items.append((ExtensionArea.consumers, .made { ConsumerCodec.encode(consumers, into: &$0) }))
    }
    if !retention.isOff {
      items.append((ExtensionArea.retention, .made { RetentionCodec.encode(retention, into: &$0) }))
    }
    return items
  }

  /// Reads an item. Returns false, and reads nothing, if the tag is not one of these.
  mutating func readExtension(
    _ tag: UInt64, _ item: inout ByteReader
  ) throws(DecodeFault) -> Bool {
    switch tag {
    case ExtensionArea.consumers: consumers = try ConsumerCodec.decodeTable(&item)
    case ExtensionArea.retention:
      retention = try RetentionCodec.decode(&item)
      guard !retention.isOff else { throw item.invalid("a retention of nothing") }
    default: return false
    }
    return true
  }
}
