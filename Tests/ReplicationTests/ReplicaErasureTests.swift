import Annals
import AnnalsModel
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// An erasure travels, and is carried out in every file.
@Suite struct ReplicaErasureTests {
  private func bytes(_ world: ReplicaWorld, _ index: Int) throws -> ContiguousArray<UInt8> {
    try world.places[index].fileSystem.contents(of: world.places[index].path)
  }

  private func has(_ text: String, _ world: ReplicaWorld, _ index: Int) throws -> Bool {
    let bytes = try bytes(world, index)
    let wanted = Array(text.utf8)
    return bytes.indices.contains { bytes[$0...].starts(with: wanted) }
  }

  @Test func everyFileLosesTheValues() async throws {
    let world = ReplicaWorld(3)
    try await world.openAll()
    let (folder, note) = try await world.replicas[0].write { tx in
      let folder = try tx.insert(Folder(name: "keep"))
      return (folder, try tx.insert(Note(title: "SECRET-ONE", folder: Reference(folder))))
    }
    try await world.replicas[0].write { tx in
      try tx.update(Note.self, note.objectID) { $0.title = "SECRET-TWO" }
    }
    try await world.replicas[1].catchUp()
    #expect(try has("SECRET-ONE", world, 1))
    try await world.replicas[0].erase([note.objectID], reason: "asked", author: "me")
    try await world.expectEqual()
    for index in 0..<3 {
      #expect(try !has("SECRET-ONE", world, index) && !has("SECRET-TWO", world, index))
      #expect(try !has("secret-one", world, index))
    }
    let sizes = try world.replicas[2].store.snapshot().objects(of: Folder.self).map(\.value.size)
    #expect(sizes == [0])
    let folders = try world.replicas[2].store.snapshot().objects(of: Folder.self)
    #expect(folders.map(\.objectID) == [folder.objectID])
    for index in 0..<3 { try await world.replicas[index].close() }
    for index in 0..<3 { world.replicas[index] = try await world.open(index) }
    try await world.expectEqual()
  }

  @Test func propertiesAndWhatIsDerived() async throws {
    let world = ReplicaWorld(2)
    try await world.openAll()
    let note = try await world.replicas[0].write { tx in
      try tx.insert(Note(title: "SECRET", count: 3, image: Data(repeating: 65, count: 9_000)))
    }
    try await world.replicas[1].catchUp()
    try await world.replicas[1].erase(note.objectID, properties: ["image"], reason: "asked")
    try await world.expectEqual()
    #expect(try !has(String(repeating: "A", count: 5_000), world, 0))
    #expect(try world.replicas[0].store.snapshot().count(of: Note.self) == 1)
    let error = await #expect(throws: AnnalsError.self) {
      try await world.replicas[0].erase([note.objectID], reason: "")
    }
    #expect(error?.code == .invalidArgument)
  }

  /// The process ends between the transaction and the rewriting of its file.
  @Test func anErasureThatWasNotCarriedOutIsWhenTheFileIsOpened() async throws {
    let world = ReplicaWorld(2)
    world.replicas = [try await world.open(0)]
    let note = try await world.replicas[0].write { tx in
      try tx.insert(Note(title: "SECRET"))
    }
    world.replicas.append(try await world.open(1))
    try await world.replicas[0].erase([note.objectID], reason: "asked")
    // The second one takes the transactions as its file, and is not asked to rewrite it.
    for record in world.log.contents.records.dropFirst(2) {
      let transaction = try PortableTransaction(decoding: Array(record.bytes.dropFirst()))
      try commitDirectly(transaction, to: world.replicas[1].store)
    }
    #expect(try has("SECRET", world, 1))
    world.replicas[1] = try await world.open(1)
    #expect(try !has("SECRET", world, 1))
    try await world.expectEqual()
  }
}
