// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// What the tests spend their time in. Where ANNALS_FAST_TESTS is set, as Tools/test does, it is
/// optimised, with the checks of a debug build. For nobody else: the package manager refuses such
/// flags in a dependency.
let hot: Set = [
  "AnnalsFormat", "AnnalsFrames", "AnnalsLog", "AnnalsModel", "AnnalsReplication", "AnnalsState",
  "AnnalsStorage",
]
let hotSettings: [SwiftSetting] =
  Context.environment["ANNALS_FAST_TESTS"] == nil
  ? []
  : [
    .unsafeFlags([
      "-O", "-assert-config", "Debug", "-whole-module-optimization", "-disable-batch-mode",
      "-num-threads", "2",
    ])
  ]

/// The linker's part: Swift Testing finds the function in AnnalsTestSupport that stands for the C
/// library's, and takes no backtraces.
let testLinking: [LinkerSetting] =
  hotSettings.isEmpty
  ? []
  : [.unsafeFlags(["-Xlinker", "--export-dynamic-symbol=backtrace"], .when(platforms: [.linux]))]

/// A target of the engine: `Sources/<name>`, with the arrows of Docs/Architecture.md.
func engine(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(
    name: name, dependencies: dependencies,
    swiftSettings: settings + (hot.contains(name) ? hotSettings : []))
}

