import AnnalsFormat
import AnnalsModel

/// Checks the structure of a file, without decoding payloads: header, slots, frames, chain,
/// padding, and stretches without frames.
struct OutlineChecks {
  private let end: LogEnd
  private let size: UInt64
  private var slots: [RootSlot] = []
  /// The offsets of unusable slots, and what is wrong with each.
  private var unusableSlots: [(offset: UInt64, what: String)] = []
  private var header: FileHeader?
  /// Whether another version, or a draft, wrote the file.
  private var isOfAnotherVersion = false
  /// The header checksum of the last frame; nil if what lies before is not a frame.
  private var lastChecksum: UInt32?
  /// The last durable mark that was found to be a frame's offset.
  private var confirmedMark: UInt64?
  /// The features announced in the frames so far.
  private var announced = Features.none
  /// Whether all frames so far could be read, so that `announced` is complete.
  private var knowsAnnounced = true

  init(end: LogEnd, size: UInt64) {
    self.end = end
    self.size = size
  }

  /// Whether a region is part of the torn tail, which is reported as a whole.
  func isTorn(_ region: FileRegion) -> Bool {
    guard case .torn = end.tail else { return false }
    return region.offset >= end.end
  }

  /// The valid slots, the newer one first.
  var slotsByAge: [RootSlot] { slots.sorted { $0.sequence > $1.sequence } }

  mutating func header(_ verdict: HeaderVerdict, _ log: inout FindingLog) {
    switch verdict {
    case .valid(let header):
      lastChecksum = header.checksum
      self.header = header
    case .damaged(let fault):
      let remedy =
        switch fault {
        case .notAnnals, .tooShort: "Check the path: this is another kind of file"
        case .cut: "Restore a copy: all behind is gone"
        case .newerVersion, .unknownFeatures: Remedy.newerVersion
        case .olderDraft(let draft): HeaderFault.remedy(forDraft: draft)
        default: Remedy.salvage
        }
      isOfAnotherVersion = verdict.isOfAnotherVersion || remedy == Remedy.newerVersion
      log.error(.header, at: 0, fault.description, remedy: remedy)
    }
  }

  mutating func slot(
    _ index: Int, _ verdict: SlotVerdict, at offset: UInt64, _ log: inout FindingLog
  ) {
    switch verdict {
    case .valid(let slot):
      slots.append(slot)
      if let copy = slot.header, let header, copy != header {
        log.warning(
          .slot, at: offset, "root slot \(index) repeats another header than the file has",
          remedy: Remedy.compact)
      }
    case .unchecked: break
    case .damaged(.unknownFeatures(_, let bits)):
      isOfAnotherVersion = true
      knowsAnnounced = false
      needs(bits, .slot, "root slot \(index)", at: offset, &log)
    // Another version may keep other things in its slots.
    case .damaged where isOfAnotherVersion: break
    case .foreign: log.error(.slot, at: offset, "root slot \(index): \(verdict)")
    case .cut: log.error(.slot, at: offset, "root slot \(index): \(verdict)")
    case .damaged, .unwritten:
      unusableSlots.append((offset, "root slot \(index) is damaged: \(verdict)"))
    }
  }

  /// Checks the slots together: at least one is valid at any time, and a clean close leaves two
  /// that agree.
  func slotsTogether(_ log: inout FindingLog) {
    // A writer renews one unusable slot, and refuses a file without any valid one.
    for (offset, what) in unusableSlots {
      log.warning(.slot, at: offset, what, remedy: remedyOfLostSlot)
    }
    guard size >= FormatLimits.logStart, !isOfAnotherVersion, end.tail != .unknown else { return }
    let slots = slotsByAge
    guard let newest = slots.first else {
      log.error(
        .slot, at: FormatLimits.slotOffsets[0],
        "no root slot can be read, and nothing else tells what of the log was synced")
      return
    }
    if let other = slots.dropFirst().first, newest.sequence != other.sequence + 1 {
      log.warning(
        .slot, at: FormatLimits.slotOffsets[other.index],
        "root slot \(other.index) is not the one that was written last in this place: its "
          + "sequence is \(other.sequence), beside \(newest.sequence)", remedy: remedyOfLostSlot)
    }
    let isClosed = newest.durableMark == size && newest.extent == size
    for slot in slots.dropFirst()
    where isClosed && (slot.durableMark != size || slot.extent != size) {
      log.warning(
        .slot, at: FormatLimits.slotOffsets[slot.index],
        "root slot \(slot.index) is older than the close of the file", remedy: Remedy.nextClose)
    }
  }

