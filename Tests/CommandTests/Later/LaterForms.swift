import AnnalsFormat
import AnnalsModel
import AnnalsTestSupport

@testable import AnnalsCommand

// What FORMAT.md keeps for later versions, place by place.
extension LaterForm {
  static let files: [LaterForm] = [
    LaterForm("version 2", .file) { try $0.changeHeader(at: 8, to: [2]) },
    LaterForm("version 4294967295", .file) {
      try $0.changeHeader(at: 8, to: [255, 255, 255, 255])
    },
    LaterForm("a draft of version 1", .file) { try $0.changeHeader(at: 12, to: [1]) },
  ]

  static let frames: [LaterForm] = {
    // Opening, the unassigned ones, restore point, and others.
    let kinds: [UInt8] = [6, 9, 10, 12, 13, 15, 16, 200, 255]
    var forms: [LaterForm] = []
    for kind in kinds {
      forms += frame("frame of kind \(kind)", isSkipped: false, kind)
      forms += frame("skippable frame of kind \(kind)", isSkipped: true, kind, 1)
    }
    for flag: UInt8 in [4, 8, 16, 128] {
      for kind: UInt8 in [1, 2, 3, 7, 14] {
        forms += frame("frame of kind \(kind) with flag \(flag)", isSkipped: false, kind, flag)
      }
    }
    for flag: UInt8 in [16, 128] {
      forms += frame("skippable frame with flag \(flag)", isSkipped: false, 200, 1 | flag)
    }
    return forms
  }()

  static let features: [LaterForm] = {
    @Sendable func bits(_ bit: Int) -> [UInt8] {
      (0..<8).map { bit / 8 == $0 ? 1 << UInt8(bit % 8) : 0 }
    }
    let none = [UInt8](repeating: 0, count: 8)
    var forms: [LaterForm] = []
    for bit in [0, 3, 31, 32, 63] {
      forms.append(
        LaterForm("required feature \(bit) in the header", .file) {
          try $0.changeHeader(at: 16, to: bits(bit))
        })
      forms.append(
        LaterForm("required feature \(bit) in the slots", .file) { bytes in
          for slot in [4096, 8192] { bytes.put(bits(bit), at: slot + RootSlot.featuresOffset) }
          try bytes.seal()
        })
      forms += frame("announced required feature \(bit)", isSkipped: false, 14, 0, bits(bit) + none)
    }
    forms += frame(
      "announced required features in further words", isSkipped: false, 14, 0,
      bits(63) + none + bits(3) + none)
    for place in [Place.behind, .marked] {
      forms.append(
        LaterForm("a known feature, announced with further words, \(place)", .ignored) {
          let known = FixtureBytes.Piece(14, 1, none + bits(32) + none + bits(3))
          try $0.add(known, at: place)
          let slots = place == .marked ? [4096, 8192] : []
          for slot in slots { $0.put(bits(32), at: slot + RootSlot.featuresOffset + 8) }
          try $0.seal()
        })
    }
    for bit in [0, 31, 39, 63] {
      let reach: Reach = bit < 32 ? .ignored : .writing
      forms.append(
        LaterForm("optional feature \(bit) in the header", reach) {
          try $0.changeHeader(at: 24, to: bits(bit))
        })
      forms.append(
        LaterForm("optional feature \(bit) in a frame and the slots", reach) {
          try $0.announce(Features(optional: 1 << UInt64(bit)), inSlots: true)
        })
      // Before the mark without a slot that names it, which no writer makes.
      for place in Place.allCases where bit >= 32 || place == .behind {
        forms.append(
          LaterForm(
            "announced optional feature \(bit), \(place)",
            bit >= 32 && place == .past ? .rewriting : reach
          ) {
            try $0.add(FixtureBytes.Piece(14, 1, none + bits(bit)), at: place)
          })
      }
    }
    return forms
  }()

  static let records: [LaterForm] = {
    var forms: [LaterForm] = []
    for flag: UInt8 in [64, 128] {
      forms += record("flag \(flag) of details") { LaterRecord(number: $0, details: [flag]).bytes }
    }
    forms += record("kind of change 3") {
      LaterRecord(number: $0, changes: [LaterRecord.insert(text: [4, 1, 65], kind: 3)]).bytes
    }
    forms += record("kind of undo") { number in
      LaterRecord(number: number, details: [16] + sized([4] + sized([3, 1, 1]))).bytes
    }
    forms += record("item of a transaction", isRead: true, places: [.behind, .marked]) {
      LaterRecord(number: $0, details: [16] + sized([99] + sized([7]))).bytes
    }
    forms += record("flag of a gap") { number in
      LaterRecord(number: number, details: [32] + varInt(number) + [4, 0, 0, 0, 0]).bytes
    }
    forms += record("form of a block", kind: 2) { [2] + varInt($0) + [1, 0, 0, 0, 0, 0, 0] }
    for compression: UInt8 in [2, 3] {
      forms += record("compression \(compression) of a column", kind: 2) {
        [0] + varInt($0) + [1, 0, 0, 0, 1, 0, 1, 0, 0, 1 << 2 | compression, 0]
      }
    }
    // One byte: the layout of the timestamps.
    forms += record("layout of whole numbers", kind: 2) {
      [0] + varInt($0) + [1, 0, 0, 0, 1, 0, 1, 0, 0, 1 << 2, 250]
    }
    return forms
  }()

