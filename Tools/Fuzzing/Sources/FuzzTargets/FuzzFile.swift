import Annals
import AnnalsDescription
import AnnalsExchange
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsSalvage
import AnnalsStorage

/// A whole file in memory, on which every operation is tried.
struct FuzzFile {
  private var bytes: ContiguousArray<UInt8>
  /// Whether its checksums were recomputed, so that they prove nothing.
  private var isSealed = false
  private static let path = "/fuzz.annals"

  init(bytes: ContiguousArray<UInt8>) { self.bytes = bytes }

  /// The file of a log's image; nil if it has no frame.
  init?(log bytes: UnsafeRawBufferPointer) {
    let image = LogImage(bytes)
    guard !image.frames.isEmpty else { return nil }
    self.bytes = image.file
  }

  /// The bytes unchanged, or with recomputed checksums: the last byte decides.
  init(toSalvage bytes: UnsafeRawBufferPointer) {
    if bytes.last.map({ $0 % 2 == 0 }) == true {
      self.init(sealing: bytes)
      isSealed = true
    } else {
      self.init(bytes: ContiguousArray(bytes))
    }
  }

  /// The bytes with recomputed checksums of header, slots and frames, as far as the lengths of
  /// frames lead.
  init(sealing raw: UnsafeRawBufferPointer) {
    bytes = ContiguousArray(raw)
    let block = FormatLimits.blockLength
    guard bytes.count >= block else { return }
    bytes.replaceSubrange(0..<8, with: FileHeader.magic)
    put(Checksum.crc32, of: 0..<block - 4, at: block - 4)
    guard let header = bytes.withUnsafeBytes({ try? FileHeader.decode($0) }) else { return }
    let seed = header.seed
    for offset in FormatLimits.slotOffsets.map(Int.init) where bytes.count >= offset + block {
      if bytes[offset] == 0 { continue }
      put(
        { bytes, _ in seed.checksum(bytes, at: UInt64(offset)) }, of: offset..<offset + block - 4,
        at: offset + block - 4)
    }
    var previous = header.checksum
    var offset = Int(FormatLimits.logStart)
    while offset + FormatLimits.frameHeaderLength <= bytes.count, bytes[offset + 4] != 0 {
      let payload = offset + FormatLimits.frameHeaderLength
      let length = Int(number(at: offset + 8))
      guard length <= bytes.count - payload else { break }
      let place = UInt64(offset)
      let sum = { (bytes: UnsafeRawBufferPointer, _: UInt32) in seed.checksum(bytes, at: place) }
      put(sum, of: payload..<payload + length, at: offset + 12)
      withUnsafeBytes(of: previous.littleEndian) { previous in
        bytes.replaceSubrange(offset + 16..<offset + 20, with: previous)
      }
      put(sum, of: offset + 4..<payload, at: offset)
      previous = number(at: offset)
      offset += Int(FrameHeader.frameLength(payloadLength: length))
    }
  }

