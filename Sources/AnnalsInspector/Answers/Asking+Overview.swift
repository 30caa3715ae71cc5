import Annals
import AnnalsLog
import AnnalsModel
import AnnalsState

extension Asking {
  /// The store at one moment.
  package func overview() throws -> OverviewDocument {
    let store = try opened()
    let version = store.version
    let snapshot = try snapshot(of: store)
    let entities = snapshot.schema.liveEntities.map { entity in
      OverviewDocument.EntityEntry(
        name: entity.name, count: snapshot.reader.state.count(of: entity.number),
        displayName: entity.displayName, key: entity.keyAttribute?.name,
        properties: entity.readableProperties.count, texts: Asking.texts(of: entity))
    }
    let (base, head) = (version.view.base, version.token.number)
    return OverviewDocument(
      file: file.name, path: file.path, size: Int64(try file.stamp().size),
      uuid: "\(version.store)", base: base, head: head,
      moment: try store.moment(snapshot.number),
      first: base < head ? try mark(base + 1, version) : nil,
      last: base < head ? try mark(head, version) : nil,
      entities: entities.sorted { $0.name.precedesInBytes($1.name) },
      zoneOffset: store.zone.offset(store.now), findings: store.store.findings.map(\.message),
      isLive: store.isFollowed, program: "annals (file format: \(Store.fileFormat))",
      command: command("stat").text)
  }

  /// The first attributes of an entity that are texts, its display attribute before the others.
  private static func texts(of entity: Entity) -> [String] {
    let names = entity.attributes.filter { !$0.isRemoved && $0.type == .string }.map(\.name)
    let first = names.filter { $0.hasSameBytes(as: entity.displayName ?? "") }
    let others = names.filter { !$0.hasSameBytes(as: entity.displayName ?? "") }
    return (first + others).prefix(4).map { "\(PropertyPath($0))" }
  }

  /// The store in numbers, and what waits to be done for it.
  package func summary() throws -> SummaryDocument {
    SummaryDocument(try opened().store, at: file.shownPath)
  }

  /// A transaction's number and time; nil within a gap.
  private func mark(_ number: Int64, _ version: StoreVersion) throws -> OverviewDocument.Mark? {
    guard version.view.gap(at: number) == nil else { return nil }
    let moment = try version.header(of: number).moment
    return OverviewDocument.Mark(
      number: number, timestamp: moment.description, us: moment.microseconds)
  }

  /// A place in history, and those beside it.
  package func moment() throws -> MomentDocument {
    let store = try opened()
    let number = try store.number(parameters["at"])
    let (base, head) = (store.version.view.base, store.version.token.number)
    return MomentDocument(
      moment: try store.moment(number), previous: number > base ? number - 1 : nil,
      next: number < head ? number + 1 : nil,
      command: command("show").adding("\(number)").text)
  }
}
