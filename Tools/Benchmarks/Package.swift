// swift-tools-version: 6.2
import Foundation
import PackageDescription

// A package of its own, so that its dependencies never become dependencies of the database.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "annals-benchmarks",
  platforms: [.macOS(.v15)],
  // For the packages in Peers.
  products: [
    .library(name: "Workload", targets: ["Workload"]),
    .library(name: "Measuring", targets: ["Measuring"]),
    .library(name: "HistorySQL", targets: ["HistorySQL"]),
  ],
  dependencies: [.package(name: "annals", path: "../..")],
  targets: [
    .target(name: "Workload", swiftSettings: settings),
    .target(name: "Measuring", swiftSettings: settings),
    .target(name: "HistorySQL", dependencies: ["Workload"], swiftSettings: settings),
    .executableTarget(
      name: "annals-benchmark",
      dependencies: [
        "Workload", "Measuring", .product(name: "Annals", package: "annals"),
        .product(name: "AnnalsExchange", package: "annals"),
      ],
      path: "Sources/AnnalsBenchmark", swiftSettings: settings),
    .executableTarget(
      name: "raw-append", dependencies: ["Workload", "Measuring"], path: "Sources/RawAppend",
      swiftSettings: settings),
    .testTarget(name: "WorkloadTests", dependencies: ["Workload"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)

// SQLite is only for comparison: without its header, that program is left out.
if ["/usr/include", "/usr/local/include", "/opt/homebrew/opt/sqlite/include"].contains(where: {
  FileManager.default.fileExists(atPath: $0 + "/sqlite3.h")
}) {
  package.targets += [
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
    .executableTarget(
      name: "sqlite-history", dependencies: ["Workload", "Measuring", "HistorySQL", "CSQLite"],
      path: "Sources/SQLitePeer", swiftSettings: settings),
  ]
}
