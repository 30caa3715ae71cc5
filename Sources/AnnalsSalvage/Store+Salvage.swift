import Annals
import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsStorage

extension Store {
  /// Writes everything readable of a damaged store into a new one, and reports what is lost.
  ///
  /// Transactions, objects and the store itself keep their numbers and names. *Gaps*
  /// (`Transaction.lost`) in the history name what is missing. Reading the state of a lost
  /// transaction throws `.lost`. States after a gap are exact if a checkpoint contains them;
  /// otherwise they hold what the before- and after-images of later changes tell. The new store
  /// opens, verifies, and can be written to as any other. Its file has the mode of the damaged one,
  /// which is only read, and its owner if the process may set it.
  ///
  /// Reads the file a few times and replays its history. Memory: the state; for a gap two states.
  ///
  /// - Parameters:
  ///   - path: the damaged file.
  ///   - destination: the new file.
  ///   - environment: the new store's environment.
  /// - Returns: what was lost, and how the new store represents it.
  /// - Throws: `.alreadyExists` if a file exists at the destination, which is not touched;
  ///   `.notFound`, `.notAnAnnalsFile`, `.newerVersion`; `.damaged` if nothing can be read;
  ///   `.noSpace`, `.io`. Then nothing is left at the destination. `.outcomeUnknown` if the new
  ///   file's name could be neither made durable nor removed: the whole file may or may not be
  ///   there.
  public static func salvage(
    _ path: String, to destination: String, environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> SalvageReport {
    try salvage(.file(path), to: destination, environment: environment)
  }

  /// As `salvage(_:to:environment:)`, from any location to a file of the same file system.
  package static func salvage(
    _ location: StoreLocation, to destination: String, environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> SalvageReport {
    try AnnalsError.translating {
      let file: any StorageFile
      do {
        file = try location.fileSystem.open(location.path, for: .reading)
      } catch let error as StorageError where error.isMissing {
        throw AnnalsError.missingFile(location.path)
      }
      defer { file.close() }
      // Waits a moment for a writer at work; what it adds later is not read.
      _ = try file.lock(.shared, wait: .until(.now + .seconds(2)))
      let survey = try SalvageSurvey(file)
      guard let source = try FrameSource(file), try isReadable(survey, location.path) else {
        throw unreadable(survey, location.path)
      }
      var run = try SalvageRun(
        file, at: location.path, source, survey, to: destination, in: location.fileSystem,
        now: environment.clock(), makeUUID: environment.makeUUID)
      return try run.writeNewFile()
    }
  }

  private static func isReadable(_ survey: SalvageSurvey, _ path: String) throws -> Bool {
    if let (bits, offset) = survey.newerFeatures {
      throw AnnalsError.newerFeatures(bits, path, at: offset)
    }
    if let (what, offset) = survey.newerForm {
      throw AnnalsError(
        .newerVersion,
        "\(path) is of a newer version: \(what). Nothing was written. Use a newer version of "
          + "Annals",
        offset: offset)
    }
    if survey.header != nil { return true }
    return !survey.runs.isEmpty || !survey.checkpoints.isEmpty
  }

  /// The error for a file of which nothing can be read.
  private static func unreadable(_ survey: SalvageSurvey, _ path: String) -> AnnalsError {
    if case .damaged(let fault) = survey.headerVerdict {
      switch fault {
      case .checksum, .invalid, .foreign: break
      default: return AnnalsError(.header(fault), opening: path)
      }
    }
    return AnnalsError(
      .damaged, "nothing in \(path) can be read; nothing was written. Restore a copy")
  }
}
