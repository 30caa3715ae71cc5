import Annals
import AnnalsReplication
import AnnalsStorage
import AnnalsTestSupport
import Foundation
import Testing

/// Replicas that write at the same time let each other in.
@Suite(.deadline) struct GivingWayTests {
  private static var following: ReplicaOptions {
    var options = ReplicaWorld.options
    options.follows = true
    return options
  }

  private func insert(_ title: String, into replica: Replica) async throws -> Int64 {
    try await replica.commit { tx in _ = try tx.insert(Note(title: title)) }.token.number
  }

  /// Waits until a replica has heard that another one wants to be next.
  private func expectAsked(_ replica: Replica) async {
    while !replica.isAskedForTurn { await Task.yield() }
  }

  @Test func whoHasAskedIsNext() async throws {
    let world = ReplicaWorld(2)
    world.replicas = [try await world.open(0, Self.following), try await world.open(1)]
    world.log.ask(for: TurnRequest(asker: 7, length: .seconds(1)))
    let (busy, other) = (world.replicas[0], world.replicas[1])
    await expectAsked(busy)
    let before = busy.store.token.number
    async let late = insert("a", into: busy)
    while busy.waitingWrites == 0, busy.store.token.number == before { await Task.yield() }
    let first = try await insert("b", into: other)
    let second = try await late
    #expect(second == first + 1)
    #expect(!busy.isAskedForTurn)
  }

  @Test func nobodyIsWaitedForLong() async throws {
    let world = ReplicaWorld(1)
    world.replicas = [try await world.open(0, Self.following)]
    // However long somebody asks for; and again and again.
    world.log.ask(for: TurnRequest(asker: 7, length: .seconds(1_000_000)))
    await expectAsked(world.replicas[0])
    let asking = Task { [log = world.log] in
      while !Task.isCancelled {
        log.ask(for: TurnRequest(asker: 7, length: .seconds(1_000_000)))
        try? await Task.sleep(for: .milliseconds(1))
      }
    }
    _ = try await insert("a", into: world.replicas[0])
    asking.cancel()
  }

  @Test func whoIsTooSlowTwiceAsks() async throws {
    let world = ReplicaWorld(2)
    let gate = Gate(world.log)
    world.replicas = [
      try await world.open(0, Self.following, over: gate), try await world.open(1),
    ]
    let others = world.replicas[1]
    let requests = Locked<[TurnRequest]>([])
    let hearing = Task { [log = world.log] in
      for await request in log.turnRequests() { requests.withLock { $0.append(request) } }
    }
    let faster: Gate.Fault = .slower {
      _ = try? await others.write { tx in _ = try tx.insert(Note(title: "b")) }
    }
    func together() async throws {
      let results = try await gate.together(
        world.replicas[0],
        writes: (0..<2).map { _ in { tx in _ = try tx.insert(Note(title: "a")) } })
      #expect(results.allSatisfy { $0.value != nil })
    }
    // A listener that has begun.
    while requests.withLock({ $0.isEmpty }) {
      world.log.ask(for: TurnRequest(asker: 7, length: .zero))
      await Task.yield()
    }
    requests.withLock { $0 = [] }
    gate.breakNext(faster)
    try await together()
    world.log.ask(for: TurnRequest(asker: 8, length: .zero))
    while requests.withLock({ $0.last?.asker != 8 }) { await Task.yield() }
    // Once is no reason.
    #expect(requests.withLock { $0.filter { $0.asker != 7 && $0.asker != 8 } }.isEmpty)

    gate.breakNext(faster, faster)
    try await together()
    while requests.withLock({ $0.last?.asker == 8 }) { await Task.yield() }
    let asked = requests.withLock { $0 }.last
    #expect(asked.map { $0.length >= .milliseconds(20) && $0.length <= .seconds(1) } == true)
    // It asks others, not itself.
    #expect(!world.replicas[0].isAskedForTurn)
    hearing.cancel()
  }

  @Test func theWordsOfARequest() {
    let request = TurnRequest(asker: 0xFF01, length: .milliseconds(40))
    #expect("\(request)" == "ff01 40")
    #expect(TurnRequest("ff01 40") == request)
    #expect("\(TurnRequest(asker: 1, length: .microseconds(1)))" == "1 1")
    for text in ["", "ff01", "ff01 ", " 40", "ff01 40 ", "x 40", "ff01 -1", "ff01 99999999999"] {
      #expect(TurnRequest(text) == nil, "\(text)")
    }
  }
}
