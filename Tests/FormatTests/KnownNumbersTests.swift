import AnnalsFormat
import AnnalsModel
import Testing

@Suite struct KnownNumbersTests {
  private func faults(_ change: (inout TransactionRecord) -> Void) -> [String] {
    var record = TransactionRecord(number: 9, timestamp: Timestamp(microseconds: 0))
    change(&record)
    return KnownNumbers(names: 3, openings: 2).faults(of: record).map(\.text)
  }

  @Test func whatIsKnownOrAddedMayBeReferredTo() {
    #expect(faults { _ in } == [])
    #expect(faults { ($0.author, $0.context, $0.opening) = (3, 1, 2) } == [])
    let added = faults { record in
      record.firstNewName = 4
      record.newNames = ["a", "b"]
      record.newOpening = Opening(number: 3, id: 7, processName: "p", processID: 1)
      (record.author, record.context, record.opening) = (5, 4, 3)
    }
    #expect(added == [])
  }

  @Test func whatNobodyRecordedIsNamed() {
    #expect(
      faults { ($0.author, $0.context, $0.opening) = (4, 9, 3) } == [
        "has name 4 as its author; there are 3", "has name 9 as its context; there are 3",
        "is of opening 3; there are 2",
      ])
  }

  @Test func whatIsAddedContinuesWhatIsKnown() {
    let found = faults { record in
      record.firstNewName = 3
      record.newNames = ["a"]
      record.newOpening = Opening(number: 5, id: 7, processName: "p", processID: 1)
    }
    #expect(found == ["adds names from number 3; there are 3", "adds opening 5; there are 2"])
  }
}
