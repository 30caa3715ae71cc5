import AnnalsEngine
import AnnalsModel
import AnnalsTestSupport
import Testing

/// The stacks of one author, as two lists that each transaction changes: what `UndoStack` must find
/// in the history alone.
struct NaiveStacks: Equatable {
  struct Step: Equatable {
    var numbers: [Int64]
    var group: String?
  }

  var done: [Step] = []
  var undone: [Step] = []
  /// The group that the next transaction may join.
  private var open: String?

  /// An ordinary transaction.
  mutating func write(_ number: Int64, _ group: String? = nil) {
    undone = []
    if let group, open == group, !done.isEmpty {
      done[done.count - 1].numbers.append(number)
    } else {
      done.append(Step(numbers: [number], group: group))
    }
    open = group
  }

  mutating func undo(_ number: Int64) {
    undone.append(Step(numbers: [number], group: done.removeLast().group))
    open = nil
  }

  mutating func redo(_ number: Int64) {
    done.append(Step(numbers: [number], group: undone.removeLast().group))
    open = nil
  }

  /// Forgets what a prune dropped.
  mutating func prune(through base: Int64) {
    func kept(_ steps: [Step]) -> [Step] {
      steps.map { Step(numbers: $0.numbers.filter { $0 > base }, group: $0.group) }
        .filter { !$0.numbers.isEmpty }
    }
    (done, undone) = (kept(done), kept(undone))
  }
}

@Suite struct UndoStackTests {
  /// The history of an author, and what `UndoStack` asks of it.
  private struct Bench {
    var entries: [UndoEntry] = []
    var naive = NaiveStacks()
    var next: Int64 = 1

    mutating func run(_ word: Character) {
      var undo = UndoRecord()
      switch word {
      case "u":
        guard let top = naive.done.last else { return }
        undo = UndoRecord(group: top.group, act: .undoes(top.numbers[0]...(top.numbers.last ?? 0)))
        naive.undo(next)
      case "r":
        guard let top = naive.undone.last else { return }
        undo = UndoRecord(group: top.group, act: .redoes(top.numbers[0]))
        naive.redo(next)
      case ".":
        // Another author's.
        next += 1
        return
      default:
        undo.group = word == "w" ? nil : String(word)
        naive.write(next, undo.group)
      }
      entries.append(UndoEntry(number: next, undo: undo))
      next += 1
    }

    func stack(_ direction: UndoDirection) throws -> [NaiveStacks.Step] {
      var steps: [NaiveStacks.Step] = []
      var place = next - 1
      while true {
        let answer = try UndoStack.next(direction, of: "a", asOf: place) {
          (number) throws(AnnalsError) in
          entries.last { $0.number <= number }.map(UndoStack.Newest.entry) ?? .none
        }
        guard case .step(let step) = answer else { return steps.reversed() }
        let numbers = entries.map(\.number).filter { step.numbers.contains($0) }
        #expect(numbers.count == step.count)
        steps.append(NaiveStacks.Step(numbers: numbers, group: step.group))
        place = step.numbers.lowerBound - 1
      }
    }
  }

  /// What was done, its undo and redo stack, bottom first, a group as its numbers joined.
  @Test(arguments: [
    ("", "", ""), ("w", "1", ""), ("ww", "1 2", ""), ("wu", "", "2"), ("wwu", "1", "3"),
    ("wwuu", "", "3 4"), ("wwuur", "5", "3"), ("wwuurr", "5 6", ""), ("wwuurw", "5 6", ""),
    ("wwuw", "1 4", ""), ("wuru", "", "4"), ("wurur", "5", ""), ("wwuruu", "", "5 6"),
    ("gg", "1+2", ""), ("ggu", "", "3"), ("ggur", "4", ""), ("ggurg", "4 5", ""),
    ("g.g", "1+3", ""), ("ghg", "1 2 3", ""), ("gwg", "1 2 3", ""), ("gug", "3", ""),
    ("ggugg", "4+5", ""), ("wggu", "1", "4"), ("wg.gu.r", "1 7", ""), ("gghhuu", "", "5 6"),
    ("gghhuur", "7", "5"), ("gghhuurr", "7 8", ""), ("gghhuurrg", "7 8 9", ""),
  ])
  func table(words: String, undo: String, redo: String) throws {
    var bench = Bench()
    for word in words { bench.run(word) }
    func text(_ steps: [NaiveStacks.Step]) -> String {
      steps.map { $0.numbers.map { "\($0)" }.joined(separator: "+") }.joined(separator: " ")
    }
    #expect(text(try bench.stack(.undo)) == undo)
    #expect(text(try bench.stack(.redo)) == redo)
  }

  /// Any history has the stacks of the lists.
  @Test(arguments: 1...20) func anyHistory(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var bench = Bench()
    let words = Array("wwgggh.uuuurrr")
    for _ in 0..<120 {
      bench.run(words[random.below(words.count)])
      #expect(try bench.stack(.undo) == bench.naive.done)
      #expect(try bench.stack(.redo) == bench.naive.undone)
    }
  }

  /// A history that no engine writes, with undos of anything before them, has an end.
  @Test(arguments: 1...20) func hostileHistoriesEnd(seed: Int) throws {
    var random = SeededRandom(seed: UInt64(seed))
    var bench = Bench()
    for number in 1...200 as ClosedRange<Int64> {
      var undo = UndoRecord(group: random.below(2) == 0 ? "g" : nil)
      let place = Int64(random.below(Int(number))) + 1
      if place < number, random.below(3) > 0 {
        let last = min(number - 1, place + Int64(random.below(3)))
        undo.act = random.below(2) == 0 ? .undoes(place...last) : .redoes(place)
      }
      bench.entries.append(UndoEntry(number: number, undo: undo))
    }
    bench.next = 201
    #expect(try bench.stack(.undo).count <= 200)
    #expect(try bench.stack(.redo).count <= 200)
  }
}
