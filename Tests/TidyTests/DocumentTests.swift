import Foundation
import Testing

/// The project's documents lead where they say, and the map has what the code has.
@Suite struct DocumentTests {
  /// A document, by its path from the root of the package.
  private struct Document {
    let path: String
    let text: String

    init(_ path: String) throws {
      self.path = path
      text = try String(contentsOf: SourceFile.root.appending(path: path), encoding: .utf8)
    }

    /// The links to files of the package that lead nowhere.
    var brokenLinks: [String] {
      let folder = SourceFile.root.appending(path: path).deletingLastPathComponent()
      return text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }.filter { link in
        guard !link.contains("://"), !link.hasPrefix("#") else { return false }
        let file = link.prefix { $0 != "#" }
        return !FileManager.default.fileExists(atPath: folder.appending(path: file).path)
      }
    }
  }

  private static let decisions = "Docs/Decisions"

  /// The names of the pages of decisions.
  private static func pages() throws -> [String] {
    let folder = SourceFile.root.appending(path: decisions)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().filter {
      $0 != "README.md"
    }
  }

  @Test func everyLinkLeadsToAFile() throws {
    var paths = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "FORMAT.md"]
    let docs = SourceFile.root.appending(path: "Docs")
    paths += try FileManager.default.subpathsOfDirectory(atPath: docs.path).map { "Docs/\($0)" }
    var count = 0
    for path in paths where path.hasSuffix(".md") {
      let document = try Document(path)
      #expect(document.brokenLinks == [], "\(path)")
      count += 1
    }
    #expect(count > 50)
  }

  /// Each has a number of its own, a status and a date, and stands in the index with its title.
  @Test func theIndexHasEveryDecision() throws {
    let index = try Document("\(Self.decisions)/README.md").text
    let pages = try Self.pages()
    #expect(pages.count > 50)
    for (place, page) in pages.enumerated() {
      let number = page.prefix(4)
      #expect(Int(number) == place + 1, "\(page) does not have the next number")
      let lines = try Document("\(Self.decisions)/\(page)").text.split(separator: "\n")
      let title = lines[0].dropFirst("# \(number): ".count)
      #expect(lines[0].hasPrefix("# \(number): "), "\(page)")
      #expect(lines[1].contains(/^Status: (accepted|replaced by \[)/), "\(page)")
      #expect(lines[2].contains(/^Date: \d{4}-\d\d-\d\d$/), "\(page)")
      #expect(index.contains("| [\(number)](\(page)) | \(title) | "), "\(page) is not in the index")
    }
    #expect(index.matches(of: /(?m)^\| \[\d{4}\]/).count == pages.count)
  }

  /// The folders of every module are in the map.
  @Test func theMapHasEveryFolder() throws {
    let map = try Document("Docs/Architecture.md").text.split(separator: "\n")
    for (module, folders) in FolderRules.orders {
      let row = try #require(map.last { $0.hasPrefix("| \(module) ") }, "no row for \(module)")
      let ownPage = "Docs/Architecture/\(module.dropFirst("Annals".count)).md"
      let place = row.contains("](Architecture/") ? try Document(ownPage).text : String(row)
      for folder in folders where !folder.isEmpty {
        let isThere = [" |", ":", ","].contains { place.contains(" \(folder)\($0)") }
        #expect(isThere, "the map of \(module) lacks \(folder)")
      }
    }
  }
}
