import Annals
import AnnalsStorage
import AnnalsTestSupport
import Testing

/// Random histories, with reopening, checkpoints, compaction, pruning, and work by programs that
/// have not registered the projections: these are what a plain count says, after each step.
@Suite struct ProjectionModelTests {
  @Test(arguments: 1...12) func theyAreWhatAPlainCountSays(seed: Int) throws {
    print("seed \(seed)")
    var run = try Run(seed: UInt64(seed))
    do {
      for _ in 0..<70 { try run.step() }
    } catch {
      Issue.record("seed \(seed): \(error)\n\(run.steps.suffix(40).joined(separator: "\n"))")
    }
  }

  private struct Run {
    var random: SeededRandom
    let location = memoryFile()
    var store: Store
    /// Whether the store's program knows the projections.
    var isRegistered = true
    /// The transactions of each author, and of the whole history.
    var authors: [Int64: [String: Int]] = [:]
    /// Whether a program that did not know them has pruned: then what needs the whole history may
    /// be gone.
    var mayHaveLost = false
    var notes: [ObjectID] = []
    var noteCount = 0
    var openings: UInt64 = 1
    var steps: [String] = []

    init(seed: UInt64) throws {
      random = SeededRandom(seed: seed)
      store = try noteStore(location)
      authors = [0: [:], 1: ["": 1]]
      register()
    }

    private func register() {
      guard isRegistered else { return }
      store.register(NotesPerText.self)
      store.register(CommitsPerAuthor.self)
    }

    mutating func step() throws {
      let action = random.below(100)
      switch action {
      case 0..<60: try write()
      case 60..<68: try reopen()
      case 68..<78:
        steps.append("checkpoint")
        try store.checkpoint()
      case 78..<84:
        try compact()
      case 84..<89: try prune()
      case 89..<94: try comparePast()
      default:
        steps.append("verify")
        let findings = try store.verify().filter { $0.severity != .note }
        guard findings.isEmpty else { throw Mismatch("verify: \(findings)") }
      }
      if isRegistered { try compare() }
    }

    private mutating func write() throws {
      steps.append("write")
      let author = ["ann", "ben", "cy"][random.below(3)]
      let count = random.number(1...4)
      var (random, notes, noteCount) = (random, notes, noteCount)
      let commit = try store.commit(author: author) { tx in
        for _ in 0..<count {
          switch notes.isEmpty ? 0 : random.below(3) {
          case 0:
            noteCount += 1
            notes.append(
              try tx.insert(
                "Note",
                ["id": .string("\(noteCount)"), "text": .string("\(random.below(4))")]))
          case 1:
            let text: Value = random.chance(20) ? .null : .string("\(random.below(4))")
            try tx.update(notes[random.below(notes.count)], ["text": text])
          default:
            try tx.delete(notes.remove(at: random.below(notes.count)))
          }
        }
      }
      (self.random, self.notes, self.noteCount) = (random, notes, noteCount)
      let number = commit.token.number
      // What comes to nothing is not recorded.
      guard authors[number] == nil else { return }
      authors[number] = (authors[number - 1] ?? [:]).merging([author: 1], uniquingKeysWith: +)
    }

    private mutating func reopen() throws {
      isRegistered = random.chance(70)
      steps.append("reopen, \(isRegistered ? "registered" : "not registered")")
      if random.chance(70) { try store.close() }
      openings += 1
      store = try noteStore(location, seed: openings)
      register()
    }

    private mutating func compact() throws {
      let smallest = random.chance(25)
      steps.append(smallest ? "compact to the smallest file" : "compact")
      // It takes the checkpoint along.
      if smallest, !isRegistered { mayHaveLost = true }
      do {
        try store.compact(smallest: smallest)
      } catch {
        guard error.code == .unsupported, smallest, isRegistered else { throw error }
        try store.compact()
      }
    }

    private mutating func prune() throws {
      guard store.base.number < store.token.number else { return }
      let floor = random.number(Int(store.base.number) + 1...Int(store.token.number))
      steps.append("prune before \(floor)")
      if !isRegistered { mayHaveLost = true }
      do {
        try store.prune(store.prunePlan(before: floor))
      } catch {
        // One that cannot be made any more is not dropped silently.
        guard error.code == .pruned, mayHaveLost else { throw error }
      }
    }

    private func compare() throws {
      let snapshot = store.snapshot()
      guard try store.projection(NotesPerText.self) == .counted(snapshot) else {
        throw Mismatch("the notes differ")
      }
      do {
        let counts = try store.projection(CommitsPerAuthor.self).counts
        guard counts == authors[snapshot.number] else {
          throw Mismatch("the authors differ: \(counts), \(authors[snapshot.number] ?? [:])")
        }
      } catch let error as AnnalsError {
        guard error.code == .pruned, mayHaveLost else { throw error }
      }
    }

    private mutating func comparePast() throws {
      guard isRegistered else { return }
      let number = Int64(random.number(Int(store.base.number)...Int(store.token.number)))
      steps.append("compare as of \(number)")
      let snapshot = try store.snapshot(at: number)
      guard try store.projection(NotesPerText.self, at: snapshot.token) == .counted(snapshot) else {
        throw Mismatch("the notes as of \(number) differ")
      }
    }
  }
}
