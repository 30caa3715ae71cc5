import Annals
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport

/// A small store's file as random work leaves it: objects that come, change and go, large values,
/// checkpoints, rewrites, changes of the schema; closed at the end, or not.
struct RandomStore {
  /// The file's bytes.
  private(set) var bytes: ContiguousArray<UInt8> = []
  /// The same file, or the one that it replaced, some time before.
  private(set) var earlier: ContiguousArray<UInt8> = []
  private var random: SeededRandom
  private let files = MemoryFileSystem()
  private let environment: StoreEnvironment
  private let options: StoreOptions
  private var extraProperties: [String] = []
  private var textCount = 0

  /// The store that follows from the seed.
  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    environment = .fixed(seed: seed)
    options = random.chance(30) ? .deferred : StoreOptions()
    var store = try open(schema: SampleFile.schema)
    let steps = random.number(5...25)
    let shown = random.below(steps)
    for step in 0..<steps {
      try work(on: &store)
      if step == shown { earlier = try files.contents(of: SampleFile.path) }
    }
    if random.chance(50) { try store.close() }
    bytes = try files.contents(of: SampleFile.path)
  }

  private func open(schema: Schema? = nil) throws -> Store {
    let location = StoreLocation(fileSystem: files, path: SampleFile.path)
    guard let schema else {
      return try Store(location, creates: false, options: options, environment: environment)
    }
    return try Store(location, schema: schema, options: options, environment: environment)
  }

  private mutating func work(on store: inout Store) throws {
    switch random.below(100) {
    case 0..<6: try store.checkpoint()
    case 6..<9: try store.compact()
    case 9..<11: try store.compact(smallest: true)
    case 11..<17:
      let numbers = Int(store.base.number) + 1...Int(store.token.number)
      try store.prune(store.prunePlan(before: Int64(random.number(numbers))))
    case 17..<20:
      let name = "extra \(extraProperties.count)"
      extraProperties.append(name)
      try store.require(Schema { Entity("Note") { Attribute(name, .any) } })
    case 20..<27:
      if random.chance(50) { try store.close() }
      store = try open()
    default: try write(to: store)
    }
  }

  private mutating func write(to store: Store) throws {
    let author = random.chance(70) ? "author \(random.below(5))" : nil
    let context = random.chance(30) ? "context \(random.below(3))" : nil
    var random = random
    var maker = self
    do {
      _ = try store.write(author: author, context: context) { tx in
        for _ in 0..<random.number(1...4) { try maker.change(tx, &random) }
        // Several parts, now and then.
        guard random.chance(2) else { return }
        for _ in 0..<500 {
          try tx.insert("Folder", ["name": .string(maker.text(&random, limit: 1_000))])
        }
      }
    } catch let error as AnnalsError where error.code == .invalidChange {
      // It referred to what it deleted then.
    }
    self.random = random
    textCount = maker.textCount
  }

  private mutating func change(_ tx: WriteTransaction, _ random: inout SeededRandom) throws {
    let notes = try tx.objects(of: "Note")
    let folders = try tx.objects(of: "Folder").prefix(20)
    let action = random.below(100)
    if notes.isEmpty || action < 30 {
      let id = "note \(random.below(60))"
      guard !notes.contains(where: { $0["id"] == .string(id) }) else { return }
      try tx.insert("Note", ["id": .string(id), "text": .string(text(&random))])
    } else if folders.isEmpty || action < 35 {
      try tx.insert("Folder", ["name": .string(text(&random, limit: 30))])
    } else if action < 75 {
      let note = notes[random.below(notes.count)].id
      switch random.below(5) {
      case 0: try tx.update(note, ["count": .int(Int64(random.below(1_000)))])
      case 1:
        let folder = folders[random.below(folders.count)].id
        try tx.update(note, ["folder": .object(ObjectReference(folder))])
      case 2 where !extraProperties.isEmpty:
        let name = extraProperties[random.below(extraProperties.count)]
        try tx.update(note, [name: .string(text(&random))])
      case 3: try tx.update(note, ["text": .null, "count": .null])
      default: try tx.update(note, ["text": .string(text(&random))])
      }
    } else if action < 88 {
      let some = notes.filter { _ in random.chance(50) }.prefix(6).map { ObjectReference($0.id) }
      let folder = folders[random.below(folders.count)].id
      try tx.update(folder, ["notes": some.isEmpty ? .null : .objects(some)])
    } else if action < 95 {
      try tx.delete(notes[random.below(notes.count)].id)
    } else {
      try tx.delete(folders[random.below(folders.count)].id)
    }
  }

  /// A text that no other is, one in three a large value.
  private mutating func text(_ random: inout SeededRandom, limit: Int = 12_000) -> String {
    textCount += 1
    let length = random.chance(30) ? random.number(1...limit) : random.number(1...20)
    let letters = (0..<16).map { _ in Character(UnicodeScalar(UInt8(random.number(97...122)))) }
    let repeated = String(repeating: String(letters), count: length / 16 + 1)
    return "\(textCount) \(repeated.prefix(length))"
  }
}