  /// What to do about a slot that cannot be used. The next writer renews it; but unless the other
  /// one proves the end of the file, transactions may be missing that only this one proved.
  private var remedyOfLostSlot: String {
    guard let newest = slotsByAge.first else { return Remedy.salvage }
    if end.tail == .clean, newest.durableMark == size, newest.extent == size {
      return Remedy.nextClose
    }
    return "The other slot proves the transactions up to \(newest.head). If bytes of the log are "
      + "damaged as well, later ones may be missing, and nothing tells: compare the newest one "
      + "with what you expect. The next writer to close the file renews the slot"
  }

  /// Checks a frame, except for the contents of its payload.
  mutating func frame(_ frame: InspectedFrame, in region: FileRegion, _ log: inout FindingLog) {
    lastChecksum = frame.header.checksum
    let kind = frame.header.kind
    if case .broken(let expected) = frame.chain {
      log.error(
        .chain, at: region.offset,
        "the \(kind.name) frame names \(Hex.text(frame.header.previousChecksum)) as the one before "
          + "it, which is \(Hex.text(expected))")
    }
    switch frame.payload {
    case .valid, .unchecked: break
    case .mismatch, .cut:
      if kind.role == .announcement { knowsAnnounced = false }
      let what = "the payload of a \(kind.name) frame is damaged: \(frame.payload)"
      switch kind.role {
      case .chunk, .checkpoint:
        // A damaged part of the base is reported as an error where the base refers to it.
        log.warning(.frame, at: region.offset, what, remedy: kind.remedy)
      default: log.error(.frame, at: region.offset, what, remedy: kind.remedy)
      }
    }
    if frame.hasForeignPadding {
      log.warning(
        .padding, at: region.offset,
        "bytes behind the payload of the \(kind.name) frame are not zero; readers ignore them",
        remedy: "Nothing need be done: nothing is stored there")
    }
    if !kind.isKnown { unknown(frame, at: region.offset, &log) }
  }

  private func unknown(_ frame: InspectedFrame, at offset: UInt64, _ log: inout FindingLog) {
    let what = "a frame of kind \(frame.header.kind.rawValue) (\(frame.header.kind.name))"
    if frame.header.flags.contains(.skippable) {
      log.note(.frame, at: offset, "\(what), which this version skips")
    } else {
      log.error(
        .frame, at: offset, "\(what), which this version cannot read", remedy: Remedy.newerVersion)
    }
  }

  /// Checks and applies an announcement of features; returns the rule that it breaks, if any.
  mutating func announcement(
    _ announcement: Result<Features, DecodeFault>, at offset: UInt64, _ log: inout FindingLog
  ) -> DecodeFault? {
    switch announcement {
    case .success(let features):
      announced.formUnion(features)
      if Features.known.contains(features) { return nil }
      let isForbidden = if case .reading = features.permission { true } else { false }
      log.note(
        .feature, at: offset,
        "features are announced: \(features)"
          + (isForbidden ? ", which a writer must know and this version does not" : ""))
    case .failure(.unknownFeatures(_, let bits)):
      needs(bits, .feature, "an announcement", at: offset, &log)
    case .failure(let fault):
      knowsAnnounced = false
      return fault
    }
    return nil
  }

  private func needs(
    _ bits: UInt64, _ subject: Finding.Subject, _ what: String, at offset: UInt64,
    _ log: inout FindingLog
  ) {
    log.error(
      subject, at: offset,
      "\(what) says that features are needed which this version does not know: "
        + Features.text(bits), remedy: Remedy.newerVersion)
  }

