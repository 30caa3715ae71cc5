import AnnalsFormat
import AnnalsModel
import Testing

/// The numbers that reach files. A change here is a change of the format.
struct StoredNumberTests {
  @Test
  func valueTags() {
    let names = ValueTag.allCases.map { "\($0)=\($0.rawValue)" }.joined(separator: " ")
    #expect(
      names == "null=0 bool=1 int=2 double=3 string=4 date=5 uuid=6 url=7 data=8 json=9 object=10 "
        + "objects=11 erased=12 decimal=16 day=17")
  }

  @Test
  func attributeTypes() {
    let names = AttributeType.allCases.map { "\($0)=\($0.rawValue)" }.joined(separator: " ")
    #expect(
      names == "bool=1 int16=14 int32=15 int64=2 double=3 string=4 date=5 uuid=6 url=7 data=8 "
        + "json=9 any=13 decimal=16 day=17")
    for type in AttributeType.allCases {
      #expect(type.tag.map { [$0.rawValue, 14, 15].contains(type.rawValue) } ?? (type == .any))
    }
    for kind in ColumnKind.allCases { #expect(kind.tag?.rawValue ?? 13 == kind.rawValue) }
  }

  @Test
  func changeKinds() {
    #expect(ChangeKind.allCases.map(\.rawValue) == [0, 1, 2])
    #expect(ChangeKind.allCases == [.insert, .update, .delete])
  }

  @Test
  func frameKindsAndFlags() {
    let kinds: [FrameKind] = [
      .transaction, .block, .largeValue, .chunk, .checkpoint, .opening, .consumerChange, .retention,
      .erasure, .tombstones, .restorePoint, .featureAnnouncement,
    ]
    #expect(kinds.map(\.rawValue) == Array(1...8) + Array(10...12) + [14])
    #expect(kinds.filter(\.isKnown).map(\.rawValue) == Array(1...5) + [7, 8, 11, 14])
    let flags: [FrameFlags] = [.skippable, .continued, .compressed, .encrypted]
    #expect(flags.map(\.rawValue) == [1, 2, 4, 8])
  }

  @Test
  func places() {
    #expect(FormatLimits.slotOffsets == [4096, 8192])
    #expect(FormatLimits.logStart == 12_288)
    #expect(FormatLimits.frameHeaderLength == 24)
    #expect(FileHeader.magic == [0x89, 0x41, 0x4E, 0x4C, 0x53, 0x0D, 0x0A, 0x1A])
    #expect(FormatLimits.version == 1 && FormatLimits.drafts == 1...3)
  }
}
