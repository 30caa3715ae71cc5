import AnnalsTestSupport
import Foundation
import Testing

/// The articles show code that is compiled and run: each block of Swift in an article stands in the
/// test file of the same name.
@Suite struct GuideTests {
  private static let catalogue = packageFolder.appending(path: "Sources/Annals/Annals.docc")

  /// The articles that have a test file.
  static let articles = [
    "GettingStarted", "RecordsAndSchemas", "QueriesAndLiveViews", "Timelines", "ReadingThePast",
    "SeveralProcesses", "Servers", "TestingInMemory", "ImportAndExport", "Errors",
    "EditingContexts", "Migrations", "Replicas", "Offline", "Shipping",
  ]

  @Test(arguments: articles) func everyBlockIsCompiledAndRun(_ article: String) throws {
    let page = try lines(of: Self.catalogue.appending(path: "\(article).md"))
    let program = try lines(
      of: packageFolder.appending(path: "Tests/GuideTests/\(article)Tests.swift"))
    let blocks = swiftBlocks(of: page)
    #expect(!blocks.isEmpty)
    for block in blocks {
      #expect(program.contains(block), "\(article).md shows code that no test has: \(block)")
    }
  }

  /// No other article has Swift in it, or it would have to be in the list above.
  @Test func theListIsWhole() throws {
    for file in try FileManager.default.contentsOfDirectory(
      at: Self.catalogue, includingPropertiesForKeys: nil)
    where file.pathExtension == "md" {
      let name = file.deletingPathExtension().lastPathComponent
      // `Projections` has its program in ClientTests.
      if Self.articles.contains(name) || name == "Projections" { continue }
      let blocks = swiftBlocks(of: try lines(of: file))
      #expect(blocks.isEmpty, "\(name).md has Swift and is not compiled")
    }
  }

  /// Every code is in the article about errors, once.
  @Test func everyErrorCodeIsExplained() throws {
    let page = try lines(of: Self.catalogue.appending(path: "Errors.md"))
    let source = packageFolder.appending(path: "Sources/AnnalsEngine/Errors/ErrorCode.swift")
    let text = try String(contentsOf: source, encoding: .utf8)
    let found = text.matches(of: /public static let (\w+) = Code\("(\w+)"\)/)
    for code in found { #expect(code.1 == code.2, "a code with the name of another") }
    let codes = found.map { String($0.1) }
    #expect(codes.count > 30)
    for code in codes {
      #expect(page.count { $0.hasPrefix("| `\(code)` |") } == 1, "Errors.md on \(code)")
    }
    #expect(page.count { $0.hasPrefix("| `") } == codes.count, "Errors.md has a code too many")
  }

  /// Every public type is in a group of the first page, also those that come from inner modules.
  @Test func theFirstPageNamesEveryPublicType() throws {
    let page = try String(contentsOf: Self.catalogue.appending(path: "Annals.md"), encoding: .utf8)
    var count = 0
    for module in [
      "Annals", "AnnalsEngine", "AnnalsExchange", "AnnalsModel", "AnnalsRecords",
      "AnnalsReplication", "AnnalsSalvage", "AnnalsShipping", "AnnalsUpgrade",
    ] {
      let folder = packageFolder.appending(path: "Sources/\(module)")
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      for file in files where file.hasSuffix(".swift") {
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        for type in text.matches(
          of: /(?m)^(?:@[^\n]*\s)?public (?:final |indirect )*(?:struct|enum|class|protocol) (\w+)/)
        {
          count += 1
          #expect(page.contains("- ``\(type.1)``"), "Annals.md does not name \(type.1)")
        }
      }
    }
    #expect(count > 100)
  }

  /// The lines without what they are indented by, without `private`, and without empty ones.
  private func lines(of file: URL) throws -> [String] {
    try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
      let line = $0.trimmingCharacters(in: .whitespaces)
      return line.hasPrefix("private ") ? String(line.dropFirst(8)) : line
    }.filter { !$0.isEmpty }
  }

  private func swiftBlocks(of page: [String]) -> [[String]] {
    var blocks: [[String]] = []
    var block: [String]?
    for line in page {
      if line == "```swift" {
        block = []
      } else if line == "```" {
        if let block { blocks.append(block) }
        block = nil
      } else {
        block?.append(line)
      }
    }
    return blocks
  }
}
