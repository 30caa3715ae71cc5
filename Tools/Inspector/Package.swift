// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that its dependencies never become dependencies of the database.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "annals-inspector",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "annals-serve", targets: ["annals-serve"])],
  traits: [
    .trait(name: "JetStream", description: "The command's `replicate` over libnats.")
  ],
  dependencies: [
    .package(
      name: "annals", path: "../..",
      traits: [.trait(name: "JetStream", condition: .when(traits: ["JetStream"]))]),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    .target(
      name: "InspectorServer",
      dependencies: [
        .product(name: "AnnalsInspector", package: "annals"),
        .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      swiftSettings: settings),
    // The page's files, in the program. `.embedInCode` makes an array of each, which takes the
    // compiler half a minute; the plugin makes texts.
    .target(name: "InspectorPage", swiftSettings: settings, plugins: ["EmbedPage"]),
    .executableTarget(name: "embed-page", swiftSettings: settings),
    .plugin(name: "EmbedPage", capability: .buildTool(), dependencies: ["embed-page"]),
    .executableTarget(
      name: "annals-serve",
      dependencies: [
        "InspectorPage", "InspectorServer", .product(name: "Annals", package: "annals"),
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ServerTests",
      dependencies: [
        "InspectorPage", "InspectorServer", .product(name: "Annals", package: "annals"),
        .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
