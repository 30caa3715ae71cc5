import AnnalsFormat
import AnnalsModel

/// The names that a walk has learnt so far: what turns the numbers in records into words.
///
/// Learnt from records and directories in the order of the file, so a walk that begins in the
/// middle knows fewer. Wrong numbers are not its business: it takes what it is given, in bounds.
package struct Vocabulary: Sendable {
  /// The schema as of the last record taken.
  package private(set) var schema = Schema()
  /// Interned names; the name of number 1 comes first.
  package private(set) var names: [String] = []
  /// Openings; number 1 comes first.
  package private(set) var openings: [Opening] = []

  package init() {}

  /// Takes what a transaction brings: names, an opening, definitions.
  package mutating func learn(_ record: TransactionRecord) {
    guard record.part == 0 else { return }
    // Where names were lost, the places between stay empty, unless they are absurdly many.
    let first = Int(record.firstNewName)
    if !record.newNames.isEmpty, first > 0, first - 1 <= names.count + Vocabulary.maximumLeap {
      fill(to: first - 1)
      for (index, name) in record.newNames.enumerated() {
        let place = first - 1 + index
        if place < names.count { names[place] = name } else { names.append(name) }
      }
    }
    if let opening = record.newOpening, Int(opening.number) == openings.count + 1 {
      openings.append(opening)
    }
    if !record.schemaChange.isEmpty { schema = schema.applying(record.schemaChange) }
  }

  /// Takes the tables and schema of a checkpoint, whose chunks the caller has read.
  package mutating func learn(
    _ directory: CheckpointDirectory, names: [String], openings: [Opening]
  ) {
    schema = directory.schema
    if names.count > self.names.count { self.names = names }
    if openings.count > self.openings.count { self.openings = openings }
  }

  private static let maximumLeap = 1 << 16

  private mutating func fill(to count: Int) {
    while names.count < count { names.append("") }
  }

  /// `3 "Safari"`, or the number alone; `none` for 0.
  package func nameText(_ number: NameNumber) -> String {
    if number == 0 { return "none" }
    guard names.indices.contains(Int(number) - 1), !names[Int(number) - 1].isEmpty else {
      return "\(number)"
    }
    return "\(number) \(QuotedText.text(names[Int(number) - 1]))"
  }

  /// `Post`, or `entity 3`.
  package func entityText(_ number: EntityNumber) -> String {
    schema.entity(numbered: number)?.name ?? "entity \(number)"
  }

  /// `title`, or `property 3`.
  package func propertyText(_ number: PropertyNumber, of entity: EntityNumber) -> String {
    schema.entity(numbered: entity)?.propertyName(number) ?? "property \(number)"
  }
}
