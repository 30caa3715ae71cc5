import Annals
import AnnalsExchange

extension Console {
  /// Reports what was added to a schema that had entities, and which attributes were widened.
  func report(_ now: Schema, besides before: Schema) {
    guard !before.liveEntities.isEmpty else { return }
    report(notes: now.growth(since: before))
  }

  /// Reports sentences, the first of many.
  func report(notes: [String]) {
    for note in notes.prefix(Console.longestReport) { report(note) }
    let more = notes.count - Console.longestReport
    if more > 0 { report("… \(Numerals.grouped(more)) more: annals schema lists them") }
  }

  /// The most lines about a schema.
  private static let longestReport = 20
}
