import AnnalsFaults
import AnnalsStorage
import SystemPackage
import Testing

/// What a power cut leaves, and what injected errors do.
@Suite struct FaultyFileSystemTests {
  /// A disk with one synced file "a" of these bytes.
  private func disk(_ bytes: [UInt8]) throws -> (FaultyFileSystem, any StorageFile) {
    let files = FaultyFileSystem()
    let file = try files.create("a", like: nil)
    try file.write(bytes, at: 0)
    try file.sync()
    try files.syncDirectory(of: "a")
    return (files, file)
  }

  /// The contents of file "a" in every survivor; nil where there is none.
  private func survivors(of files: FaultyFileSystem) throws -> Set<[UInt8]?> {
    var contents: Set<[UInt8]?> = []
    try files.forEachSurvivor { survivor in
      let exists = try survivor.files.identity(of: "a") != nil
      contents.insert(
        exists ? try survivor.files.open("a", for: .reading).contents() : [UInt8]?.none)
    }
    return contents
  }

  @Test func whatWasSyncedIsThere() throws {
    let (files, _) = try disk([1, 2, 3])
    #expect(try survivors(of: files) == [[1, 2, 3]])
  }

  @Test func eachUnsyncedWriteMayBeThereOrNot() throws {
    let (files, file) = try disk([0, 0, 0])
    try file.write([1], at: 0)
    try file.write([2], at: 1)
    try file.write([3], at: 2)
    let found = try survivors(of: files)
    let expected: [[UInt8]] = [
      [0, 0, 0], [1, 0, 0], [1, 2, 0], [1, 2, 3], [0, 2, 3], [1, 0, 3], [0, 2, 0], [0, 0, 3],
    ]
    for contents in expected { #expect(found.contains(contents), "\(contents)") }
    let garbled = found.subtracting(expected)
    #expect(garbled.count == 1)
    #expect(garbled.first??.prefix(2) == [1, 2], "only the bytes of the last write are garbled")
    try file.sync()
    #expect(try survivors(of: files) == [[1, 2, 3]])
  }

  @Test func aLostWriteMayLeaveItsLength() throws {
    let (files, file) = try disk([1])
    try file.write([2, 3], at: 1)
    let found = try survivors(of: files)
    #expect(found.isSuperset(of: [[1], [1, 0, 0], [1, 2, 3]]))
  }

  @Test func aWriteOverSectorsMayTear() throws {
    let (files, file) = try disk([UInt8](repeating: 1, count: 2048))
    try file.write([UInt8](repeating: 2, count: 1536), at: 256)
    let runs = try survivors(of: files).compactMap { contents in contents?.map { $0 == 2 } }
    /// Whether the sectors of the file hold the new bytes: the write spans 0 (its second half) to 3
    /// (its first half).
    let sectors = Set(runs.map { [$0[256], $0[512], $0[1024], $0[1536]] })
    #expect(sectors.contains([true, false, false, false]))
    #expect(sectors.contains([false, true, true, true]))
    #expect(sectors.contains([true, false, true, true]))
    #expect(sectors.contains([true, true, true, false]))
    #expect(runs.allSatisfy { !$0[0] && !$0[255] && !$0[1792] && !$0[2047] })
  }

  @Test func namesAreDurableAfterTheSyncOfTheDirectoryAlone() throws {
    let files = FaultyFileSystem()
    let file = try files.create("new", like: nil)
    try file.write([1], at: 0)
    try file.sync()
    #expect(try survivors(of: files) == [nil], "a synced file without a synced name")
    try files.rename("new", over: "a")
    #expect(try survivors(of: files) == [nil, [1]])
    try files.syncDirectory(of: "a")
    #expect(try survivors(of: files) == [[1]])
    let other = try files.create("new", like: "a")
    try other.write([2], at: 0)
    try files.rename("new", over: "a")
    #expect(
      try survivors(of: files).isSuperset(of: [[1], [], [0], [2]]),
      "a rename may be there before the bytes of its file")
    try other.sync()
    #expect(try survivors(of: files) == [[1], [2]])
    #expect(try file.contents() == [1])
  }

