import FlyingSocks

/// The open connections: at most so many. Where there is no room, the one that was idle longest and
/// has no right to be here makes some.
actor Connections {
  private struct Entry {
    let socket: AsyncSocket
    let task: Task<Void, Never>
    var isKnown = false
    var isBusy = false
    var lastUse: ContinuousClock.Instant = .now
  }

  private var entries: [Int: Entry] = [:]
  private var next = 0
  private var streams = 0
  private let most: Int
  private let mostStreams: Int

  init(most: Int = 128, mostStreams: Int = 24) {
    self.most = most
    self.mostStreams = mostStreams
  }

  /// Serves a new connection, if there is room.
  func add(
    _ socket: AsyncSocket, serve: @escaping @Sendable (_ number: Int) async -> Void
  ) {
    if entries.count >= most { makeRoom() }
    guard entries.count < most else {
      try? socket.close()
      return
    }
    next += 1
    let number = next
    let task = Task {
      await serve(number)
      self.remove(number)
    }
    entries[number] = Entry(socket: socket, task: task)
  }

  private func makeRoom() {
    let idle = entries.filter { !$0.value.isBusy }
    let strangers = idle.filter { !$0.value.isKnown }
    let oldest = (strangers.isEmpty ? idle : strangers).min { $0.value.lastUse < $1.value.lastUse }
    guard let oldest else { return }
    entries[oldest.key] = nil
    oldest.value.task.cancel()
    try? oldest.value.socket.close()
  }

  /// Notes that a connection has a right to be here.
  func markKnown(_ number: Int) { entries[number]?.isKnown = true }

  /// Notes that a connection is being answered, or not any more.
  func mark(_ number: Int, isBusy: Bool) {
    entries[number]?.isBusy = isBusy
    entries[number]?.lastUse = .now
  }

  /// Admits one more stream of events; false if there are too many.
  func beginStream() -> Bool {
    guard streams < mostStreams else { return false }
    streams += 1
    return true
  }

  func endStream() { streams -= 1 }

  private func remove(_ number: Int) {
    guard let entry = entries.removeValue(forKey: number) else { return }
    try? entry.socket.close()
  }

  /// How many there are; for tests.
  var count: Int { entries.count }

  /// Closes all of them.
  func closeAll() {
    for entry in entries.values {
      entry.task.cancel()
      try? entry.socket.close()
    }
    entries = [:]
  }
}
