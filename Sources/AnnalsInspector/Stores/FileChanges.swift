import Annals
import AnnalsLog
import AnnalsModel

/// Something that happened to a store while it is shown.
enum FileEvent: Sendable {
  /// New transactions, or where the store stands at first.
  struct Head: Codable, Sendable {
    var head: Int64
    var base: Int64
    var timestamp: String
    var us: Int64
    var size: Int64
    var author: String?
  }

  /// Another file, or none that can be read.
  struct Changed: Codable, Sendable {
    var reason: String
    var base: Int64?
    var head: Int64?
    var message: String
  }

  case head(Head)
  case changed(Changed)
}

/// Notices what happens to a file: compares it with how it was when it was last looked at.
struct FileChanges {
  private let file: InspectedFile
  private var known: Standing?
  private var problem: String?

  /// How a store stood.
  private struct Standing: Equatable {
    var store: RawUUID
    var generation: UInt64
    var base: Int64
    var head: Int64
  }

  init(of file: InspectedFile) { self.file = file }

  /// What happened since the last call. Reads nothing where nothing happened.
  mutating func next() -> [FileEvent] {
    do throws(AnnalsError) {
      let store = try file.opened()
      let version = store.version
      let standing = Standing(
        store: version.store, generation: store.generation, base: version.view.base,
        head: version.token.number)
      defer { known = standing }
      var events: [FileEvent] = []
      if problem.take() != nil {
        events.append(changed("readable", standing, "the file can be read again"))
      } else if let known, known.store != standing.store {
        events.append(changed("replaced", standing, "the file is another store now"))
      } else if let known, known.generation != standing.generation {
        let reason = known.base < standing.base ? "pruned" : "compacted"
        events.append(changed(reason, standing, "the file was \(reason)"))
      } else if let known, known.head > standing.head {
        events.append(changed("replaced", standing, "the file has an earlier state"))
      }
      if known == standing, events.isEmpty { return [] }
      return events + [try head(standing, version)]
    } catch {
      let reason = error.code == .notFound ? "missing" : "damaged"
      guard problem != reason else { return [] }
      problem = reason
      return [.changed(FileEvent.Changed(reason: reason, message: error.description))]
    }
  }

  private func changed(_ reason: String, _ now: Standing, _ message: String) -> FileEvent {
    .changed(
      FileEvent.Changed(reason: reason, base: now.base, head: now.head, message: message))
  }

  private func head(
    _ standing: Standing, _ version: StoreVersion
  ) throws(AnnalsError) -> FileEvent {
    let moment = version.position.timestamp
    let isKnown = standing.head > standing.base && version.view.gap(at: standing.head) == nil
    let author = isKnown ? try version.header(of: standing.head).author : nil
    return .head(
      FileEvent.Head(
        head: standing.head, base: standing.base, timestamp: moment.description,
        us: moment.microseconds, size: Int64(clamping: try file.stamp().size), author: author))
  }
}
