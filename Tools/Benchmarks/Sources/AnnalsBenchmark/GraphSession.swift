import Annals
import Foundation
import Measuring

/// Phases 19 to 23: what references cost: their index, cascades, inverses, live views through them;
/// and edits of an editing context.
///
/// Stores are in memory, so that no file hides the differences. Records `Child` and `Loose` differ
/// in the rule of their reference alone: the first has an index, the second none.
struct GraphSession {
  private let setup: Setup
  private let options: Options
  /// How many objects refer to others.
  private let count: Int
  private var recorder: Recorder { setup.recorder }

  init(_ setup: Setup, _ options: Options) throws {
    self.setup = setup
    self.options = options
    count = try options.number("posts", 100_000)
  }

  func run() async throws {
    let parts = options.list("phases") ?? ["index", "cascade", "inverse", "live", "context"]
    if parts.contains("index") { try measureIndex() }
    if parts.contains("cascade") { try measureCascade() }
    if parts.contains("inverse") { try measureInverse() }
    if parts.contains("live") { try await measureLive() }
    if parts.contains("context") { try measureContext() }
  }

  /// A store of parents, and of children of one of the two kinds.
  private func store<C: Offspring>(
    _ type: C.Type, _ number: Int, parents: Int
  ) throws -> (Store, parents: [Object<Parent>], children: [ObjectID]) {
    let store = try Store(.memory, records: Parent.self, Child.self, Loose.self)
    return try store.write { tx in
      let all = try (0..<parents).map { try tx.insert(Parent(name: "\($0)")) }
      var children: [ObjectID] = []
      children.reserveCapacity(number)
      for place in 0..<number {
        let parent = all[place &* 7_919 % parents]
        children.append(try tx.insert(C(number: place, parent: Reference(parent))).objectID)
      }
      return (store, all, children)
    }
  }

  /// The processor time of `body`, in nanoseconds.
  private func cpu(_ body: () throws -> Void) rethrows -> Int64 {
    let start = Mark()
    try body()
    let taken = Mark() - start
    return taken.user + taken.system
  }

  private func median(_ times: [Int64]) -> Double { Double(times.sorted()[times.count / 2]) / 1e3 }

  // MARK: 19

  private func measureIndex() throws {
    var bulk: [[Int64]] = [[], []]
    for _ in 0..<7 {
      bulk[0].append(try cpu { _ = try store(Loose.self, count, parents: count / 10) })
      bulk[1].append(try cpu { _ = try store(Child.self, count, parents: count / 10) })
    }
    let each = zip(bulk[1], bulk[0]).map { ($0 - $1) / Int64(count) }
    recorder.value("19 CPU of a reference index in a bulk insert, an entry", median(each), "us")
    let loose = try store(Loose.self, count, parents: count / 10)
    let child = try store(Child.self, count, parents: count / 10)
    var single: [[Int64]] = [[], []]
    for round in 0..<9 {
      single[0].append(try change(loose, \Loose.parent, round))
      single[1].append(try change(child, \Child.parent, round))
    }
    let costs = zip(single[1], single[0]).map { ($0 - $1) / 3_000 }
    recorder.value("19 CPU of a reference index in a commit of one reference", median(costs), "us")
    var added: [[Int64]] = [[], []]
    for round in 0..<9 {
      added[0].append(try insert(loose, Loose.self, round))
      added[1].append(try insert(child, Child.self, round))
    }
    let entries = zip(added[1], added[0]).map { ($0 - $1) / 3_000 }
    recorder.value("19 CPU of a reference index in a commit of a new object", median(entries), "us")
    var bytes: [Int] = []
    for isIndexed in [false, true, false, true, false, true] {
      let before = Footprint.resident
      let made =
        try isIndexed
        ? store(Child.self, 10 * count, parents: count)
        : store(Loose.self, 10 * count, parents: count)
      // As readers have it.
      _ = try made.0.snapshot().count(Fetch(Parent.self))
      if isIndexed { _ = try made.0.snapshot().count(made.parents[0], \.children) }
      bytes.append(Footprint.resident - before)
      try made.0.close()
    }
    let sizes = stride(from: 0, to: 6, by: 2).map { bytes[$0 + 1] - bytes[$0] }.sorted()
    recorder.value(
      "19 memory of a reference index, an entry", Double(sizes[1]) / Double(10 * count), "bytes")
  }

