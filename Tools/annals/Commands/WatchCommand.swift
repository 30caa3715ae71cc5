import Annals
import AnnalsInspector
import ArgumentParser
import Foundation

struct WatchCommand: FileCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Prints changes of objects as they happen.",
    discussion: """
      Prints each transaction of any process that changes the rows, and what it changes: + \
      inserted, - deleted, ~ changed, > moved, with the positions in the order of --sort. Runs \
      until it is interrupted. Conditions are those of annals query.
      """)

  @Argument(help: "The store.", completion: .file()) var file: String
  @Argument(help: "Only objects of this entity.") var entity: String?
  @Option(name: .customLong("where"), parsing: .unconditional, help: "Only those that meet this.")
  var condition: String?
  @Option(parsing: .unconditional, help: "Properties to sort by, as in -timestamp,title[c].")
  var sort: String?
  @Option(
    parsing: .unconditional,
    help: "Do not print transactions of this author; their changes come with the next one.")
  var authorNot: String?
  @Option(parsing: .unconditional, help: "text or jsonl.") var format = LineFormat.text
  @Option(parsing: .unconditional, help: "End after this many steps.") var steps: Int?

  func validate() throws {
    if entity == nil, condition != nil || sort != nil {
      throw ValidationError("--where and --sort need an ENTITY")
    }
    if let steps, steps < 1 { throw ValidationError("--steps is a number from 1") }
  }

  func run(_ console: Console) throws -> ExitStatus {
    let store = try console.openForReading(file)
    defer { try? store.close() }
    let start = store.snapshot()
    let views = try self.views(of: store, in: start, console)
    let watch = try Watch(
      store, console, format, of: entity, viewCount: views.count, steps: steps)
    let signals = StopSignals(watch.ended)
    defer { signals.close() }
    let size = fileSize
    for view in views { watch.observe(view) }
    let newcomers =
      entity == nil ? try watch.observeEntities(after: start, where: stepCondition) : nil
    defer { newcomers?.cancel() }
    do {
      try watch.wait()
    } catch let error as AnnalsError where error.code == .lostBranch {
      throw cut(from: size) ?? error
    }
    return .done
  }

  /// The size of the file; nil if it is gone.
  private var fileSize: UInt64? {
    let size = try? FileManager.default.attributesOfItem(atPath: file)[.size] as? NSNumber
    return size?.uint64Value
  }

  /// The failure for a file that is smaller now than it was; nil for any other.
  private func cut(from before: UInt64?) -> (any Error)? {
    guard let before, let now = fileSize, now < before else { return nil }
    return CommandFailure(
      "\(file) has \(Numerals.counted(now, "byte")) and had at least \(Numerals.grouped(before)): "
        + "it was cut, or an older copy was written over it while it was open. Put the whole file "
        + "back if there is a copy of it")
  }

  /// Which transactions are printed.
  private var stepCondition: HistoryCondition {
    authorNot.map { HistoryCondition.NameTerm.author != $0 } ?? .always
  }

  /// A view of the entity, or one of every entity.
  private func views(
    of store: Store, in start: Snapshot, _ console: Console
  ) throws -> [LiveView<DynamicObject>] {
    guard let entity else {
      return start.schema.liveEntities.map {
        store.live($0.name, delivery: .everyTransaction, updatesFor: stepCondition)
      }
    }
    let found = try start.entity(named: entity)
    let texts = OptionTexts(over: found, in: start.schema)
    return [
      store.live(
        found.name,
        where: try condition.map {
          try texts.condition($0, zone: console.zone, now: console.now())
        },
        sortedBy: try sort.map { try texts.sortKeys($0, of: "--sort") } ?? [],
        delivery: .everyTransaction, updatesFor: stepCondition)
    ]
  }
}
