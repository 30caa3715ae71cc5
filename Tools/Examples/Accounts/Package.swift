// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that its dependencies never become dependencies of the database.

let package = Package(
  name: "accounts-server",
  platforms: [.macOS(.v15)],
  dependencies: [
    // The trait compiles AnnalsJetStream, which needs libnats.
    .package(name: "annals", path: "../../..", traits: ["JetStream"]),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    .executableTarget(
      name: "AccountsServer",
      dependencies: [
        .product(name: "Annals", package: "annals"),
        .product(name: "AnnalsJetStream", package: "annals"),
        .product(name: "AnnalsReplication", package: "annals"),
        .product(name: "FlyingFox", package: "FlyingFox"),
        .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ])
  ],
  swiftLanguageModes: [.v6]
)
