// swift-tools-version: 6.2
import Foundation
import PackageDescription

// A package of its own: each program is left out where its library's header is not found.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "annals-key-value-peers",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "annals-benchmarks", path: "../..")],
  targets: [
    .target(
      name: "KeyValuePosts",
      dependencies: [
        .product(name: "Workload", package: "annals-benchmarks"),
        .product(name: "Measuring", package: "annals-benchmarks"),
      ],
      swiftSettings: settings)
  ],
  swiftLanguageModes: [.v6]
)

func has(_ header: String) -> Bool {
  ["/usr/include", "/usr/local/include", "/opt/homebrew/include"].contains {
    FileManager.default.fileExists(atPath: "\($0)/\(header)")
  }
}

for (header, library, program, path) in [
  ("lmdb.h", "CLMDB", "lmdb-history", "Sources/LMDBPeer"),
  ("rocksdb/c.h", "CRocksDB", "rocksdb-history", "Sources/RocksDBPeer"),
] where has(header) {
  package.targets += [
    .systemLibrary(name: library),
    .executableTarget(
      name: program, dependencies: ["KeyValuePosts", .target(name: library)], path: path,
      swiftSettings: settings),
  ]
}
