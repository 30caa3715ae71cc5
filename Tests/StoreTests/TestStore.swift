import Annals
import AnnalsFormat
import AnnalsInspection
import AnnalsModel
import AnnalsStorage

/// A file in memory that several stores can open, one after the other or at once.
func memoryFile() -> StoreLocation {
  StoreLocation(fileSystem: MemoryFileSystem(), path: "/test.annals")
}

/// Notes with a unique id, in folders.
let noteSchema = Schema {
  Entity("Note", displayName: "text") {
    Attribute("id", .string, isOptional: false, isUnique: true, isPreservedAfterDeletion: true)
    Attribute("text", .string)
    Attribute("count", .int64)
    Relationship("folder", to: "Folder", onDelete: .keep)
  }
  Entity("Folder") {
    Attribute("name", .string, isUnique: true)
    Relationship("notes", to: "Note", isToMany: true, isOrdered: true, onDelete: .keep)
  }
}

/// A store of notes with a clock of its own. Unless the options say something else, it waits for a
/// lock as long as a busy machine may need.
func noteStore(
  _ location: StoreLocation = memoryFile(), options: StoreOptions = StoreOptions(), seed: UInt64 = 1
) throws -> Store {
  var options = options
  if options.lockTimeout == StoreOptions().lockTimeout { options.lockTimeout = .seconds(3_600) }
  return try Store(
    location, schema: noteSchema, options: options,
    environment: .fixed(seed: seed, processName: "notes", processID: Int64(seed)))
}

extension Store {
  /// Inserts a note in a transaction of its own.
  @discardableResult
  func note(_ id: String, text: String? = nil, author: String? = nil) throws -> ObjectID {
    var made: ObjectID?
    try write(author: author) { tx in
      made = try tx.insert("Note", ["id": .string(id), "text": text.map { .string($0) } ?? .null])
    }
    guard let made else { throw Mismatch("no note was made") }
    return made
  }

  /// The texts of all notes.
  func texts() throws -> [Value] { try snapshot().objects(of: "Note").map { $0["text"] } }

  /// The ids of all notes.
  func ids() throws -> [Value] { try snapshot().objects(of: "Note").map { $0["id"] } }
}

extension Store {
  /// What `verify` finds wrong; its notes are left out, as the clocks of tests begin anew with each
  /// opening.
  func problems() throws -> [StoreFinding] { try verify().filter { $0.severity != .note } }
}

extension FileSystem {
  /// What the bytes of a store's file have out of order, but for the clocks of tests, which begin
  /// anew with each opening.
  func findings(about path: String) throws -> [Finding] {
    var verification = try PhysicalVerification(try open(path, for: .reading))
    var found: [Finding] = []
    _ = try verification.run { if $0.subject != .timestamp { found.append($0) } }
    return found
  }

  /// The frames of these kinds in a store's file.
  func frames(of path: String, _ kinds: FrameKind...) throws -> [FileRegion] {
    try regions(of: path).filter { region in
      guard let kind = region.frame?.header.kind else { return false }
      return kinds.contains(kind)
    }
  }

  /// The regions of a store's file.
  func regions(of path: String) throws -> [FileRegion] {
    var walk = try FileWalk(try open(path, for: .reading))
    var regions: [FileRegion] = []
    while let region = try walk.next() { regions.append(region) }
    return regions
  }
}
