import Annals
import AnnalsEngine
import AnnalsModel
import AnnalsStorage
import Foundation

/// Registers the replica of a file in the log.
///
/// Which replica a file is stands in a small file beside it, which copies, backups and snapshots do
/// not have, and which stays when the file is rewritten or made anew.
struct Registrar: Sendable {
  let log: PatientLog
  let fileSystem: any FileSystem
  /// The path of the replica's file.
  let path: String
  let options: ReplicaOptions
  let environment: StoreEnvironment

  private static let fromSnapshot = "from a snapshot"

  private var side: SideText {
    SideText(fileSystem: fileSystem, file: path, suffix: Registrar.suffix)
  }
  private static let suffix = ".replica"

  /// The path of the small file beside that of a replica.
  static func sidePath(of path: String) -> String { path + suffix }

  /// Which replica the file is; makes it one of its own if that is not known.
  func id() throws -> UUID {
    if let known = try side.lines().first.flatMap({ UUID(uuidString: $0) }) { return known }
    let new = UUID(environment.makeUUID())
    try side.write([new.uuidString], by: environment.processID)
    return new
  }

  /// Whether the file is of a snapshot, with the consumers of the replica that put it.
  func hasOthersConsumers() throws -> Bool {
    try side.lines().dropFirst().contains(Registrar.fromSnapshot)
  }

  /// Notes whether the file is of a snapshot, with others' consumers.
  func note(othersConsumers: Bool) throws {
    try side.write(
      [try id().uuidString] + (othersConsumers ? [Registrar.fromSnapshot] : []),
      by: environment.processID)
  }

  /// What the replica has to say; nil if it does not register.
  func registration(at place: ReplicaPlace) throws -> ReplicaRegistration? {
    guard let lease = options.lease else { return nil }
    return ReplicaRegistration(
      id: try id(), name: options.name ?? usualName, at: place, renewed: Date(environment.clock()),
      lease: lease)
  }

  /// The machine and the file.
  private var usualName: String {
    let file = path.split(separator: "/").last.map { String($0) } ?? path
    return "\(Registrar.machine):\(file)"
  }

  /// Linux says it without a look into a directory of names, which may take long.
  private static let machine: String = {
    let text = try? String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8)
    let name = text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    return name.isEmpty ? ProcessInfo.processInfo.hostName : name
  }()

  /// Puts a registration into the log, in place of the one that the replica had.
  func register(
    _ registration: ReplicaRegistration, _ retries: inout Retries
  ) async throws {
    try await log.asking(&retries) { log throws(SharedLogError) in
      try await log.complete(registration.object)
    }
  }
}

extension SharedLog {
  /// Removes the registration of a replica that is gone for good, so that the log is not kept for
  /// it any longer. One that is not gone registers again within `ReplicaOptions.upkeep`, and takes
  /// a snapshot if the log was trimmed beyond what it needs meanwhile. Does nothing if there is
  /// none.
  ///
  /// Throws as `remove(object:)`.
  public func unregister(replica id: UUID) async throws(SharedLogError) {
    try await remove(object: ReplicaRegistration.objectName(of: id))
  }

  /// The replicas that are registered in the log, by their names. Registrations of a later version
  /// are left out. Some round trips, as for `objects(beginning:)`, and throws as that.
  public func registeredReplicas() async throws(SharedLogError) -> [ReplicaRegistration] {
    try await objects(beginning: ReplicaRegistration.prefix)
      .compactMap { ReplicaRegistration($0) }
      .sorted { ($0.name, $0.id.uuidString) < ($1.name, $1.id.uuidString) }
  }
}

extension PatientLog {
  /// The registrations in the log, by their ids. Throws `.newerVersion` if one cannot be read: what
  /// it needs is not known.
  func registrations(_ retries: inout Retries) async throws -> [ReplicaRegistration] {
    let objects = try await objects(beginning: ReplicaRegistration.prefix, &retries)
    return try ReplicaRegistration.reading(objects)
  }
}
