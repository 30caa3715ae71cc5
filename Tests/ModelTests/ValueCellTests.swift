import AnnalsModel
import Testing

/// Cells keep what they are made of, in two words.
@Suite struct ValueCellTests {
  @Test(arguments: ValueTag.allCases)
  func aCellKeepsItsParts(tag: ValueTag) {
    for isLarge in [false, true] {
      var cell = ValueCell(tag: tag, bits: .max - 1, length: .max - 2, isLarge: isLarge)
      cell.shared = .max - 3
      #expect(cell.tag == tag)
      #expect(cell.bits == UInt64.max - 1)
      #expect(cell.length == UInt32.max - 2)
      #expect(cell.isLarge == isLarge)
      #expect(cell.shared == UInt16.max - 3)
      #expect(cell.isNull == (tag == .null))
    }
  }

  @Test func settingAPartLeavesTheOthers() {
    var cell = ValueCell(tag: .objects, bits: 1, length: 2, isLarge: true)
    cell.shared = 3
    cell.length = 0xFFFF_FFFE
    cell.tag = .string
    cell.shared = 0x8001
    cell.isLarge = false
    #expect(cell.tag == .string)
    #expect(cell.bits == 1)
    #expect(cell.length == 0xFFFF_FFFE)
    #expect(!cell.isLarge)
    #expect(cell.shared == 0x8001)
  }

  @Test func aCellTakesTwoWords() {
    #expect(MemoryLayout<ValueCell>.stride == 16)
    #expect(MemoryLayout<PropertyChange>.stride == 40)
  }
}