  static let values: [LaterForm] = {
    var forms: [LaterForm] = []
    // Kinds 13 to 15 and 18 to 31 in the bits 0 to 3 and 6 of the tag; bit 7.
    for tag: UInt8 in [0x0D, 0x0E, 0x0F, 0x42, 0x47, 0x4F, 0x80, 0x84] {
      forms += record("tag \(tag) of a value") {
        LaterRecord(number: $0, changes: [LaterRecord.insert(text: [tag, 1, 65])]).bytes
      }
    }
    forms += record("kind of value in metadata", places: [.behind]) { number in
      LaterRecord(number: number, details: [4, 1] + string("key") + [0x42, 1]).bytes
    }
    forms += record("kind of value as a default", places: [.behind]) {
      LaterRecord.schema($0, attributes: [LaterRecord.attribute(flags: 17, [0x42, 1])])
    }
    forms += record("kind of value in a validation", places: [.behind]) {
      LaterRecord.schema($0, attributes: [LaterRecord.attribute(flags: 33, sized([1, 0x42, 1]))])
    }
    return forms
  }()

  static let definitions: [LaterForm] = {
    var forms: [LaterForm] = []
    for flag: UInt8 in [16, 128] {
      forms += record("flag \(flag) of an entity", places: [.behind, .past]) {
        LaterRecord.schema($0, flags: 8 | flag)
      }
      forms += record("flag \(flag) of a relationship", places: [.behind]) {
        LaterRecord.schema($0, relationships: [LaterRecord.relationship(flags: flag)])
      }
    }
    forms += record("flag of an attribute", places: [.behind, .past]) {
      LaterRecord.schema($0, attributes: [LaterRecord.attribute(flags: 129)])
    }
    for type: UInt8 in [12, 18, 200] {
      forms += record("type \(type) of an attribute") {
        LaterRecord.schema($0, attributes: [LaterRecord.attribute(type: type)])
      }
    }
    forms += record("edit of a schema", places: [.behind]) {
      LaterRecord.schema($0, next: 5, area: [1] + sized([1, 6, 1] + string("Note")))
    }
    let skipped: [(String, [UInt8])] = [
      ("flag of an index, with nothing behind", LaterRecord.index([16])),
      ("flag of an index, and more", LaterRecord.index([144, 9, 9, 9])),
      ("collation of an index", LaterRecord.index([0, 1, 1, 2, 0])),
      ("flag of an element of an index", LaterRecord.index([0, 0, 1, 2, 4])),
      ("comparison of a partial index", LaterRecord.index([4, 0, 1, 2, 0, 1, 3, 7, 2, 1])),
      ("item of an index", LaterRecord.index([2, 0, 1, 2, 0] + sized([9, 1, 7]))),
    ]
    for (name, index) in skipped {
      forms += record(name, isRead: true, places: [.behind, .marked]) {
        LaterRecord.schema($0, indexes: [index])
      }
    }
    return forms
  }()

  static let details: [LaterForm] = {
    let skipped: [(String, @Sendable (Int) -> [UInt8])] = [
      (
        "rules of a validation",
        {
          LaterRecord.schema(
            $0, attributes: [LaterRecord.attribute(flags: 33, sized([0xE1, 2, 2, 9, 9]))])
        }
      ),
      (
        "item of an attribute",
        {
          LaterRecord.schema(
            $0, attributes: [LaterRecord.attribute(flags: 65, sized([9, 1, 7]))])
        }
      ),
      (
        "item of a relationship",
        {
          LaterRecord.schema(
            $0, relationships: [LaterRecord.relationship(flags: 8, sized([99, 1, 7]))])
        }
      ),
      ("item of an entity", { LaterRecord.schema($0, next: 5, area: [99, 1, 7]) }),
    ]
    return skipped.flatMap { name, payload in
      record(name, isRead: true, places: [.behind, .marked], payload)
    }
  }()

  static let state: [LaterForm] = {
    /// Changes the directory of the newest checkpoint.
    func directory(_ name: String, _ reach: Reach, at place: Int, _ byte: UInt8) -> LaterForm {
      LaterForm(name, reach) { bytes in
        let newest = bytes.frames(.checkpoint).last?.offset
        try bytes.changePayloads { frame, payload in
          guard frame.offset == newest else { return payload }
          var changed = payload
          changed[place] |= byte
          return changed
        }
      }
    }
    /// Changes a byte of a chunk of the books.
    func chunk(_ name: String, of content: UInt8, at place: Int, _ byte: UInt8) -> LaterForm {
      LaterForm(name, .state) { bytes in
        let all = bytes.frames(.chunk).map { Array(bytes.bytes[$0.payload]) }
        guard let chosen = all.first(where: { $0[0] == content && $0[1] == 3 }) else {
          throw TestFailure("no chunk of \(content)")
        }
        try bytes.changePayloads { frame, payload in
          guard payload == chosen else { return payload }
          var changed = payload
          changed[place] = byte
          return changed
        }
      }
    }
    // A header: contents, entity, property, first row, and a count of two bytes. Behind it the kind
    // of a column's values, then the form of its rows.
    return [
      directory("flag 4 of a directory", .file, at: 1, 4),
      directory("flag 128 of a directory", .file, at: 1, 128),
      LaterForm("item of a directory", .ignored) { try $0.extendNewestDirectory() },
      chunk("contents of a chunk", of: 2, at: 0, 9),
      chunk("kind of values of a chunk", of: 2, at: 6, 18),
      chunk("form of rows of a column", of: 2, at: 7, 3),
      chunk("form of rows", of: 1, at: 5, 3),
    ]
  }()
}