/// A test target: `Tests/<name>`.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
  name: "annals",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Annals", targets: ["Annals"]),
    .library(name: "AnnalsExchange", targets: ["AnnalsExchange"]),
    .library(name: "AnnalsSalvage", targets: ["AnnalsSalvage"]),
    .library(name: "AnnalsUpgrade", targets: ["AnnalsUpgrade"]),
    .library(name: "AnnalsShipping", targets: ["AnnalsShipping"]),
    .library(name: "AnnalsReplication", targets: ["AnnalsReplication"]),
    .library(name: "AnnalsJetStream", targets: ["AnnalsJetStream"]),
    .library(name: "AnnalsInspector", targets: ["AnnalsInspector"]),
    .executable(name: "annals", targets: ["AnnalsCommand"]),
    .executable(name: "annals-torture", targets: ["AnnalsTortureProgram"]),
  ],
  traits: [
    .trait(name: "JetStream", description: "AnnalsJetStream, over the C client of NATS (libnats).")
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    // Instructions that Swift has no words for.
    .systemLibrary(name: "CProcessor"),
    engine("AnnalsModel"),
    engine("AnnalsFormat", ["AnnalsModel", "CProcessor", "CZlib"]),
    .systemLibrary(name: "CLinuxCalls"),
    engine("AnnalsStorage", ["CLinuxCalls", system]),
    engine("AnnalsState", ["AnnalsModel", "AnnalsFormat"]),
    engine("AnnalsQuery", ["AnnalsModel", "AnnalsState"]),
    engine("AnnalsFrames", ["AnnalsModel", "AnnalsFormat", "AnnalsStorage"]),
    engine("AnnalsLog", ["AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsFrames"]),
    engine("AnnalsInspection", ["AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsFrames"]),
    engine(
      "AnnalsDescription",
      ["AnnalsModel", "AnnalsFormat", "AnnalsInspection", "AnnalsStorage"]),
    engine(
      "AnnalsEngine",
      [
        "AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsState", "AnnalsLog",
        "AnnalsInspection", system,
      ]),
    engine(
      "AnnalsRecords",
      [
        "AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsState", "AnnalsLog",
        "AnnalsEngine", "AnnalsQuery",
      ]),
    engine(
      "Annals",
      [
        "AnnalsRecords", "AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsState", "AnnalsLog",
        "AnnalsEngine", "AnnalsQuery", system,
      ]),
    engine(
      "AnnalsSalvage",
      [
        "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsInspection", "AnnalsLog", "AnnalsModel",
        "AnnalsState", "AnnalsStorage",
      ]),
    engine(
      "AnnalsUpgrade",
      [
        "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsFrames", "AnnalsLog", "AnnalsModel",
        "AnnalsStorage",
      ]),
    engine(
      "AnnalsShipping",
      [
        "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsFrames", "AnnalsInspection", "AnnalsLog",
        "AnnalsModel", "AnnalsStorage", system,
      ]),
    engine(
      "AnnalsExchange",
      ["Annals", "AnnalsFormat", "AnnalsModel", "AnnalsState", "AnnalsStorage"]),
    engine(
      "AnnalsReplication",
      [
        "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsLog", "AnnalsModel", "AnnalsState",
        "AnnalsStorage", "CProcessor",
      ]),
    .systemLibrary(
      name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"]), .brew(["cnats"])]),
    // Empty without the trait, so that nobody else's build needs libnats.
    engine(
      "AnnalsJetStream",
      [
        "AnnalsReplication", "AnnalsStorage",
        .target(name: "CNATS", condition: .when(traits: ["JetStream"])),
      ]),
    engine(
      "AnnalsInspector",
      [
        "Annals", "AnnalsDescription", "AnnalsEngine", "AnnalsExchange", "AnnalsFormat",
        "AnnalsInspection", "AnnalsLog", "AnnalsModel", "AnnalsQuery", "AnnalsState",
        "AnnalsStorage", system,
      ]),
    .executableTarget(
      name: "AnnalsCommand",
      dependencies: [
        "Annals", "AnnalsDescription", "AnnalsExchange", "AnnalsInspection", "AnnalsInspector",
        "AnnalsJetStream", "AnnalsQuery", "AnnalsReplication", "AnnalsSalvage", "AnnalsShipping",
        "AnnalsStorage", "AnnalsUpgrade",
        .product(name: "ArgumentParser", package: "swift-argument-parser"), system,
      ],
      path: "Tools/annals",
      swiftSettings: settings),
    // A disk that fails on request, and what tries to lose data on it: for tests, and for
    // Tools/torture. No other product has them.
    .target(
      name: "AnnalsFaults", dependencies: ["AnnalsStorage", system],
      path: "Tools/Torture/AnnalsFaults", swiftSettings: settings),
    .target(
      name: "AnnalsTorture",
      dependencies: [
        "Annals", "AnnalsExchange", "AnnalsFaults", "AnnalsFormat", "AnnalsInspection",
        "AnnalsModel", "AnnalsReplication", "AnnalsSalvage", "AnnalsStorage", system,
      ],
      path: "Tools/Torture/AnnalsTorture", swiftSettings: settings),
    .executableTarget(
      name: "AnnalsTortureProgram",
      dependencies: [
        "AnnalsTorture", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/Torture/annals-torture", swiftSettings: settings),
    // The program in README.md; ClientTests compares the two and runs it.
    .executableTarget(
      name: "ReadmeProgram", dependencies: ["Annals"], path: "Tests/ReadmeProgram",
      swiftSettings: settings),
    // An app and its extension on one store; ClientTests runs both.
    .target(
      name: "ReadingList", dependencies: ["Annals"], path: "Tools/Examples/ReadingList/Store",
      swiftSettings: settings),
    .executableTarget(
      name: "ReadingListApp", dependencies: ["Annals", "ReadingList"],
      path: "Tools/Examples/ReadingList/App", swiftSettings: settings),
    .executableTarget(
      name: "ReadingListExtension", dependencies: ["Annals", "ReadingList"],
      path: "Tools/Examples/ReadingList/ShareExtension", swiftSettings: settings),
    // What several test targets use.
    .target(
      name: "AnnalsTestSupport",
      dependencies: ["AnnalsFormat", "AnnalsLog", "AnnalsModel", "AnnalsStorage"],
      path: "Tests/AnnalsTestSupport", swiftSettings: settings, linkerSettings: testLinking),
    tests(
      "ClientTests",
      [
        "Annals", "AnnalsSalvage", "AnnalsTestSupport", "ReadmeProgram", "ReadingListApp",
        "ReadingListExtension",
      ]),
    tests("ModelTests", ["AnnalsModel", "AnnalsTestSupport"]),
    tests("QueryTests", ["AnnalsQuery", "AnnalsModel", "AnnalsState", "AnnalsTestSupport"]),
    tests(
      "StoreTests",
      [
        "Annals", "AnnalsEngine", "AnnalsExchange", "AnnalsFaults", "AnnalsFormat",
        "AnnalsInspection", "AnnalsLog", "AnnalsModel", "AnnalsSalvage", "AnnalsState",
        "AnnalsStorage", "AnnalsTestSupport", "AnnalsTorture", system,
      ]),
    tests(
      "GuideTests",
      [
        "Annals", "AnnalsExchange", "AnnalsJetStream", "AnnalsReplication", "AnnalsShipping",
        "AnnalsTestSupport",
      ]),
    tests(
      "ReplicationTests",
      [
        "AnnalsReplication", "Annals", "AnnalsEngine", "AnnalsExchange", "AnnalsFaults",
        "AnnalsFormat", "AnnalsLog", "AnnalsModel", "AnnalsState", "AnnalsStorage",
        "AnnalsTestSupport", system,
      ]),
    tests(
      "ShippingTests",
      [
        "AnnalsShipping", "Annals", "AnnalsEngine", "AnnalsExchange", "AnnalsFaults",
        "AnnalsFormat", "AnnalsInspection", "AnnalsLog", "AnnalsModel", "AnnalsStorage",
        "AnnalsTestSupport", system,
      ]),
    tests(
      "JetStreamTests",
      [
        "AnnalsJetStream", "AnnalsReplication", "Annals", "AnnalsStorage", "AnnalsTestSupport",
        "AnnalsTorture",
      ]),
    tests(
      "RecordTests", ["Annals", "AnnalsFormat", "AnnalsModel", "AnnalsState", "AnnalsTestSupport"]),
    tests(
      "CommandTests",
      [
        "AnnalsCommand", "Annals", "AnnalsEngine", "AnnalsExchange", "AnnalsFormat",
        "AnnalsInspector", "AnnalsJetStream", "AnnalsModel", "AnnalsReplication", "AnnalsSalvage",
        "AnnalsStorage", "AnnalsTestSupport", "AnnalsUpgrade",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    tests(
      "InspectionTests",
      [
        "AnnalsDescription", "AnnalsInspection", "AnnalsSalvage", "AnnalsStorage", "AnnalsFormat",
        "AnnalsModel", "AnnalsTestSupport", system,
      ]),
    tests(
      "InspectorTests", ["AnnalsInspector", "Annals", "AnnalsModel", "AnnalsTestSupport"]),
    tests("FormatTests", ["AnnalsFormat", "AnnalsModel", "AnnalsTestSupport"]),
    tests(
      "StateTests",
      ["AnnalsState", "AnnalsFormat", "AnnalsModel", "AnnalsStorage", "AnnalsTestSupport"]),
    tests("StorageTests", ["AnnalsFaults", "AnnalsStorage", "AnnalsTestSupport", system]),
    tests(
      "LogTests",
      [
        "AnnalsLog", "AnnalsFaults", "AnnalsFormat", "AnnalsModel", "AnnalsStorage",
        "AnnalsTestSupport", system,
      ]),
    tests(
      "DamageTests",
      [
        "Annals", "AnnalsCommand", "AnnalsExchange", "AnnalsFaults", "AnnalsInspection",
        "AnnalsInspector", "AnnalsLog", "AnnalsFormat", "AnnalsModel", "AnnalsSalvage",
        "AnnalsState",
        "AnnalsStorage", "AnnalsTestSupport", system,
      ]),
    tests("DemoTests", ["AnnalsCommand", "AnnalsTestSupport"]),
    // What Tools/Fuzzing feeds its bytes to; FuzzTests feeds it some in every run.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Annals", "AnnalsDescription", "AnnalsExchange", "AnnalsFormat", "AnnalsInspection",
        "AnnalsInspector", "AnnalsModel", "AnnalsQuery", "AnnalsSalvage", "AnnalsStorage",
      ],
      path: "Tools/Fuzzing/Sources/FuzzTargets", swiftSettings: settings),
    tests(
      "FuzzTests",
      [
        "FuzzTargets", "Annals", "AnnalsCommand", "AnnalsFormat", "AnnalsInspection",
        "AnnalsModel", "AnnalsStorage", "AnnalsTestSupport",
      ]),
    tests(
      "TortureTests",
      [
        "AnnalsTorture", "AnnalsTortureProgram", "Annals", "AnnalsCommand", "AnnalsFaults",
        "AnnalsReplication", "AnnalsSalvage", "AnnalsStorage", "AnnalsModel", "AnnalsTestSupport",
        system,
      ]),
    tests("TidyTests", []),
  ],
  swiftLanguageModes: [.v6]
)
