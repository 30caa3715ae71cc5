/// How much a document shows of what there is.
package struct ShowingLimits: Sendable {
  /// So many characters (Unicode scalars) of a text.
  package var text = 200
  /// Of texts of which one is longer than this, in bytes, an update shows where they differ.
  package var compared = 200
  /// So many bytes of it in all.
  package var places = 4_000
  /// So many characters of an object's name.
  package var name = 400
  /// Whether objects that values refer to have labels.
  package var hasLabels = true
  /// So many properties of a change.
  package var properties = 200
  /// So many of each kind of things that a header lists.
  package var listed = 50
  /// So many edits of a list, of each kind.
  package var edits = 50
  /// So many bytes of a large text, from its beginning.
  package var large: UInt64 = 800
  /// So many bytes of large texts in all.
  package var allLarge: UInt64 = 4 << 20
  /// So many bytes of texts in all; after them, `leastText` characters of each.
  package var room = 6 << 20

  static let leastText = 8
  /// As long texts, in bytes, are compared with one another.
  static let comparedTexts = 1 << 20
  /// So many objects of a list.
  static let listed = 10

  /// The limits of a page, whose texts are cut.
  package static func page(cut: Int) -> ShowingLimits {
    var limits = ShowingLimits()
    (limits.text, limits.compared, limits.places) = (cut, cut, cut)
    // A character has at most four bytes.
    limits.large = UInt64(cut) * 4
    return limits
  }

  /// All there is, but so many bytes of each large text, and of updates of longer texts than
  /// `compared` where they differ: for whoever prints one thing after the other and keeps none.
  package static func whole(large: UInt64 = 0, compared: Int = .max) -> ShowingLimits {
    var limits = ShowingLimits()
    limits.compared = compared
    (limits.text, limits.name, limits.room) = (.max, .max, .max)
    (limits.properties, limits.listed, limits.hasLabels) = (.max, .max, false)
    (limits.large, limits.allLarge) = (large, .max)
    return limits
  }
}
