import AnnalsEngine
import AnnalsFormat
import AnnalsInspection
import AnnalsLog
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage

extension Store {
  /// Writes everything that can be read of a damaged store into a new one, and says what could not.
  ///
  /// Transactions, objects and the store itself keep their numbers and names. What is missing is
  /// named in the history by *gaps* (`Transaction.lost`): states as of lost transactions are
  /// refused with `.lost`; those behind a gap are exact if a checkpoint tells, and otherwise as
  /// much as the values before and after of later changes say. The new store opens, verifies, and
  /// can be written to as any other. The damaged file is only read.
  ///
  /// Costs reading the file a few times and replaying its history; memory is that of the state, and
  /// for a gap that of two.
  ///
  /// - Parameters:
  ///   - path: the damaged file.
  ///   - destination: the new file.
  ///   - environment: what the new store takes from the world.
  /// - Returns: what was lost, and what was done about it.
  /// - Throws: `.alreadyExists` if there is a file at the destination, which is left alone;
  ///   `.notFound`, `.notAnAnnalsFile`, `.newerVersion`; `.damaged` if nothing can be read;
  ///   `.noSpace`, `.io`. Nothing is left at the destination then. `.outcomeUnknown` if the new
  ///   file's name could neither be made durable nor taken back: it is there, whole, or not.
  public static func salvage(
    _ path: String, to destination: String, environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> SalvageReport {
    try salvage(.file(path), to: destination, environment: environment)
  }

  /// As `salvage(_:to:environment:)`, from a file to another of the same file system.
  package static func salvage(
    _ location: StoreLocation, to destination: String, environment: StoreEnvironment = .system
  ) throws(AnnalsError) -> SalvageReport {
    try AnnalsError.narrowing {
      let file: any StorageFile
      do {
        file = try location.fileSystem.open(location.path, for: .reading)
      } catch let error as StorageError where error.isMissing {
        throw AnnalsError(.notFound, "there is no file at \(location.path); check the path")
      }
      defer { file.close() }
      // A writer that is still at work is waited for a moment; what it adds later is not looked at.
      _ = try file.lock(.shared, wait: .until(.now + .seconds(2)))
      let survey = try SalvageSurvey(file)
      guard let source = try FrameSource(file), try isReadable(survey, location.path) else {
        throw unreadable(survey, location.path)
      }
      var run = try SalvageRun(
        file, source, survey, to: destination, in: location.fileSystem, now: environment.clock(),
        makeUUID: environment.makeUUID)
      return try run.finish()
    }
  }

  private static func isReadable(_ survey: SalvageSurvey, _ path: String) throws -> Bool {
    if let (bits, offset) = survey.newerFeatures {
      throw AnnalsError.newerFeatures(bits, path, at: offset)
    }
    if let kind = survey.newerKind {
      throw AnnalsError(
        .newerVersion,
        "\(path) has frames of kind \(kind), which this version cannot read; use a newer one")
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
