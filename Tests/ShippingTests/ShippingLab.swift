import Annals
import AnnalsExchange
import AnnalsFaults
import AnnalsModel
import AnnalsStorage
import AnnalsTestSupport

@testable import AnnalsShipping

/// A store and a folder on one disk that fails on request.
struct ShippingLab {
  var disk: FaultyFileSystem
  static let storePath = "/a.annals"

  init(_ disk: FaultyFileSystem = FaultyFileSystem()) { self.disk = disk }

  static let schema = Schema {
    Entity("Note", displayName: "text") {
      Attribute("id", .string, isOptional: false, isUnique: true)
      Attribute("text", .string)
    }
  }

  var location: StoreLocation {
    StoreLocation(fileSystem: disk, path: ShippingLab.storePath)
  }

  /// A new store, or the one that is there.
  func store(durability: StoreOptions.Durability = .full, seed: UInt64 = 1) throws -> Store {
    var options = StoreOptions()
    options.durability = durability
    options.lockTimeout = .seconds(3_600)
    return try Store(
      location, schema: ShippingLab.schema, options: options,
      environment: .fixed(seed: seed, processName: "notes", processID: Int64(seed)))
  }

  var folder: ShippingFolder {
    let disk = disk
    return ShippingFolder(
      "/folder", in: disk,
      names: {
        disk.paths.filter { $0.hasPrefix("/folder/") }.map { String($0.dropFirst(8)) }
      }, make: {})
  }

  func shipper(_ options: ShippingOptions = ShippingOptions()) throws -> Shipper {
    try Shipper(
      ShippingLab.storePath, in: disk, to: folder, options: options, environment: .fixed(seed: 9))
  }

  /// One pass of a shipper of its own.
  @discardableResult
  func ship(_ options: ShippingOptions = ShippingOptions()) throws -> ShippingReport {
    let shipper = try shipper(options)
    defer { shipper.close() }
    return try shipper.pass()
  }

  /// What was shipped, in the order of names.
  var names: [String] { disk.paths.filter { $0.hasPrefix("/folder/") && !$0.hasSuffix(".lock") } }

  /// Restores to a new file and removes it after `body`.
  @discardableResult
  func restoring<R>(
    at number: Int64? = nil, _ body: (Store, RestoreReport) throws -> R
  ) throws -> R {
    let path = "/restored.annals"
    defer { try? disk.remove(path) }
    let report = try Store.restore(
      from: folder, to: path, in: disk, environment: .fixed(seed: 3),
      at: number.map { number in { store in try RestoredPoint(number, in: store) } })
    let store = try Store(
      StoreLocation(fileSystem: disk, path: path), creates: false, options: .readOnly,
      environment: .fixed(seed: 3))
    defer { try? store.close() }
    return try body(store, report)
  }

  /// The canonical state of a restored store, once it is found to be clean.
  func restored(at number: Int64? = nil) throws -> String {
    try restoring(at: number) { store, report in
      let findings = try store.verify().filter { $0.severity != .note }
      guard findings.isEmpty else { throw TestFailure("\(findings)") }
      guard report.number == store.token.number, number == nil || report.number == number else {
        throw TestFailure("\(report.number) instead of \(number ?? 0)")
      }
      return try canonical(store, at: report.number)
    }
  }
}

/// The canonical state of a store as of a transaction, with its token.
func canonical(_ store: Store, at number: Int64) throws -> String {
  let snapshot = try store.snapshot(at: number)
  var bytes: ContiguousArray<UInt8> = []
  var state = CanonicalState(snapshot)
  try state.write { bytes += $0 }
  return "\(snapshot.token)\n" + String(decoding: bytes, as: UTF8.self)
}

extension Store {
  /// Inserts a note in a transaction of its own.
  func note(_ id: String, text: String? = nil) throws {
    try write(author: "ann") { tx in
      _ = try tx.insert(
        "Note", ["id": .string(id), "text": text.map { .string($0) } ?? .null])
    }
  }
}