  private func change<C: Offspring>(
    _ made: (Store, parents: [Object<Parent>], children: [ObjectID]),
    _ keyPath: KeyPath<C, Reference<Parent>?>, _ round: Int
  ) throws -> Int64 {
    try cpu {
      for number in 0..<3_000 {
        let place = (round * 3_000 + number) * 37 % made.children.count
        let parent = made.parents[(round * 13 + number * 11) % made.parents.count]
        try made.0.write { tx in
          try tx.set(keyPath, of: made.children[place], to: Reference(parent))
        }
      }
    }
  }

  private func insert<C: Offspring>(
    _ made: (Store, parents: [Object<Parent>], children: [ObjectID]), _ type: C.Type, _ round: Int
  ) throws -> Int64 {
    try cpu {
      for number in 0..<3_000 {
        let parent = made.parents[(round * 13 + number * 11) % made.parents.count]
        try made.0.write { tx in try tx.insert(C(number: number, parent: Reference(parent))) }
      }
    }
  }

  /// Commits on this thread, also in asynchronous code.
  private func put(_ store: Store, _ body: (WriteTransaction) throws -> Void) throws {
    try store.write { tx in try body(tx) }
  }

  // MARK: 20

  private func measureCascade() throws {
    var cascades: [Int64] = []
    var deletes: [Int64] = []
    for _ in 0..<7 {
      let child = try store(Child.self, count, parents: 1)
      cascades.append(try cpu { try child.0.write { tx in try tx.delete(child.parents[0]) } })
      try expect("children", try child.0.snapshot().count(of: Child.self), is: 0)
      let loose = try store(Loose.self, count, parents: 1)
      deletes.append(
        try cpu {
          try loose.0.write { tx in
            for id in loose.children { try tx.delete(id) }
            try tx.delete(loose.parents[0])
          }
        })
    }
    recorder.value("20 CPU of a cascade, an object", median(cascades) / Double(count), "us")
    recorder.value("20 CPU of the deletes alone, an object", median(deletes) / Double(count), "us")
    let ratios = zip(cascades, deletes).map { Double($0) / Double($1) }.sorted()
    recorder.value("20 cascade over the deletes alone", ratios[3], "x")
  }

  // MARK: 21

  private func measureInverse() throws {
    let made = try store(Child.self, 10 * count, parents: count)
    let snapshot = made.0.snapshot()
    func times(_ body: (Object<Parent>) throws -> Int, is wanted: Int) throws -> [Int64] {
      var times: [Int64] = []
      for number in 0..<10_000 {
        let parent = made.parents[number * 7_907 % made.parents.count]
        let start = LiveSession.now()
        let found = try body(parent)
        times.append(LiveSession.now() - start)
        try expect("an inverse", found, is: wanted)
      }
      return times
    }
    recorder.value(
      "21 objects of an inverse among a million",
      median(try times({ try snapshot.objects($0, \.children).count }, is: 10)), "us")
    recorder.value(
      "21 ids of an inverse among a million",
      median(try times({ try snapshot.objectIDs(Fetch($0, \.children)).count }, is: 10)), "us")
    recorder.value(
      "21 count of an inverse among a million",
      median(try times({ try snapshot.count($0, \.children) }, is: 10)), "us")
  }

  // MARK: 22

  private func measureLive() async throws {
    try await measureLive(Loose.self, \.parent, "a table of its own")
    try await measureLive(Child.self, \.parent, "the reference index")
  }

