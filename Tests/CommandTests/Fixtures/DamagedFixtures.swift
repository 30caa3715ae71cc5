import Annals
import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport

extension FixtureRecipe {
  /// Each is a good fixture with one thing wrong, or from a later version.
  static let damaged: [FixtureRecipe] =
    refusedFiles + announcements + extensions + damagedSlots + ends + damagedLogs + damagedState

  private static let edits = "updates-and-deletes"

  private static let refusedFiles = [
    FixtureRecipe("damaged-empty-file", from: edits, .refused(.notAnAnnalsFile)) {
      $0.bytes = []
    },
    FixtureRecipe("damaged-foreign-file", from: edits, .refused(.notAnAnnalsFile)) {
      $0.bytes = ContiguousArray("SQLite format 3\0".utf8)
      $0.bytes.append(contentsOf: repeatElement(0x20, count: 1000))
    },
    FixtureRecipe("damaged-short-file", from: edits, .refused(.damaged)) {
      $0.cut(to: 100)
    },
    FixtureRecipe("damaged-header", from: edits, .refused(.damaged)) { $0.flip(35) },
    FixtureRecipe("damaged-header-generation", from: edits, .refused(.damaged)) {
      $0.put([0], at: 48)
      $0.sealHeader()
    },
    FixtureRecipe("damaged-header-base", from: edits, .refused(.damaged)) {
      $0.put([0x80], at: 63)
      $0.sealHeader()
    },
    FixtureRecipe("damaged-header-reserved", from: edits, .refused(.damaged)) {
      $0.put([1], at: 1000)
      $0.sealHeader()
    },
    FixtureRecipe("damaged-header-base-checkpoint", from: edits, .refused(.damaged)) {
      $0.put([4], at: 80)
      $0.sealHeader()
    },
    FixtureRecipe("damaged-header-pruned-by", from: "pruned", .refused(.damaged)) {
      $0.put([65], at: 97)
      $0.sealHeader()
    },
    FixtureRecipe("newer-version", from: edits, .refused(.newerVersion)) {
      $0.put([2], at: 8)
    },
    FixtureRecipe("older-draft", from: edits, .refused(.unsupported)) {
      $0.put([0, 0, 0, 0, 3], at: 8)
    },
    FixtureRecipe("newer-required-feature", from: edits, .refused(.newerVersion)) {
      try $0.changeHeader(at: 16, to: [0, 1])
    },
    FixtureRecipe("newer-optional-feature", from: edits, .clean) {
      try $0.changeHeader(at: 24, to: [0, 1])
    },
    FixtureRecipe("newer-writer-feature", from: edits, .readOnly) {
      try $0.changeHeader(at: 29, to: [1])
    },
    FixtureRecipe("newer-frame", from: edits, .refused(.newerVersion)) {
      $0.append(200, [], [1, 2, 3])
    },
    FixtureRecipe("newer-skippable-frame", from: edits, .clean) {
      $0.append(200, .skippable, [1, 2, 3])
    },
  ]

  private static let announcements = [
    FixtureRecipe("newer-announced-in-frame", from: edits, .refused(.newerVersion)) {
      try $0.announce(Features(required: 1 << 8), inSlots: false)
    },
    FixtureRecipe("newer-announced-in-slots", from: edits, .refused(.newerVersion)) {
      try $0.announce(Features(required: 1 << 8), inSlots: true)
    },
    FixtureRecipe("newer-announced-writer-feature", from: edits, .readOnly) {
      try $0.announce(Features(optional: 1 << 40), inSlots: true)
    },
    FixtureRecipe("newer-announced-optional-feature", from: edits, .clean) {
      try $0.announce(Features(optional: 1 << 8), inSlots: true)
    },
    FixtureRecipe("newer-announced-words", from: edits, .refused(.newerVersion)) {
      let words: [UInt64] = [1 << 63, 0, 8]
      $0.append(14, [], words.flatMap { word in (0..<8).map { UInt8(word >> ($0 * 8) & 255) } })
    },
  ]

  private static let extensions = [
    FixtureRecipe("newer-extensions", from: "large-values", .clean) { try $0.extendEverything() },
    FixtureRecipe("newer-directory-extensions", from: "compacted", .clean) {
      try $0.extendDirectory()
    },
    FixtureRecipe("newer-compression", from: "compacted-smallest", .refused(.newerVersion)) {
      try $0.compressAnew()
    },
  ]

  private static let damagedSlots = [
    FixtureRecipe("damaged-slot", from: edits, .finding("warning at 4096")) {
      $0.flip(4096 + 32)
    },
    FixtureRecipe("damaged-slots", from: edits, .inside(.damaged, head: 6)) {
      $0.flip(4096 + 32)
      $0.flip(8192 + 2000)
    },
    FixtureRecipe("damaged-slot-of-zeros", from: edits, .finding("warning at 8192")) {
      $0.put(Array(repeating: 0, count: FormatLimits.blockLength), at: 8192)
    },
    FixtureRecipe("damaged-slots-of-zeros", from: edits, .inside(.damaged, head: 6)) {
      $0.put(Array(repeating: 0, count: 2 * FormatLimits.blockLength), at: 4096)
    },
    FixtureRecipe("damaged-header-of-another-generation", from: edits, .refused(.damaged)) {
      $0.put([9], at: 48)
      $0.sealHeader()
    },
    FixtureRecipe("damaged-slots-and-middle", from: edits, .inside(.damaged, head: 2)) {
      $0.flip(4096 + 32)
      $0.flip(8192 + 2000)
      $0.flip($0.frames[2].offset + 9)
    },
  ]

