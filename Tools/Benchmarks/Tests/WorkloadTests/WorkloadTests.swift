import Testing
import Workload

/// The workload is the one that other programs measure.
@Suite struct WorkloadTests {
  @Test func isTheOneDefined() {
    let workload = Workload()
    #expect(workload.checksum == Workload.expectedChecksum)
    #expect(workload.lastObject == 104_090)
    #expect(workload.liveCount == 102_136)
    #expect(workload.bulkTime == 1_530_592_000_000_000)
  }

  @Test(arguments: [(1_000, 200, 0xB374_F5C3_4378_DB0E), (100_000, 200_000, 0x96D4_2021_2AD8_8ED0)])
  func isTheOneDefinedInOtherSizes(posts: Int, operations: Int, checksum: UInt64) {
    #expect(Workload(posts: posts, operations: operations).checksum == checksum)
  }

  @Test func operationsLeadToTheCountsStated() {
    let workload = Workload(posts: 1_000, operations: 200)
    let model = WorkloadModel(workload, after: 200)
    #expect(model.liveCount == workload.liveCount)
    #expect(model.objects.count { $0 != nil } == workload.liveCount)
    #expect(model.objects.count == workload.lastObject)
    #expect(WorkloadModel(workload, after: 199).checksum != model.checksum)
  }
}
