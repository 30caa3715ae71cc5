import AnnalsFormat
import AnnalsModel

/// The two root slots of a file, read together.
///
/// One slot is whole at any time, and each belongs to the store and generation of the header.
/// Otherwise nothing tells what of the log was synced, and `requireSound` throws the reason.
package struct RootSlots: Sendable {
  /// The readable slots, the newer one first.
  package private(set) var valid: [RootSlot] = []
  /// What is wrong with the others.
  private(set) var findings: [LogFinding] = []
  /// Why bytes after the end of the log may be more than a crash leaves: a slot is lost in a way
  /// that no crash causes, and what it proved with it. Nil if there is no such slot.
  private(set) var doubt: String?
  /// The places of whole slots that belong to another store or generation than the header.
  private var foreign: [UInt64] = []
  /// The bytes of both slots.
  fileprivate let blocks: ContiguousArray<UInt8>

  /// The newest readable slot; nil if there is none.
  var newest: RootSlot? { valid.first }

  /// Whether both can be read.
  var areWhole: Bool { valid.count == FormatLimits.slotOffsets.count }

  /// Whether both say that the log was closed with this end, and the file ends there.
  func sayClosed(at end: UInt64, size: UInt64) -> Bool {
    areWhole && size == end && valid.allSatisfy { $0.durableMark == end && $0.extent == end }
  }

  /// Decodes the slots from the bytes between the first slot's place and the second's end. Throws
  /// `newerReader` if one needs features that this engine does not know.
  init(_ blocks: ContiguousArray<UInt8>, header: FileHeader) throws(LogError) {
    self.blocks = blocks
    var unknown: LogError?
    for (index, offset) in FormatLimits.slotOffsets.enumerated() {
      blocks.withUnsafeBytes { bytes in
        let start = min(index * FormatLimits.blockLength, bytes.count)
        let block = UnsafeRawBufferPointer(
          rebasing: bytes[start...].prefix(FormatLimits.blockLength))
        do throws(DecodeFault) {
          valid.append(try RootSlot.decode(block, index: index, seed: header.seed))
        } catch {
          if case .unknownFeatures(_, let bits) = error {
            unknown = .newerReader(bits, at: offset)
          } else if RootSlot.identity(provenBy: block, index: index, notOf: header) != nil {
            foreign.append(offset)
          }
          let what =
            "root slot \(index) " + (block.isZero ? "holds zeros" : "is unreadable: \(error)")
          findings.append(LogFinding(.slot, offset: offset, text: what))
          if block.isZero { doubt = RootSlots.doubt(about: what) }
        }
      }
    }
    if let unknown { throw unknown }
    valid.sort { $0.sequence > $1.sequence }
    findStale()
  }

  /// Finds a slot that is older than the one that was written before the other: slots are written
  /// in turn, each after the sync of the one before.
  private mutating func findStale() {
    guard areWhole, valid[0].sequence != valid[1].sequence + 1 else { return }
    let stale = valid[1]
    let what = "root slot \(stale.index) is not the one that was written last in this place"
    findings.append(
      LogFinding(.slot, offset: FormatLimits.slotOffsets[stale.index], text: what))
    doubt = RootSlots.doubt(about: what)
  }

  private static func doubt(about what: String) -> String {
    "here are bytes that are no whole transaction, and \(what), so that nothing tells whether they "
      + "were synced"
  }

  /// Throws `header` if the header belongs to another store or generation than the log, `damage` if
  /// a slot does, or if none can be read.
  func requireSound() throws(LogError) {
    guard !foreign.isEmpty || valid.isEmpty else { return }
    guard let offset = foreign.first else {
      throw .damage(
        at: FormatLimits.slotOffsets[0],
        "no root slot can be read, and nothing else tells what was synced")
    }
    if valid.isEmpty { throw .header(.foreign) }
    throw .damage(at: offset, "the root slot here is of another store or another generation")
  }
}

extension LogGeneration {
  /// The root slots of the file. Reads both again if one is unusable, since another process may be
  /// writing it, until two readings agree. Throws `newerReader` if one needs features that this
  /// engine does not know.
  package func slots() throws(LogError) -> RootSlots {
    var slots = try readSlots()
    var tries = 1
    while !slots.areWhole, tries < LogGeneration.mostTries {
      let again = try readSlots()
      let isSame = again.blocks == slots.blocks
      slots = again
      if isSame { break }
      tries += 1
    }
    return slots
  }

  /// How often something that another process may be changing is read before it is judged.
  static let mostTries = 16

  private func readSlots() throws(LogError) -> RootSlots {
    let start = FormatLimits.slotOffsets[0]
    return try RootSlots(
      read(Int(FormatLimits.logStart - start), at: start), header: header)
  }
}
