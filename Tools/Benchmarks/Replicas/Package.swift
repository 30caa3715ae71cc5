// swift-tools-version: 6.2
import PackageDescription

// A package of its own: who does not measure replicas needs no libnats.

let package = Package(
  name: "annals-replicas",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "annals", path: "../../..", traits: ["JetStream"])],
  targets: [
    .executableTarget(
      name: "replicas",
      dependencies: [
        .product(name: "Annals", package: "annals"),
        .product(name: "AnnalsExchange", package: "annals"),
        .product(name: "AnnalsJetStream", package: "annals"),
        .product(name: "AnnalsReplication", package: "annals"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ])
  ],
  swiftLanguageModes: [.v6]
)
