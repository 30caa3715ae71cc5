import CFuzzer
import Foundation
import FuzzTargets

// Fuzzer seeds TARGET FIXTURES FOLDER   writes the target's seeds into the folder
// Fuzzer TARGET OPTIONS...              runs libFuzzer on the target, with its options

func cannot(_ reason: String) -> Never {
  FileHandle.standardError.write(Data("fuzz: \(reason)\n".utf8))
  exit(2)
}

func writeSeeds(of target: FuzzTarget, from fixtures: String, to folder: String) throws {
  let names = try FileManager.default.contentsOfDirectory(atPath: fixtures)
  let files = try names.filter { $0.hasSuffix(".annals") }.sorted().map {
    ContiguousArray(try Data(contentsOf: URL(fileURLWithPath: "\(fixtures)/\($0)")))
  }
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  for (index, seed) in target.seeds(from: files).enumerated() {
    try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(index)"))
  }
}

/// The target; libFuzzer's callback cannot capture anything.
nonisolated(unsafe) var chosen = FuzzTarget.file

var arguments = CommandLine.arguments
if arguments.count == 5, arguments[1] == "seeds" {
  guard let target = FuzzTarget(rawValue: arguments[2]) else { cannot("no such target") }
  do {
    try writeSeeds(of: target, from: arguments[3], to: arguments[4])
  } catch {
    cannot("\(error)")
  }
  exit(0)
}
guard arguments.count > 1, let target = FuzzTarget(rawValue: arguments[1]) else {
  cannot("the targets are " + FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))
}
chosen = target
arguments.remove(at: 1)
var count = Int32(arguments.count)
var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
exit(
  pointers.withUnsafeMutableBufferPointer { buffer in
    var start = buffer.baseAddress
    return withUnsafeMutablePointer(to: &start) { start in
      start.withMemoryRebound(
        to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self, capacity: 1
      ) { argv in
        LLVMFuzzerRunDriver(&count, argv) { bytes, size in
          chosen.run(UnsafeRawBufferPointer(start: bytes, count: size))
          return 0
        }
      }
    }
  })