  private static let ends = [
    FixtureRecipe("damaged-cut-below-the-mark", from: edits, .inside(.damaged, head: 5)) {
      $0.cut(to: $0.frames[5].payload.lowerBound)
    },
    FixtureRecipe("damaged-torn-tail", from: "not-closed", .torn(head: 5)) {
      $0.put(Array(repeating: 0, count: 40), at: $0.frames[5].payload.lowerBound + 20)
    },
    FixtureRecipe("damaged-bytes-behind-the-end", from: edits, .torn(head: 6)) {
      $0.bytes += ContiguousArray("something else\n".utf8)
    },
  ]

  private static let damagedLogs = [
    FixtureRecipe("damaged-middle", from: edits, .inside(.damaged, head: 2)) {
      $0.flip($0.frames[2])
    },
    FixtureRecipe("damaged-frame-header", from: edits, .inside(.damaged, head: 2)) {
      $0.flip($0.frames[2].offset + 9)
    },
    FixtureRecipe("damaged-padding", from: edits, .finding("warning at")) {
      guard let frame = $0.frames.first(where: { $0.payload.upperBound < $0.end }) else { return }
      $0.flip(frame.end - 1)
    },
    FixtureRecipe("newer-record", from: edits, .refused(.newerVersion)) {
      // Right checksums over flags that no version knows yet.
      let details = $0.frames[2].payload.lowerBound + 12
      $0.put([0xE0], at: details)
      try $0.seal()
    },
    FixtureRecipe("damaged-decimal", from: "decimals-in-any", .inside(.damaged, head: 3)) {
      // 1.5 in the last bytes of the record, with a digit that is none: right checksums over it.
      let frame = $0.frames(.transaction)[3]
      $0.put([0], at: frame.payload.upperBound - 1)
      try $0.seal()
    },
    FixtureRecipe("damaged-number", from: edits, .inside(.damaged, head: 2)) {
      $0.put([9], at: $0.frames[2].payload.lowerBound)
      try $0.seal()
    },
    FixtureRecipe("damaged-sealed-block", from: "compacted-smallest", .inside(.damaged, head: 0)) {
      $0.flip($0.frames(.block)[0])
    },
    FixtureRecipe("damaged-block-of-the-past", from: "compacted", .finding("error at")) {
      $0.flip($0.frames(.block)[0])
    },
  ]

  private static let damagedState = [
    FixtureRecipe("damaged-chunk", from: "checkpoint-and-indexes", .unreadable(.damaged)) {
      // The last chunk of the newest checkpoint but its tables: of the state.
      let chunks = $0.frames(.chunk)
      $0.flip(chunks[chunks.count / 2])
    },
    FixtureRecipe(
      "damaged-directory", from: "checkpoint-and-indexes", .finding("warning at")
    ) {
      let directories = $0.frames(.checkpoint)
      $0.flip(directories[directories.count - 1])
    },
    FixtureRecipe("damaged-projection", from: "saved-projections", .finding("warning at")) {
      // The state that cannot be deflated.
      guard let state = $0.frames(.chunk).first(where: { $0.header.payloadLength > 900 }) else {
        return
      }
      $0.flip(state)
    },
    FixtureRecipe(
      "damaged-chunk-named-twice", from: "checkpoint-and-indexes", .finding("warning at")
    ) {
      try $0.changeDirectory { directory in
        // Another and another piece of a column, all of them the same: so a small file could stand
        // for values beyond all memory.
        guard let chunk = directory.entities[0].columns[0].chunks.last else { return }
        directory.entities[0].columns[0].chunks += (1...200).map { number in
          var again = chunk
          again.first += Int64(number)
          return again
        }
      }
    },
    FixtureRecipe(
      "damaged-overlapping-pieces", from: "large-value-in-pieces", .unreadable(.damaged)
    ) {
      // The second of the last value's three pieces begins 8 bytes before the first ends.
      let largeValues = $0.frames(.largeValue)
      $0.put([0xF8, 0x0F], at: largeValues[largeValues.count - 2].payload.lowerBound + 3)
      try $0.seal()
    },
    FixtureRecipe("damaged-large-value", from: "large-values", .unreadable(.damaged)) {
      let largeValues = $0.frames(.largeValue)
      $0.flip(largeValues[largeValues.count - 1])
    },
    FixtureRecipe("damaged-large-value-of-the-past", from: "large-values", .finding("error at")) {
      $0.flip($0.frames(.largeValue)[0])
    },
    FixtureRecipe("damaged-consumer-change", from: "consumers", .finding("error at")) {
      let changes = $0.frames(.consumerChange)
      $0.flip(changes[changes.count - 1])
    },
    FixtureRecipe("damaged-tombstones", from: "tombstones", .finding("error at")) {
      $0.flip($0.frames(.tombstones)[0])
    },
    FixtureRecipe("damaged-retention", from: "retention", .finding("error at")) {
      let frames = $0.frames(.retention)
      $0.flip(frames[frames.count - 1])
    },
    FixtureRecipe("damaged-base-directory", from: "pruned", .refused(.damaged)) {
      $0.flip($0.frames(.checkpoint)[0])
    },
    FixtureRecipe("damaged-base-chunk", from: "flattened", .unreadable(.damaged)) {
      $0.flip($0.frames(.chunk)[0])
    },
  ]
}
