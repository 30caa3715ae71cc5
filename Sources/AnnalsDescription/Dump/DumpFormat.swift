import AnnalsFormat
import AnnalsInspection

/// An output format of a dump.
protocol DumpFormat: Sendable {
  /// The lines of a region, each with its newline: for `dump`, or as the heading of its fields in
  /// `dump --bytes`.
  func lines(for region: RegionDescription, isHeading: Bool) -> String
  /// The lines of one field, each with its newline. `bytes` are the field's.
  func lines(
    for field: AnnotatedField, bytes: UnsafeRawBufferPointer, in region: RegionDescription
  ) -> String
}

/// The output formats of a dump.
package enum DumpStyle: String, Hashable, Sendable, CaseIterable {
  /// Text for people.
  case text
  /// JSON Lines, for programs.
  case jsonLines = "jsonl"

  var format: any DumpFormat {
    switch self {
    case .text: TextDump()
    case .jsonLines: JSONLinesDump()
    }
  }
}
