// swift-tools-version: 6.2
import PackageDescription

// A package of its own: who does not compare with GRDB need not fetch it.

let package = Package(
  name: "annals-grdb-peer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "annals-benchmarks", path: "../.."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .executableTarget(
      name: "grdb-history",
      dependencies: [
        .product(name: "Workload", package: "annals-benchmarks"),
        .product(name: "Measuring", package: "annals-benchmarks"),
        .product(name: "HistorySQL", package: "annals-benchmarks"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/GRDBPeer",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .treatAllWarnings(as: .error),
      ])
  ],
  swiftLanguageModes: [.v6]
)
