import Annals
import AnnalsLog
import AnnalsModel
import AnnalsState

extension SummaryDocument {
  private static let mostConsumers = 500
  private static let mostErasures = 100

  /// What there is to say of the store at the path now.
  package init(_ store: Store, at path: String) {
    let version = store.version
    let consumers = store.consumers
    // An unreadable history is a finding, not the end of a summary.
    let erasures = (try? version.unfinishedErasures()) ?? []
    let plan = store.retention.isOff ? nil : try? store.maintenancePlan()
    self.init(
      uuid: "\(version.store)", base: version.view.base, head: version.token.number,
      objects: version.objectCounts,
      consumers: consumers.prefix(SummaryDocument.mostConsumers).map {
        Consumer(
          name: $0.name, number: $0.token.number, isBlocking: $0.isBlocking,
          isLeaseRunning: $0.isLeaseRunning)
      }, moreConsumers: max(0, consumers.count - SummaryDocument.mostConsumers),
      unfinishedErasures: erasures.prefix(SummaryDocument.mostErasures).map {
        Unfinished($0, in: store.schema, at: path)
      }, maintenance: plan.map { MaintenanceSummary($0) },
      command: CommandWords("stat", path).text)
  }
}

extension SummaryDocument.Unfinished {
  /// An erasure with the commands that carry it out.
  package init(_ unfinished: UnfinishedErasure, in schema: Schema, at path: String) {
    let commands = unfinished.erasure.targets.compactMap { target -> String? in
      guard let entity = schema.entity(numbered: target.object.entity), !entity.isRemoved
      else { return nil }
      let names = target.properties.compactMap { entity.propertyName($0) }
      return CommandWords("erase", path).adding("\(entity.name)#\(target.object.row)")
        .options("property", names).option("reason", unfinished.erasure.reason).text
    }
    self.init(number: unfinished.number, found: unfinished.found, commands: commands)
  }
}

extension MaintenanceSummary {
  /// What a plan says.
  package init(_ plan: MaintenancePlan) {
    self.init(
      retention: "\(plan.retention)", outcome: plan.outcome.rawValue,
      wantedFloor: plan.wantedFloor,
      drop: plan.prune.map {
        Drop(transactions: $0.transactions, changes: $0.changes, floor: $0.floor)
      }, blockers: plan.blockers.map(\.text))
  }
}

extension StoreVersion {
  /// How many objects each entity has, the one of most first.
  package var objectCounts: [EntityCount] {
    state.schema.liveEntities.map {
      EntityCount(entity: $0.name, count: objectCount(of: $0.number))
    }.sorted { $0.count > $1.count }
  }
}
