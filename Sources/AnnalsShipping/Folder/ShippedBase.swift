import AnnalsFormat
import AnnalsFrames
import AnnalsModel
import AnnalsStorage

/// What header and root slots of a base say: a base is a whole file of the store.
package struct ShippedBase: Sendable {
  package let name: ShippedName
  package let header: FileHeader
  package let slot: RootSlot

  /// The last transaction in it.
  package var head: Int64 { slot.head }
  /// Where its log ends, and with it the file.
  package var end: UInt64 { slot.durableMark }

  /// Reads them. Throws `ShippingFault` if this is not the whole file that the name says.
  package init(_ file: any StorageFile, _ name: ShippedName) throws {
    self.name = name
    let bytes = try file.bytes(Int(FormatLimits.logStart), at: 0)
    guard bytes.count == Int(FormatLimits.logStart) else {
      throw ShippingFault.damaged(name, "is cut within its first \(FormatLimits.logStart) bytes")
    }
    do throws(HeaderFault) {
      header = try bytes.withBytes { bytes throws(HeaderFault) in try FileHeader.decode(bytes) }
    } catch {
      throw ShippingFault.damaged(name, "has no header that can be read")
    }
    guard header.store == name.store, header.generation == name.generation else {
      throw ShippingFault.damaged(
        name, "is generation \(header.generation) of store \(header.store)")
    }
    let seed = header.seed
    let slots = bytes.withUnsafeBytes { bytes in
      FormatLimits.slotOffsets.enumerated().compactMap { index, offset in
        let block = bytes[Int(offset)...].prefix(FormatLimits.blockLength)
        return try? RootSlot.decode(
          UnsafeRawBufferPointer(rebasing: block), index: index, seed: seed)
      }
    }
    guard let slot = slots.max(by: { $0.sequence < $1.sequence }) else {
      throw ShippingFault.damaged(name, "has no root slot that can be read")
    }
    self.slot = slot
    let size = try file.size()
    guard size == slot.durableMark else {
      throw ShippingFault.damaged(
        name, "has \(size) bytes, and had \(slot.durableMark) when it was shipped")
    }
  }

  /// The place after its last frame. Reads the frame headers after its newest checkpoint. Throws
  /// `ShippingFault` if they do not lead to its end.
  package func endPoint(in file: any StorageFile) throws -> ChainPoint {
    let start =
      slot.checkpointOffset == 0
      ? ChainPoint(beginningOf: header)
      : ChainPoint(offset: slot.checkpointOffset, previousChecksum: nil)
    let window = FileWindow(file, size: end, leastRead: 4096)
    var walk = FrameWalk(window, seed: header.seed, from: start)
    while case .frame = try walk.next() {}
    guard walk.point.offset == end, walk.point.previousChecksum == slot.markChecksum else {
      throw ShippingFault.damaged(name, "is damaged at offset \(walk.point.offset)")
    }
    return walk.point
  }
}