  @Test func namesChangeInOrder() throws {
    let (files, _) = try disk([1])
    try files.link("a", to: "b")
    try files.remove("a")
    var states: Set<[String]> = []
    files.forEachSurvivor { states.insert($0.files.paths) }
    #expect(states == [["a"], ["a", "b"], ["b"]], "there is no moment without a name")
  }

  @Test func thePowerFailsAtThePoint() throws {
    for point in 0..<8 {
      let files = FaultyFileSystem()
      files.crash(at: point)
      var last: StorageError?
      do throws(StorageError) {
        try work(on: files)
      } catch {
        last = error
      }
      #expect(last?.errno == .operationNotSupportedByDevice)
      #expect(files.hasCrashed && files.pointCount == point + 1)
      #expect(throws: StorageError.self) { try files.open("a", for: .reading) }
      files.forEachSurvivor { survivor in
        let contents = try? survivor.files.open("a", for: .reading).contents()
        let isAcknowledged = point > 6
        #expect(!isAcknowledged || contents?.prefix(2) == [1, 9], "\(survivor.description)")
        #expect(survivor.description.hasPrefix("point \(point)"))
        // A second crash, while the first is being recovered from.
        survivor.files.crash(at: 0)
        #expect(throws: StorageError.self) { _ = try survivor.files.create("c", like: nil) }
        #expect(survivor.files.hasCrashed)
      }
    }
    let files = FaultyFileSystem()
    try work(on: files)
    #expect(files.pointCount == 8)
    #expect(files.points[1].description == "write new at 0, 2 bytes")
  }

  private func work(on files: FaultyFileSystem) throws(StorageError) {
    let file = try files.create("new", like: nil)
    try file.store([1, 2], at: 0)
    try file.sync()
    try files.rename("new", over: "a")
    try files.syncDirectory(of: "a")
    try file.store([9], at: 1)
    try file.sync()
    try file.allocate(from: 2, to: 2000)
  }

  @Test func aKilledProcessLosesNothing() throws {
    let (files, file) = try disk([1])
    try file.write([2], at: 1)
    #expect(try file.lock(.exclusive, wait: .none))
    let after = files.afterKill()
    let again = try after.open("a", for: .writing)
    #expect(try again.contents() == [1, 2])
    #expect(try again.lock(.exclusive, wait: .none), "its locks are gone")
    #expect(try survivors(of: after).contains([1]), "what was not synced is not durable")
  }

  @Test func injectedErrorsHitTheCallsTheyAreMeantFor() throws {
    let (files, file) = try disk([1])
    files.inject(FaultInjection(.write, after: 1, .ioError))
    files.inject(FaultInjection(.rename, .notPermitted, effect: .complete, pathSuffix: "a"))
    try file.write([2], at: 0)
    #expect(throws: StorageError(.write, "a", .ioError)) { try file.write([3], at: 0) }
    try file.write([4], at: 0)
    #expect(try file.contents() == [4])
    #expect(throws: StorageError(.rename, "a", .notPermitted)) { try files.rename("a", over: "b") }
    #expect(files.paths == ["b"], "the call failed, but its effect is there")
    try files.rename("b", over: "a")
    #expect(files.injectedCount == 2)
    files.inject(FaultInjection(.read, .ioError, count: 2))
    for _ in 0..<2 {
      #expect(throws: StorageError(.read, "a", .ioError)) { try file.bytes(at: 0, count: 1) }
    }
    #expect(try file.bytes(at: 0, count: 1) == [4])
  }

  @Test func aWriteMayFailHalfWay() throws {
    let (files, file) = try disk([0, 0, 0, 0])
    files.inject(FaultInjection(.write, .ioError, effect: .partial(2)))
    #expect(throws: StorageError.self) { try file.write([1, 2, 3, 4], at: 0) }
    #expect(try file.contents() == [1, 2, 0, 0])
  }

  @Test func aFullDiskTakesWhatFits() throws {
    let (files, file) = try disk([1, 2])
    files.capacity = 4
    #expect(throws: StorageError(.write, "a", .noSpace)) { try file.write([3, 4, 5], at: 2) }
    #expect(try file.contents() == [1, 2, 3, 4])
    try file.write([9, 9], at: 0)
    #expect(throws: StorageError(.allocate, "a", .noSpace)) { try file.allocate(from: 4, to: 5) }
    #expect(try file.size() == 4)
    try file.truncate(to: 3)
    try file.allocate(from: 3, to: 4)
  }

