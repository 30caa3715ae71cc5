import AnnalsFormat
import AnnalsInspection
import AnnalsModel

/// A region of a file as text, as `dump` prints it.
package struct RegionDescription: Sendable {
  /// One decoded field.
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: String
    /// Whether the value is a number, so that JSON shows it as one.
    package var isNumber: Bool
  }

  package var offset: UInt64
  package var length: UInt64
  /// `header`, `slot 0`, the name of a frame's kind, `unwritten`, `damaged`.
  package var kind: String
  /// The names of the frame's flags that are set; empty for none.
  package var flags = ""
  /// The verdict on the checksums; `ok` if they match.
  package var checksum = ""
  /// The verdict on the chain of frames; `ok` if it holds; empty if the region is not a frame.
  package var chain = ""
  /// The offset up to which the log was synced when the frame was written; nil if unknown.
  package var durableMark: UInt64?
  /// The decoded fields, in the order of the format.
  package var fields: [Field] = []
  /// Whether anything in the region is wrong.
  package var hasProblem = false

  mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value, isNumber: false))
  }

  mutating func add(_ name: String, _ value: some BinaryInteger) {
    fields.append(Field(name: name, value: "\(value)", isNumber: true))
  }
}

// Header, slots, and the outline of frames.
extension RegionDescription {
  /// The description of a region without the payload of its frame.
  package init(outlineOf region: FileRegion) {
    self.init(offset: region.offset, length: region.length, kind: "")
    switch region.content {
    case .header(let verdict):
      kind = "header"
      describe(verdict)
    case .slot(let index, let verdict):
      kind = "slot \(index)"
      describe(verdict)
    case .frame(let frame): describe(frame)
    case .unwritten: kind = "unwritten"
    case .damaged(let reason):
      kind = "damaged"
      checksum = reason.description
      hasProblem = true
    }
  }

  private mutating func describe(_ verdict: HeaderVerdict) {
    guard case .valid(let header) = verdict else {
      if case .damaged(let fault) = verdict { checksum = fault.description }
      hasProblem = true
      return
    }
    checksum = "ok"
    add("version", FormatLimits.version)
    add("store", header.store.description)
    add("generation", header.generation)
    add("base", header.base)
    add("created", header.created.description)
    add(header.features)
    if header.baseCheckpointOffset != 0 { add("base checkpoint", header.baseCheckpointOffset) }
    if header.base > 0 { add("base timestamp", header.baseTimestamp.description) }
    if let prunedAt = header.prunedAt {
      add("pruned", prunedAt.description)
      add("pruned by", header.prunedBy)
    }
  }

  /// Adds the features, if there are any.
  mutating func add(_ features: Features, _ what: String = "features") {
    if features.required != 0 { add("required \(what)", Features.text(features.required)) }
    if features.optional != 0 { add("optional \(what)", Features.text(features.optional)) }
  }

  private mutating func describe(_ verdict: SlotVerdict) {
    switch verdict {
    case .cut, .unchecked, .damaged, .unwritten, .foreign:
      checksum = verdict.description
      hasProblem = true
    case .valid(let slot):
      checksum = "ok"
      add("sequence", slot.sequence)
      add("durable mark", slot.durableMark)
      add("head", slot.head)
      add("extent", slot.extent)
      if slot.checkpointOffset != 0 {
        add("checkpoint", slot.checkpointOffset)
        add("checkpoint number", slot.checkpointNumber)
      }
      if let header = slot.header { add("header repeated", "generation \(header.generation)") }
      add(slot.announced, "announced")
    }
  }

  private mutating func describe(_ frame: InspectedFrame) {
    kind = frame.header.kind.name
    flags = frame.header.flags.text
    checksum = frame.payload == .valid ? "ok" : frame.payload.description
    chain = "\(frame.chain)"
    durableMark = frame.durableMark
    if frame.hasForeignPadding { checksum += ", padding is not zero" }
    hasProblem = !frame.isIntact
    if case .broken = frame.chain { hasProblem = true }
    if !frame.header.kind.isKnown { add("kind", frame.header.kind.rawValue) }
  }
}
