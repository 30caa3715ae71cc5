/// The rule for the folders of a module: each uses those below it alone, their types and what they
/// add to types by extensions.
enum FolderRules {
  /// The folders of a module from the bottom up; "" is the module's own. A module without an entry
  /// has no folders, or some that use one another.
  static let orders: [String: [String]] = [
    "Annals": [
      "", "Projections", "Store", "Editing", "Consumers", "Live", "Timelines", "Maintenance",
    ],
    "AnnalsCommand": [
      "Arguments", "Output", "Git", "Picture", "Timelines", "Replication", "Commands", "",
    ],
    "AnnalsEngine": [
      "Errors", "Options", "Reading", "States", "Head", "History", "Merging", "Commit",
      "Editing", "Consumers", "Verify", "Maintenance",
    ],
    "AnnalsExchange": ["JSON", "", "Programs"],
    "AnnalsFormat": [
      "", "Bytes", "Compression", "Frames", "Records", "Columns", "Consumers", "Tombstones",
      "Blocks", "Chunks", "Checkpoints",
    ],
    "AnnalsDescription": ["Regions", "Annotation", "Dump", "Statistics"],
    "AnnalsInspector": [
      "Documents", "Requests", "Histories", "Files", "Writing", "Stores", "Answers", "",
    ],
    "AnnalsInspection": ["Text", "Walk", "Frames", "Verification"],
    "AnnalsLog": ["", "Frames", "Tables", "Reading", "Recovery", "Writing", "Rewriting"],
    "AnnalsModel": ["", "Conditions", "Schema", "Transactions", "Timelines", "Lists"],
    "AnnalsQuery": ["Calendar", "Order", "Planning", "Text", "Grouping", "Timelines", "Lists"],
    "AnnalsJetStream": ["Options", "Connection", "Stream", ""],
    "AnnalsReplication": [
      "Digests", "Errors", "Log", "Transactions", "Branches", "Keeping", "Outbox", "Replica",
    ],
    "AnnalsRecords": ["Reading", "Records", "Queries", "Timelines"],
    "AnnalsSalvage": ["Reading", ""],
    "AnnalsShipping": ["Folder", "Shipping", "Restoring", ""],
    "AnnalsUpgrade": [""],
    "AnnalsState": ["Columns", "Index", "Tables", "", "Conditions"],
    "AnnalsStorage": ["Locks", "", "Platform", "Memory", "Posix"],
  ]

  /// What in `files` breaks the rule.
  static func violations(in files: [SourceFile]) -> [Violation] {
    let files = files.filter { orders[$0.module] != nil && !$0.isTest }
    let members = ownMembers(of: files)
    var places: [String: [Substring: Int]] = [:]
    var found: [Violation] = []
    for file in files {
      guard let level = file.level else {
        found.append(
          Violation(path: file.path, line: 1, rule: "the order of folders does not have this one"))
        continue
      }
      for type in file.declaredTypes { places[file.module, default: [:]][type] = level }
      for member in file.extensionMembers where members.contains(member) {
        places[file.module, default: [:]][member] = level
      }
    }
    for file in files {
      guard let own = file.level, let order = orders[file.module] else { continue }
      for (index, line) in file.code.enumerated() {
        for word in line.words where places[file.module]?[word] ?? 0 > own {
          let folder = order[places[file.module]?[word] ?? own]
          found.append(
            Violation(
              path: file.path, line: index + 1, rule: "\(word) is of \(folder), a folder above"))
        }
      }
    }
    return found
  }

  /// The names of members that only one declaration in all modules has, and that are two words or
  /// more: others may mean something else where they are used.
  private static func ownMembers(of files: [SourceFile]) -> Set<Substring> {
    var counts: [Substring: Int] = [:]
    for name in files.flatMap(\.declaredMembers) { counts[name, default: 0] += 1 }
    return Set(
      counts.filter { $0.value == 1 && $0.key.contains(where: \.isUppercase) }.map(\.key))
  }
}

extension SourceFile {
  /// The functions and properties that the file declares, private ones too.
  fileprivate var declaredMembers: [Substring] {
    code.compactMap { line in
      let words = line.words
      guard let kind = words.firstIndex(where: Self.kinds.contains),
        kind + 1 < words.count, words[..<kind].allSatisfy(Self.modifiers.contains)
      else { return nil }
      return words[kind + 1]
    }
  }

  /// Those that its extensions add to a type, and other files can use.
  fileprivate var extensionMembers: Set<Substring> {
    var isInside = false
    var found: Set<Substring> = []
    for line in code {
      if let first = line.first, first != " ", first != "}" {
        isInside = line.words.contains("extension")
      }
      let words = line.words
      guard isInside, line.hasPrefix("  "), !line.hasPrefix("   "),
        let kind = words.firstIndex(where: Self.kinds.contains),
        kind + 1 < words.count, words[..<kind].allSatisfy(Self.modifiers.contains),
        !words[..<kind].contains(where: { $0 == "private" || $0 == "fileprivate" })
      else { continue }
      found.insert(words[kind + 1])
    }
    return found
  }

  private static let kinds: Set<Substring> = ["func", "var", "let"]
  private static let modifiers: Set<Substring> = [
    "public", "package", "private", "fileprivate", "static", "mutating", "nonmutating", "final",
    "class", "override", "inlinable", "usableFromInline", "inline", "__always", "never",
    "discardableResult", "Sendable", "lazy", "weak", "unowned", "nonisolated", "consuming", "set",
  ]

  /// The place of the file's folder in its module's order, from the bottom; nil if it has none.
  fileprivate var level: Int? {
    let parts = path.split(separator: "/").dropFirst(2)
    return FolderRules.orders[module]?.firstIndex(of: parts.count > 1 ? String(parts[2]) : "")
  }

  /// The types that other files can name without another name before theirs.
  fileprivate var declaredTypes: [Substring] {
    let kinds: Set<Substring> = ["class", "struct", "enum", "actor", "protocol", "typealias"]
    return code.compactMap { line in
      guard let first = line.first, first != " " else { return nil }
      let words = line.words
      guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count,
        !words[..<kind].contains(where: { $0 == "private" || $0 == "fileprivate" })
      else { return nil }
      return words[kind + 1]
    }
  }
}

extension String {
  /// What could be names of types or words of the language.
  fileprivate var words: [Substring] {
    utf8.split { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        false
      default: true
      }
    }.map { Substring($0) }
  }
}