  @Test func afterAFailedSyncTheCacheMayLie() throws {
    let (files, file) = try disk([0, 0, 0, 0])
    try file.write([1, 2, 3], at: 0)
    files.inject(FaultInjection(.sync, .ioError, effect: .cacheLies))
    #expect(throws: StorageError(.sync, "a", .ioError)) { try file.sync() }
    #expect(try file.contents() == [1, 2, 3, 0], "the cache shows what the disk does not have")
    try file.sync()
    #expect(try survivors(of: files).isSuperset(of: [[0, 0, 0, 0], [1, 2, 3, 0]]))
    try file.write([2], at: 1)
    try file.sync()
    let found = try survivors(of: files)
    #expect(found.allSatisfy { $0?[1] == 2 }, "what is written anew is synced")
    #expect(found.contains([0, 2, 0, 0]) && found.contains([1, 2, 3, 0]))
    try file.write(file.contents(), at: 0)
    try file.sync()
    #expect(try survivors(of: files) == [[1, 2, 3, 0]])
  }

  @Test func theDiskIsReadPastACacheThatLies() throws {
    let (files, file) = try disk([0, 0])
    try file.write([1, 2, 3], at: 0)
    #expect(try file.bytesPastCache(count: 9) == [0, 0])
    files.inject(FaultInjection(.sync, .ioError, effect: .cacheLies))
    #expect(throws: StorageError.self) { try file.sync() }
    try file.sync()
    #expect(try survivors(of: files).contains([1, 2, 3]), "the disk may have it")
    #expect(try file.bytesPastCache(count: 2) == [0, 0])
    #expect(try survivors(of: files).allSatisfy { $0?.prefix(2) == [0, 0] }, "what was seen stays")
    #expect(try file.contents() == [1, 2, 3])
    try file.write([1, 2, 3], at: 0)
    try file.sync()
    #expect(try file.bytesPastCache(count: 9) == [1, 2, 3])
    files.hasReadPastCache = false
    #expect(try file.bytesPastCache(count: 9) == nil)
  }

  @Test func afterAFailedSyncTheCacheMayDropTheBytes() throws {
    let (files, file) = try disk([0])
    try file.write([1, 2], at: 0)
    files.inject(FaultInjection(.sync, .ioError, effect: .cacheDrops))
    #expect(throws: StorageError.self) { try file.sync() }
    #expect(try file.contents() == [0])
  }

  @Test func manyChangesAreSampled() throws {
    let (files, file) = try disk([])
    for number in 0..<200 { try file.write([UInt8(number)], at: UInt64(number)) }
    let all = files.forEachSurvivor(limit: 1_000) { _ in }
    let some = files.forEachSurvivor(limit: 10) { _ in }
    #expect(all > 400)
    #expect(some > 20 && some < 60)
  }

  /// Each step changes what the disk holds, or what of it a power cut may take; doing the same
  /// again, on another disk, makes the same of that.
  @Test func fingerprintsTellDisksApart() throws {
    func fingerprints() throws -> [Int] {
      let (files, file) = try disk([0, 0, 0])
      var found = [files.fingerprint]
      let steps: [() throws -> Void] = [
        { try file.write([1], at: 1) }, { try file.sync() }, { try file.write([1], at: 1) },
        { try file.write([1], at: 1) }, { try file.truncate(to: 2) },
        { try file.allocate(from: 0, to: 9) }, { try file.sync() },
        { try files.create("b", like: nil).close() }, { try files.syncDirectory(of: "b") },
        { try files.rename("b", over: "c") }, { try files.syncDirectory(of: "c") },
        { try files.remove("c") }, { try file.write([7], at: 0) },
        {
          files.inject(FaultInjection(.sync, .ioError, effect: .cacheLies))
          #expect(throws: StorageError.self) { try file.sync() }
        },
      ]
      for step in steps {
        try step()
        found.append(files.fingerprint)
      }
      return found
    }
    let one = try fingerprints()
    #expect(Set(one).count == one.count)
    #expect(try fingerprints() == one)
  }
}

extension StorageFile {
  /// Writes these bytes, with the type of the error kept.
  fileprivate func store(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    try write(UnsafeRawBufferPointer(copy), at: offset)
  }
}
