import Annals
import Foundation
import Measuring
import Synchronization

/// The options of the command line for using the store.
struct Setup {
  let form: Form
  let durability: StoreOptions.Durability
  let lockMode: StoreOptions.LockMode
  let recorder: Recorder

  init(_ options: Options) throws {
    let form = try options.choice("form", "typed", "closures", "dynamic")
    let durability = try options.choice("durability", "full", "deferred")
    let lock = try options.choice("lock", "shared", "exclusive")
    self.form = Form(rawValue: form) ?? .typed
    self.durability = durability == "full" ? .full : .deferred
    lockMode = lock == "shared" ? .shared : .exclusive
    recorder = Recorder(peer: "annals", configuration: "\(form),\(durability),\(lock)")
  }

  var storeOptions: StoreOptions {
    var options = StoreOptions()
    options.durability = durability
    options.lockMode = lockMode
    return options
  }
}

/// A clock that shows the time of the workload's next transaction, so that timestamps take as many
/// bytes as in the other programs.
final class WorkloadClock: Sendable {
  private let microseconds = Atomic<Int64>(0)

  /// Sets the time.
  func set(_ time: Int64) {
    microseconds.store(time, ordering: .relaxed)
  }

  /// The system's environment with this clock.
  var environment: StoreEnvironment {
    var environment = StoreEnvironment.system
    environment.now = { Date(microseconds: self.microseconds.load(ordering: .relaxed)) }
    return environment
  }
}
