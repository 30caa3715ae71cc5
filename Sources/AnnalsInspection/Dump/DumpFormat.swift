import AnnalsFormat

/// One way to write down what a dump finds.
protocol DumpFormat: Sendable {
  /// The lines of a region, each with its end: of `dump`, or before the fields of `dump --bytes`.
  func lines(for region: RegionDescription, isHeading: Bool) -> String
  /// The lines of one field, each with its end. `bytes` are the field's.
  func lines(
    for field: AnnotatedField, bytes: UnsafeRawBufferPointer, in region: RegionDescription
  ) -> String
}

/// The ways there are.
package enum DumpStyle: String, Hashable, Sendable, CaseIterable {
  /// For people.
  case text
  /// For programs: one JSON object a line.
  case jsonLines = "jsonl"

  var format: any DumpFormat {
    switch self {
    case .text: TextDump()
    case .jsonLines: JSONLinesDump()
    }
  }
}