  /// Checks a stretch without frames. `isLast` is whether it ends the file.
  mutating func stretch(_ region: FileRegion, isLast: Bool, _ log: inout FindingLog) {
    lastChecksum = nil
    knowsAnnounced = false
    switch region.content {
    case .damaged(.newerFrame(let reason)):
      log.error(
        .frame, at: region.offset, "a frame that this version cannot read: \(reason)",
        remedy: Remedy.newerVersion)
    // Nothing of it was read; the header's finding says why.
    case .damaged(.noSeed) where isOfAnotherVersion: break
    case .damaged(let reason):
      log.error(.damageInside, at: region.offset, "\(region.length) bytes lost: \(reason)")
    case .unwritten where !isLast:
      log.error(
        .damageInside, at: region.offset,
        "\(region.length) bytes of zeros where there should be frames")
    default: break
    }
  }

  /// Reports a torn tail or damage inside the log, before the regions are checked.
  func tail(_ log: inout FindingLog) {
    switch end.tail {
    case .clean, .unclosed, .unknown, .newer: break
    case .torn(let byteCount):
      log.warning(
        .tornTail, at: end.end,
        "\(byteCount) bytes behind the end of the log are no whole transaction: a commit in "
          + "progress, or one that a crash cut short",
        remedy: Remedy.nextWriter)
    case .damaged(let reason):
      log.error(.damageInside, at: end.badSpot, "the log breaks off inside: \(reason)")
    }
  }
}

// Durable marks and slots.
extension OutlineChecks {
  /// Checks the durable mark of a frame. `isBoundary` returns whether a frame begins at an offset.
  mutating func mark<E: Error>(
    of frame: InspectedFrame, at offset: UInt64, _ log: inout FindingLog,
    isBoundary: (UInt64) throws(E) -> Bool
  ) throws(E) {
    guard frame.header.durableMarkBack != FrameHeader.unknownMark else { return }
    guard let mark = frame.durableMark else {
      log.error(.durableMark, at: offset, "a durable mark before the beginning of the log")
      return
    }
    if mark == offset || mark == confirmedMark || mark == FormatLimits.logStart { return }
    if try isBoundary(mark) {
      confirmedMark = mark
    } else {
      log.error(.durableMark, at: offset, "a durable mark at \(mark), where no frame begins")
    }
  }

  /// Compares slots whose mark is `offset`, where a frame begins or the log ends, with the log
  /// before it. `head` is the number of the last whole transaction; nil if unknown.
  func boundary(at offset: UInt64, head: Int64?, _ log: inout FindingLog) {
    for slot in slots where slot.durableMark == offset {
      let place = FormatLimits.slotOffsets[slot.index]
      if let lastChecksum, slot.markChecksum != lastChecksum {
        log.error(
          .slot, at: place,
          "root slot \(slot.index) says that the frame before \(offset) has the checksum "
            + "\(Hex.text(slot.markChecksum)); it has \(Hex.text(lastChecksum))")
      }
      if let head, slot.head != head {
        log.error(
          .slot, at: place,
          "root slot \(slot.index) says that transaction \(slot.head) is the last before "
            + "\(offset); it is \(head)")
      }
      if knowsAnnounced, slot.announced != announced {
        log.error(
          .slot, at: place,
          "root slot \(slot.index) announces other features than the frames before "
            + "\(offset): \(slot.announced.isEmpty ? "none" : "\(slot.announced)") and not "
            + "\(announced.isEmpty ? "none" : "\(announced)")")
      }
    }
  }

  /// Reports slots whose mark is within the log, but is not the offset of a frame.
  func marks(met: Set<UInt64>, _ log: inout FindingLog) {
    for slot in slots where slot.durableMark <= end.end && !met.contains(slot.durableMark) {
      log.error(
        .slot, at: FormatLimits.slotOffsets[slot.index],
        "root slot \(slot.index) has its mark at \(slot.durableMark), where no frame begins")
    }
  }

  /// Whether the header or the frames announce these features; true if that is not known.
  func has(_ features: Features) -> Bool {
    guard knowsAnnounced, let header else { return true }
    return header.features.union(announced).contains(features)
  }

  /// Whether a slot has its mark here.
  func hasMark(at offset: UInt64) -> Bool { slots.contains { $0.durableMark == offset } }
}
