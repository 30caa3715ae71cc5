import AnnalsFormat
import AnnalsStorage

/// What to dump, and how.
package struct DumpOptions: Hashable, Sendable {
  /// Whether to explain every byte.
  package var bytes = false
  /// Where to begin: with the region that holds this byte.
  package var from: UInt64 = 0
  /// How many regions to dump; nil for all.
  package var limit: Int?
  package var style = DumpStyle.text

  package init() {}
}

/// What a dump went through.
package struct DumpSummary: Hashable, Sendable {
  /// How many regions were dumped.
  package var regions = 0
  /// How many of them had something that is not as it should be.
  package var problems = 0
  /// What is wrong with the log as a whole, in words: that it breaks off, or the file was cut.
  /// Nil if nothing is, or the dump did not come to the end of the file.
  package var damage: String?
}

/// Writes down what is in a file, region by region, however damaged it is.
///
/// Names are shown as far as the dump has met them: one that begins in the middle of a file shows
/// numbers for those before. Memory: one frame and its text.
package struct FileDump {
  private let options: DumpOptions
  private var walk: FileWalk
  private var description = FrameDescription()

  /// A dump of an open file. Throws if the file cannot be read at all.
  package init(_ file: any StorageFile, options: DumpOptions) throws(StorageError) {
    self.options = options
    walk = try FileWalk(file)
  }

  /// Hands whole lines to `write` until it returns false or the file ends.
  package mutating func run(
    write: @escaping (String) -> Bool
  ) throws(StorageError) -> DumpSummary {
    let format = options.style.format
    let beginning = walk
    var summary = DumpSummary()
    if options.from > 0 { try walk.skip(to: options.from) }
    while summary.regions < options.limit ?? .max, let region = try walk.next() {
      let region = try describe(region, with: format, write: write)
      summary.regions += 1
      summary.problems += region.description.hasProblem ? 1 : 0
      if !region.goesOn { break }
    }
    if walk.position == walk.bytes.size {
      if case .damaged(let reason) = try LogEnd.find(in: beginning).tail { summary.damage = reason }
    }
    // A file without a byte has no region that could tell what it lacks.
    if walk.bytes.size == 0 { summary.problems = 1 }
    return summary
  }

  private mutating func describe(
    _ region: FileRegion, with format: any DumpFormat, write: @escaping (String) -> Bool
  ) throws(StorageError) -> (description: RegionDescription, goesOn: Bool) {
    let described = try description.describe(region, in: &walk)
    let heading = format.lines(for: described, isHeading: options.bytes)
    var goesOn = heading.isEmpty || write(heading)
    guard options.bytes, goesOn else { return (described, goesOn) }
    // The fields come while the walk is at the region's bytes, of which each shows its own.
    let annotation = ByteAnnotation(vocabulary: description.vocabulary)
    try annotation.annotate(region, in: &walk) { field, bytes in
      if goesOn { goesOn = write(format.lines(for: field, bytes: bytes, in: described)) }
    }
    return (described, goesOn)
  }
}
