import Annals
import AnnalsModel
import Testing

/// A child that is saved again and again, beside its parent or alone.
@Suite struct ChildRoundsTests {
  @Test func stepsOfAChildStayWhereNobodyElseHasWritten() throws {
    let lab = try EditingLab()
    let child = lab.form.child()
    let node = try #require(try child.node("a"))
    for count in 1...3 {
      try child.group("Count \(count)") { node.count = count }
      try child.save()
      #expect(!child.hasChanges && child.undoName == "Count \(count)")
      #expect(lab.a.count == count)
    }
    for count in [2, 1, nil] {
      #expect(try child.undo() && node.count == count)
      #expect(lab.a.count == 3)
    }
    #expect(try !child.undo())
    try child.save()
    #expect(lab.a.count == nil)
    // Where the parent has gone on, they end there.
    for round in 1...2 {
      try child.group("Again") { node.count = 10 + round }
      let b = try #require(try lab.form.node("b"))
      b.count = round
      try child.save()
      #expect(child.undoName == nil && lab.a.count == 10 + round)
      #expect(try child.node("b")?.count == round)
    }
    try lab.form.save()
    #expect(try lab.store.node("a")?.count == 12 && lab.store.problems() == [])
  }
}
