import AnnalsFormat
import AnnalsInspection
import AnnalsStorage

/// What a dump shows, and in which format.
package struct DumpOptions: Hashable, Sendable {
  /// Whether to explain every byte.
  package var bytes = false
  /// The dump begins with the region that holds this byte.
  package var from: UInt64 = 0
  /// The greatest number of regions; nil for all.
  package var limit: Int?
  package var style = DumpStyle.text

  package init() {}
}

/// The result of a dump.
package struct DumpSummary: Hashable, Sendable {
  /// The number of regions dumped.
  package var regions = 0
  /// The number of them in which something is wrong.
  package var problems = 0
  /// What is wrong with the log as a whole, as text: it breaks off, or the file was cut. Nil if
  /// nothing is, or if the dump did not reach the end of the file.
  package var damage: String?
}

/// Dumps a file, region by region, however damaged it is.
///
/// A dump that begins in the middle of a file shows numbers in place of names that come earlier.
/// Memory: one frame and its text.
package struct FileDump {
  private let options: DumpOptions
  private var walk: FileWalk
  private var description = FrameDescription()

  /// A dump of an open file. Throws if the file cannot be read at all.
  package init(_ file: any StorageFile, options: DumpOptions) throws(StorageError) {
    self.options = options
    walk = try FileWalk(file)
  }

  /// Passes whole lines to `write` until it returns false or the file ends.
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
    if walk.position == walk.size {
      if case .damaged(let reason) = try LogEnd.find(in: beginning).tail { summary.damage = reason }
    }
    // An empty file has no region that could have a problem.
    if walk.size == 0 { summary.problems = 1 }
    return summary
  }

  private mutating func describe(
    _ region: FileRegion, with format: any DumpFormat, write: @escaping (String) -> Bool
  ) throws(StorageError) -> (description: RegionDescription, goesOn: Bool) {
    let described = try description.describe(region, in: &walk)
    let heading = format.lines(for: described, isHeading: options.bytes)
    var goesOn = heading.isEmpty || write(heading)
    guard options.bytes, goesOn else { return (described, goesOn) }
    // Fields are written as they come: each needs its bytes from the walk's window.
    let annotation = ByteAnnotation(vocabulary: description.vocabulary)
    try annotation.annotate(region, in: &walk) { field, bytes in
      if goesOn { goesOn = write(format.lines(for: field, bytes: bytes, in: described)) }
    }
    return (described, goesOn)
  }
}
