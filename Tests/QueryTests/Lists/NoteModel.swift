import AnnalsModel
import AnnalsQuery
import AnnalsState
import AnnalsTestSupport

/// Notes in folders in folders, with random changes.
final class NoteModel {
  static let text: PropertyNumber = 1
  static let whole: PropertyNumber = 2
  static let real: PropertyNumber = 3
  static let date: PropertyNumber = 4
  static let anything: PropertyNumber = 5
  static let folder: PropertyNumber = 6
  static let names = ["text", "whole", "real", "date", "anything", "folder"]

  var state: State
  var random: SeededRandom

  init(seed: UInt64) {
    state = State(schema: NoteModel.schema())
    random = SeededRandom(seed: seed)
  }

  /// Entity 1 is the notes, entity 2 the folders.
  static func schema() -> Schema {
    var note = Entity("Note")
    note.number = 1
    let types: [AttributeType] = [.string, .int64, .double, .date, .any]
    for (place, type) in types.enumerated() {
      var attribute = Attribute(names[place], type)
      attribute.number = PropertyNumber(place + 1)
      note.attributes.append(attribute)
    }
    var inFolder = Relationship("folder", to: "")
    inFolder.number = folder
    inFolder.destination = 2
    note.relationships = [inFolder]
    var folders = Entity("Folder")
    folders.number = 2
    var name = Attribute("name", .string)
    name.number = 1
    folders.attributes = [name]
    var parent = Relationship("parent", to: "")
    parent.number = 2
    parent.destination = 2
    folders.relationships = [parent]
    return Schema(entities: [note, folders])
  }

  func value(_ property: PropertyNumber) -> Value {
    if random.below(6) == 0 { return .null }
    let long = String(repeating: "x", count: random.below(3) * 20)
    let texts = ["", "a", "ab", "abcdefg", "abcdefgh", "a\0", "a\0b", "B", "b", "É", "é", "zz"]
    let wholes: [Int64] = [
      .min, -1 << 58, -1 << 58 + 1, -3, -1, 0, 1, 2, 1 << 53, 1 << 53 + 1, 1 << 58, 1 << 58 + 1,
      .max - 1, .max,
    ]
    let reals: [Double] = [
      -.infinity, -0x1p63, -1.5, -0.0, 0, 0.1, (0.1).nextUp, 0.5, 1, 0x1p53, 0x1p53 + 2, 0x1p63,
      1e300, .nan,
    ]
    switch property {
    case NoteModel.text: return .string(long + texts[random.below(texts.count)])
    case NoteModel.whole: return .int(wholes[random.below(wholes.count)])
    case NoteModel.real: return .double(reals[random.below(reals.count - 1)])
    case NoteModel.date:
      return .date(Timestamp(microseconds: Int64(random.below(60)) * 86_400_000_000))
    case NoteModel.anything:
      switch random.below(8) {
      case 0: return .bool(random.chance(50))
      case 1: return value(NoteModel.text)
      case 2: return .uuid(RawUUID(high: UInt64(random.below(2)), low: UInt64(random.below(2))))
      case 3: return value(NoteModel.date)
      case 4: return .data([0, UInt8(random.below(2))])
      case 5: return value(NoteModel.whole)
      default: return value(NoteModel.real)
      }
    default: return .object(ObjectReference(entity: 2, row: Int64(random.below(12)) + 1))
    }
  }

  /// Objects that one change touched, each with its properties.
  typealias Touched = [ObjectReference: Set<PropertyNumber>]

  func insertNote(_ touched: inout Touched) throws {
    let row = try state.insertRow(1)
    touched[ObjectReference(entity: 1, row: row), default: []] = []
    for property in PropertyNumber(1)...6 { try set(1, row, property, value(property), &touched) }
  }

  func set(
    _ entity: EntityNumber, _ row: Int64, _ property: PropertyNumber, _ value: Value,
    _ touched: inout Touched
  ) throws {
    try state.set(entity, row, property, to: value)
    touched[ObjectReference(entity: entity, row: row), default: []].insert(property)
  }

  /// Some random changes of notes and folders.
  func change(_ count: Int) throws -> Touched {
    var touched: Touched = [:]
    for _ in 0..<count {
      let row = Int64(random.below(Int(state.nextRow(of: 1))) + 1)
      switch random.below(12) {
      case 0, 1, 2: try insertNote(&touched)
      case 3, 4:
        guard try state.contains(1, row) else { continue }
        try state.deleteRow(1, row)
        touched[ObjectReference(entity: 1, row: row), default: []] = []
      case 5: try changeFolder(&touched)
      case 6 where row < state.nextRow(of: 1):
        // What was deleted in this change and comes back would have changed in all properties.
        let note = ObjectReference(entity: 1, row: row)
        guard try !state.contains(1, row), touched[note] == nil else { continue }
        try state.insertRow(1, row: row)
        touched[note] = []
      default:
        guard try state.contains(1, row) else { continue }
        let property = PropertyNumber(random.below(6) + 1)
        try set(1, row, property, value(property), &touched)
      }
    }
    return touched
  }

  private func changeFolder(_ touched: inout Touched) throws {
    let row = Int64(random.below(12) + 1)
    let folder = ObjectReference(entity: 2, row: row)
    if try !state.contains(2, row) {
      try state.insertRow(2, row: row)
      touched[folder, default: []] = []
    } else if random.chance(20) {
      try state.deleteRow(2, row)
      touched[folder, default: []] = []
      return
    }
    try set(2, row, 1, .string("folder \(random.below(5))"), &touched)
    let parent = Value.object(ObjectReference(entity: 2, row: Int64(random.below(12) + 1)))
    try set(2, row, 2, random.chance(30) ? .null : parent, &touched)
  }

  /// The rows of all notes.
  static func rows(_ state: State) throws -> [Int64] {
    var rows: [Int64] = []
    var cursor = state.rows(of: 1)
    while let row = try cursor.next() { rows.append(row) }
    return rows
  }
}