  private func measureLive<C: Offspring>(
    _ type: C.Type, _ keyPath: KeyPath<C, Reference<Parent>?>, _ by: String
  ) async throws {
    let made = try store(C.self, count, parents: count / 10)
    let view = made.0.live(Fetch(C.self).sorted(by: .ascending(keyPath, \.name)))
    var starts: [Int64] = []
    for _ in 0..<5 {
      var iterator = view.makeAsyncIterator()
      let start = LiveSession.now()
      _ = try await iterator.next()
      starts.append(LiveSession.now() - start)
    }
    recorder.value("22 first rows through a reference, by \(by)", median(starts) / 1e3, "ms")
    var iterator = view.makeAsyncIterator()
    _ = try await iterator.next()
    var steps: [Int64] = []
    for number in 0..<2_000 {
      let parent = made.parents[number * 31 % made.parents.count]
      try put(made.0) { tx in try tx.set(\Parent.name, of: parent, to: "renamed \(number)") }
      let start = LiveSession.now()
      let update = try await iterator.next()
      steps.append(LiveSession.now() - start)
      try expect("rows", update?.rows.count, is: count)
    }
    recorder.value("22 step for what 10 rows refer to, by \(by)", median(steps), "us")
    var moves: [Int64] = []
    for number in 0..<2_000 {
      let parent = made.parents[(number * 17 + 1) % made.parents.count]
      try put(made.0) { tx in
        try tx.set(keyPath, of: made.children[number * 41 % count], to: Reference(parent))
      }
      let start = LiveSession.now()
      _ = try await iterator.next()
      moves.append(LiveSession.now() - start)
    }
    recorder.value("22 step for a reference, by \(by)", median(moves), "us")
  }

  // MARK: 23

  private func measureContext() throws {
    struct GivenUp: Error {}
    let made = try store(Child.self, count, parents: count / 10)
    func givenUp(_ body: (WriteTransaction) throws -> Void) throws {
      do {
        try made.0.write { tx in
          try body(tx)
          throw GivenUp()
        }
      } catch is GivenUp {}
    }
    let some = made.children.prefix(10_000)
    var closures: [Int64] = []
    var updates: [Int64] = []
    var edits: [Int64] = []
    var undos: [Int64] = []
    var properties: [Int64] = []
    for round in 0..<15 {
      func set(_ tx: WriteTransaction) throws {
        for id in some { try tx.set(\Child.number, of: id, to: -round) }
      }
      closures.append(try cpu { try givenUp(set) })
      updates.append(
        try cpu {
          try givenUp { tx in
            for id in some { try tx.update(Child.self, id) { $0.number = -round } }
          }
        })
      let form = try EditingContext(made.0)
      edits.append(try cpu { try form.edit("set") { tx in try set(tx) } })
      undos.append(try cpu { _ = try form.undo() })
      let fields = try EditingContext(made.0)
      let objects = try some.compactMap { try fields.object(Child.self, $0) }
      try fields.group("set") {
        properties.append(cpu { for object in objects { object.number = -round } })
      }
    }
    recorder.value("23 CPU of a set by a closure", median(closures) / 10_000, "us")
    recorder.value("23 CPU of an update by a closure", median(updates) / 10_000, "us")
    recorder.value("23 CPU of a set by an edit", median(edits) / 10_000, "us")
    recorder.value("23 CPU of a set by the property", median(properties) / 10_000, "us")
    recorder.value("23 CPU of undoing one", median(undos) / 10_000, "us")
    let ratios = zip(edits, closures).map { Double($0) / Double($1) }.sorted()
    recorder.value("23 an edit over a closure, 10,000 sets", ratios[ratios.count / 2], "x")
  }
}

private protocol Offspring: Record {
  init(number: Int, parent: Reference<Parent>?)
}

private struct Parent: Record {
  var name: String
  static let entity = RecordEntity("Parent", Parent.init, Property("name", \.name))

  static let children = Inverse(\Child.parent)
}

private struct Child: Record, Offspring {
  var number: Int
  var parent: Reference<Parent>?
  static let entity = RecordEntity(
    "Child", Child.init, Property("number", \.number),
    Property("parent", \.parent).onDelete(.cascade))
}

private struct Loose: Record, Offspring {
  var number: Int
  var parent: Reference<Parent>?
  static let entity = RecordEntity(
    "Loose", Loose.init, Property("number", \.number), Property("parent", \.parent).onDelete(.keep))
}
