import Testing

/// What a kind of index or of frame is like has one home, so that a new kind touches few files: the
/// others ask the kind, and do not name one. CONTRIBUTING.md, "Recipes", lists the files.
@Suite struct KindTests {
  @Test func fewFilesNameAnIndexKind() throws {
    let names = KindTests.files(in: try SourceFile.all(), naming: /\bisBox\b|\.box\b/)
    #expect(names.contains("Sources/AnnalsModel/Schema/IndexKind.swift"))
    #expect(names.count <= 5, "\(names)")
  }

  /// Five name the kind of any side record; two of the log write consumers with transactions.
  @Test func fewFilesNameAFrameKind() throws {
    let names = KindTests.files(in: try SourceFile.all(), naming: /\bconsumerChange\b/)
    #expect(names.contains("Sources/AnnalsFormat/Frames/FrameKind.swift"))
    #expect(names.count <= 7, "\(names)")
  }

  /// What walks over frames switches over their roles, and not over their kinds.
  @Test func onlyTheHomeSwitchesOverFrameKinds() throws {
    let names = KindTests.files(
      in: try SourceFile.all(), naming: /\bcase \.featureAnnouncement\b/)
    #expect(names == ["Sources/AnnalsFormat/Frames/FrameKind.swift"])
  }

  /// The canary: tests, comments and other words do not count.
  @Test func findsTheFilesThatNameAKind() {
    let texts = [
      ("Sources/AnnalsState/A.swift", "if shape.isBox { return }"),
      ("Tools/annals/B.swift", "// isBox\nindex.kind = .box\n"),
      ("Sources/AnnalsState/C.swift", "// isBox\nlet a = isBoxed || .boxes == \".box\"\n"),
      ("Tests/StateTests/D.swift", "let a = index.isBox"),
    ]
    let files = texts.map { SourceFile(path: $0, text: $1) }
    #expect(
      KindTests.files(in: files, naming: /\bisBox\b|\.box\b/)
        == ["Sources/AnnalsState/A.swift", "Tools/annals/B.swift"])
  }

  /// The files of the library and the command in whose code the expression matches.
  private static func files(
    in files: [SourceFile], naming expression: Regex<Substring>
  ) -> [String] {
    let simple = expression.wordBoundaryKind(.simple)
    return files.filter { file in
      (file.path.hasPrefix("Sources/") || file.path.hasPrefix("Tools/annals/"))
        && file.code.contains { $0.contains(simple) }
    }.map(\.path)
  }
}
