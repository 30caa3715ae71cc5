// swift-tools-version: 6.2
import PackageDescription

// A package of its own, since the engine must be compiled with coverage, too: its sources are built
// here a second time, through the link `Engine`.

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .unsafeFlags(["-sanitize=fuzzer,address"]),
]

func engine(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Engine/\(name)", swiftSettings: settings)
}

let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")

let package = Package(
  name: "annals-fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/apple/swift-system", from: "1.6.0")],
  targets: [
    .systemLibrary(name: "CZlib", path: "Engine/CZlib", pkgConfig: "zlib"),
    .systemLibrary(name: "CLinuxCalls", path: "Engine/CLinuxCalls"),
    engine("AnnalsModel"),
    engine("AnnalsFormat", ["AnnalsModel", "CZlib"]),
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
      "Annals",
      [
        "AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsState", "AnnalsLog",
        "AnnalsEngine", "AnnalsQuery", system,
      ]),
    engine(
      "AnnalsSalvage",
      [
        "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsInspection", "AnnalsLog", "AnnalsModel",
        "AnnalsState", "AnnalsStorage",
      ]),
    engine(
      "AnnalsExchange",
      ["Annals", "AnnalsFormat", "AnnalsModel", "AnnalsState", "AnnalsStorage"]),
    engine(
      "AnnalsInspector",
      [
        "Annals", "AnnalsDescription", "AnnalsEngine", "AnnalsExchange", "AnnalsFormat",
        "AnnalsInspection", "AnnalsLog", "AnnalsModel", "AnnalsQuery", "AnnalsState",
        "AnnalsStorage", system,
      ]),
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Annals", "AnnalsDescription", "AnnalsExchange", "AnnalsFormat", "AnnalsInspection",
        "AnnalsInspector", "AnnalsModel", "AnnalsQuery", "AnnalsSalvage", "AnnalsStorage",
      ],
      swiftSettings: settings),
    .systemLibrary(name: "CFuzzer"),
    .executableTarget(
      name: "Fuzzer", dependencies: ["FuzzTargets", "CFuzzer"], swiftSettings: settings,
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]),
  ],
  swiftLanguageModes: [.v6]
)
