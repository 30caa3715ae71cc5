import Annals
import Foundation
import Measuring

/// Phase 13: durable commits of one object by one process and by four at once, and how long each
/// waits. Phase 14: how soon a listener receives another process's commits, and the cost of
/// listening while nobody writes.
struct ProcessSession {
  let path: String
  let setup: Setup
  /// The number of transactions of each process.
  let commits: Int

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    commits = try options.number("operations", 4_000)
  }

  func run() async throws {
    let alone = try commit(byProcesses: 1)
    let together = try commit(byProcesses: 4)
    setup.recorder.value(
      "13b commits a second over one process's, 4 processes", together / alone, "x")
    try await listen()
  }

  /// Runs a number of writing processes. Returns the commits per second.
  private func commit(byProcesses count: Int) throws -> Double {
    unlink(path)
    try Store(path: path, records: PostRecord.self, options: setup.storeOptions).close()
    let writers = try (0..<count).map { _ in try WriterProcess(path, commits, pause: 0) }
    for writer in writers { try writer.begin() }
    let results = try writers.map { try $0.result() }
    guard let start = results.map(\.start).min(), let end = results.map(\.end).max() else {
      throw Failure("no process wrote")
    }
    let name = "\(count) process\(count == 1 ? "" : "es")"
    var taken = Mark() - Mark()
    taken.wall = end - start
    setup.recorder.record("13 durable commits, \(name)", items: commits * count, taken)
    // The figures of the process that waited longest.
    for (figure, part) in [("median", 0.5), ("99th percentile", 0.99), ("longest", 1.0)] {
      let waits = results.map { $0.wait(part) }
      setup.recorder.value(
        "13 wait for a commit, \(figure), \(name)", Double(waits.max() ?? 0) / 1e6, "ms")
    }
    let store = try Store(path: path, records: PostRecord.self, options: setup.storeOptions)
    try expect("posts", try store.snapshot().count(of: PostRecord.self), is: commits * count)
    try expect("head", Int(store.token.number), is: commits * count + 1)
    try store.close()
    return Double(commits * count) / (Double(end - start) / 1e9)
  }

  /// Listens with a stream and a live view, first while another process commits now and then, then
  /// while it is idle.
  private func listen() async throws {
    let store = try Store(path: path, records: PostRecord.self, options: setup.storeOptions)
    let view = store.live(Fetch(PostRecord.self).sorted(by: \.timestamp).limit(50)).observe { _ in }
    var iterator = try store.changes(after: store.token).makeAsyncIterator()
    let count = 100
    let writer = try WriterProcess(path, count, pause: 30)
    try writer.begin()
    var arrivals: [Int64] = []
    for _ in 0..<count {
      let transaction = try await iterator.next()
      guard case .int(let began)? = transaction?.metadata["began"] else {
        throw Failure("a transaction does not say when it began")
      }
      arrivals.append(Mark().wall - began)
    }
    _ = try writer.result()
    arrivals.sort()
    setup.recorder.value(
      "14 begin of a commit to its arrival elsewhere, median", Double(arrivals[count / 2]) / 1e6,
      "ms")
    setup.recorder.value(
      "14 begin of a commit to its arrival elsewhere, 99th percentile",
      Double(arrivals[count * 99 / 100]) / 1e6, "ms")
    setup.recorder.value(
      "14 begin of a commit to its arrival elsewhere, longest", Double(arrivals[count - 1]) / 1e6,
      "ms")
    try await Task.sleep(for: .seconds(1))
    let (start, switches) = (Mark(), Mark.voluntarySwitches)
    sleep(10)
    let taken = Mark() - start
    setup.recorder.record("14 listening for 10 s while nobody writes", items: 1, taken)
    setup.recorder.value(
      "14 times a thread went to sleep meanwhile", Double(Mark.voluntarySwitches - switches), "")
    view.cancel()
    try store.close()
  }
}

/// A process that commits: another instance of this program.
private final class WriterProcess {
  /// Its measurements, in nanoseconds of the common clock.
  struct Result {
    var start: Int64
    var end: Int64
    /// The duration of each commit, sorted.
    var waits: [Int64]

    func wait(_ part: Double) -> Int64 {
      waits[min(waits.count - 1, Int(Double(waits.count) * part))]
    }
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Starts the process and waits until it has opened the store.
  init(_ path: String, _ commits: Int, pause: Int) throws {
    process.executableURL = Bundle.main.executableURL
    process.arguments = [
      "writer", path, "--operations", "\(commits)", "--pause", "\(pause)",
    ]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    guard output.fileHandleForReading.readData(ofLength: 6) == Data("ready\n".utf8) else {
      throw Failure("a writing process could not begin")
    }
  }

  /// Starts the commits.
  func begin() throws { try input.fileHandleForWriting.close() }

  /// Waits until it exits.
  func result() throws -> Result {
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let numbers = String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap {
      Int64($0)
    }
    guard process.terminationStatus == 0, numbers.count > 2 else {
      throw Failure("a writing process failed")
    }
    return Result(start: numbers[0], end: numbers[1], waits: numbers[2...].sorted())
  }
}

/// The work of a writing process: waits for the end of its input, commits, and prints the start,
/// the end, and the duration of each commit.
struct WriterSession {
  let path: String
  let setup: Setup
  let commits: Int
  /// The pause before each commit, in milliseconds.
  let pause: Int

  init(_ path: String, _ setup: Setup, _ options: Options) throws {
    self.path = path
    self.setup = setup
    commits = try options.number("operations", 4_000)
    pause = try options.number("pause", 0)
  }

  func run() throws {
    let store = try Store(path: path, records: PostRecord.self, options: setup.storeOptions)
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    _ = FileHandle.standardInput.readDataToEndOfFile()
    var waits: [Int64] = []
    let start = Mark().wall
    for _ in 0..<commits {
      if pause > 0 { usleep(UInt32(pause) * 1_000) }
      let began = Mark().wall
      try store.write(author: "benchmark", metadata: ["began": .int(began)]) { tx in
        try tx.insert(ConcurrentSession.post())
      }
      waits.append(Mark().wall - began)
    }
    let end = Mark().wall
    try store.close()
    let text = ([start, end] + waits).map { "\($0)\n" }.joined()
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