  private func number(at offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private mutating func put(
    _ checksum: (UnsafeRawBufferPointer, UInt32) -> UInt32, of range: Range<Int>, at offset: Int
  ) {
    let sum = bytes.withUnsafeBytes { checksum(UnsafeRawBufferPointer(rebasing: $0[range]), 0) }
    withUnsafeBytes(of: sum.littleEndian) { sum in
      bytes.replaceSubrange(offset..<offset + 4, with: sum)
    }
  }

  /// Inspects, dumps, opens and reads the file, which must not change it. If it can be written to,
  /// writes, and checks that a sound store stays sound.
  func run() {
    do {
      let files = try made()
      let wasSound = try inspect(files)
      let isOpened = open(files, upToDamage: false)
      _ = open(files, upToDamage: true)
      let after = try contents(files)
      precondition(after == bytes, "reading changed the file")
      if isOpened { try write(files, wasSound: wasSound) }
    } catch {
      preconditionFailure("a file in memory failed: \(error)")
    }
  }

  /// Salvages the file, which must not change. The new file is read in all ways; it must be sound
  /// and writable, unless checksums were recomputed. If the salvage fails, no new file may be left.
  func salvage() {
    let out = "/salvaged.annals"
    do {
      let files = try made()
      let report = try? Store.salvage(
        location(files), to: out, environment: .fixed(seed: 5))
      let after = try contents(files)
      precondition(after == bytes, "a salvage changed the file")
      guard let report else {
        let left = try files.identity(of: out)
        precondition(left == nil, "something is left of a failed salvage")
        return
      }
      precondition(report.isComplete || !report.lines().isEmpty, "a salvage hides what it lost")
      if !isSealed { try requireGood(files, out) }
      guard
        let store = try? Store(location(files, out), creates: false, options: .readOnly)
      else { return }
      FuzzFile.read(store)
      try? store.close()
    } catch {
      preconditionFailure("a file in memory failed: \(error)")
    }
  }

  /// A file system with the file.
  private func made() throws -> MemoryFileSystem {
    let files = MemoryFileSystem()
    let file = try files.create(FuzzFile.path, like: nil)
    defer { file.close() }
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    try file.sync()
    return files
  }

  private func contents(_ files: MemoryFileSystem) throws -> ContiguousArray<UInt8> {
    let file = try files.open(FuzzFile.path, for: .reading)
    defer { file.close() }
    var bytes = ContiguousArray<UInt8>(repeating: 0, count: Int(try file.size()))
    _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    return bytes
  }

  /// The result of the physical verification, and its findings.
  private func verified(
    _ files: MemoryFileSystem, _ path: String = FuzzFile.path
  ) throws -> (report: PhysicalReport, findings: String) {
    let file = try files.open(path, for: .reading)
    defer { file.close() }
    var verification = try PhysicalVerification(file)
    var findings = ""
    let report = try verification.run { findings += $0.description + "\n" }
    return (report, findings)
  }

  /// Checks that the store is sound, and that a transaction can be committed.
  private func requireGood(_ files: MemoryFileSystem, _ path: String) throws {
    let (report, findings) = try verified(files, path)
    precondition(report.isClean, "a salvaged file is not clean: \(findings)")
    do {
      let store = try Store(location(files, path), creates: false, environment: .fixed(seed: 7))
      let errors = try store.verifyHistory().filter { $0.severity == .error }
      precondition(errors.isEmpty, "a salvaged store does not verify: \(errors)")
      _ = try store.importTransaction(author: "fuzz") { _ in }
      try store.close()
    } catch {
      preconditionFailure("a salvaged store cannot be used: \(error)")
    }
  }

  /// Whether the physical verification finds no error.
  private func inspect(_ files: MemoryFileSystem) throws -> Bool {
    let report = try verified(files).report
    let file = try files.open(FuzzFile.path, for: .reading)
    defer { file.close() }
    // Explaining every byte takes longer than all else, so only a quarter of the files get it.
    var sum: UInt8 = 0
    for byte in bytes.suffix(64) { sum &+= byte }
    var options = DumpOptions()
    options.bytes = sum % 4 == 0
    options.style = sum % 8 < 4 ? .text : .jsonLines
    var dump = try FileDump(file, options: options)
    var length = 0
    _ = try dump.run { text in
      length += text.utf8.count
      return length < 8 << 20
    }
    var readable = try ReadableTransactions(file)
    while try readable.next() != nil {}
    return report.isSound && report.warnings == 0
  }

  private func location(
    _ files: MemoryFileSystem, _ path: String = FuzzFile.path
  ) -> StoreLocation {
    StoreLocation(fileSystem: files, path: path)
  }

  /// Opens and reads the store. Returns whether it opened.
  private func open(_ files: MemoryFileSystem, upToDamage: Bool) -> Bool {
    var options = StoreOptions.readOnly
    options.readsUpToDamage = upToDamage
    guard let store = try? Store(location(files), creates: false, options: options) else {
      return false
    }
    FuzzFile.read(store)
    _ = try? store.verifyHistory()
    try? store.close()
    return true
  }

  /// Reads everything that a store has, in several ways.
  static func read(_ store: Store) {
    let head = store.token.number
    let base = store.base.number
    for number in [head, base, base + (head - base) / 2] {
      guard let snapshot = try? store.version.snapshot(at: number) else { continue }
      var state = CanonicalState(snapshot)
      try? state.write { _ in }
    }
    guard let history = try? store.history() else { return }
    let look = { (transaction: Transaction) in
      for change in transaction.changes {
        for property in change.properties { _ = property.edits }
      }
    }
    try? history.forEach { look($0) }
    try? history.reversed().forEach { look($0) }
    var export = HistoryExport(store, after: base, through: head)
    try? export.write { _ in }
  }

  private func write(_ files: MemoryFileSystem, wasSound: Bool) throws {
    let environment = StoreEnvironment.fixed(seed: 3)
    let isLogicallySound = {
      guard let store = try? Store(location(files), creates: false, options: .readOnly),
        let findings = try? store.verifyHistory()
      else { return false }
      return findings.allSatisfy { $0.severity != .error }
    }
    let wasSound = wasSound && isLogicallySound()
    guard let store = try? Store(location(files), creates: false, environment: environment) else {
      return
    }
    let token = try? store.importTransaction(author: "fuzz") { _ in }
    try? store.close()
    guard token != nil, wasSound else { return }
    let (report, findings) = try verified(files)
    precondition(report.isSound, "a sound store is not after a commit: \(findings)")
    precondition(isLogicallySound(), "a sound store does not verify after a commit")
  }
}
