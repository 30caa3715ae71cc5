/// A place that breaks a rule.
struct Violation: Hashable, CustomStringConvertible {
  let path: String
  let line: Int
  let rule: String

  var description: String { "\(path):\(line): \(rule)" }
}

/// The rules for every Swift file of the package that no compiler checks.
enum TidyRules {
  static let longestFile = 500
  static let longestLine = 100
  static let longestFunction = 70

  /// What in `file` breaks a rule.
  static func violations(in file: SourceFile) -> [Violation] {
    size(of: file) + functions(of: file) + imports(of: file) + platforms(of: file)
      + mutexes(of: file) + names(of: file) + force(of: file) + notes(of: file)
      + commands(of: file) + verbs(of: file)
  }

  static func size(of file: SourceFile) -> [Violation] {
    var found: [Violation] = []
    if file.lines.count > longestFile {
      found.append(
        Violation(
          path: file.path, line: file.lines.count,
          rule: "more than \(longestFile) lines in a file"))
    }
    for (index, line) in file.lines.enumerated() where line.count > longestLine {
      found.append(
        Violation(
          path: file.path, line: index + 1, rule: "more than \(longestLine) characters in a line"))
    }
    return found
  }

  static func functions(of file: SourceFile) -> [Violation] {
    FunctionScan.bodies(in: file.code).filter { $0.count > longestFunction }.map {
      Violation(
        path: file.path, line: $0.lowerBound + 1,
        rule: "more than \(longestFunction) lines in a function")
    }
  }

  /// The modules that each module may import beside the standard library; these are the only
  /// arrows.
  static let arrows: [String: Set<String>] = [
    "AnnalsModel": [],
    "AnnalsFormat": ["AnnalsModel", "CProcessor", "CZlib"],
    "AnnalsStorage": ["SystemPackage", "CLinuxCalls", "Darwin", "Glibc", "Musl"],
    "AnnalsFaults": ["AnnalsStorage", "SystemPackage"],
    "AnnalsState": ["AnnalsModel", "AnnalsFormat"],
    "AnnalsQuery": ["AnnalsModel", "AnnalsState", "Foundation"],
    "AnnalsFrames": ["AnnalsModel", "AnnalsFormat", "AnnalsStorage"],
    "AnnalsLog": ["AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsFrames"],
    "AnnalsInspection": ["AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsFrames"],
    "AnnalsEngine": [
      "AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsState", "AnnalsLog",
      "AnnalsInspection", "SystemPackage",
    ],
    "AnnalsDescription": ["AnnalsModel", "AnnalsFormat", "AnnalsInspection", "AnnalsStorage"],
    "AnnalsUpgrade": [
      "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsFrames", "AnnalsLog", "AnnalsModel",
      "AnnalsStorage",
    ],
    "AnnalsShipping": [
      "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsFrames", "AnnalsInspection", "AnnalsLog",
      "AnnalsModel", "AnnalsStorage", "SystemPackage", "Foundation",
    ],
    "AnnalsSalvage": [
      "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsInspection", "AnnalsLog", "AnnalsModel",
      "AnnalsState", "AnnalsStorage",
    ],
    "AnnalsRecords": [
      "AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsState", "AnnalsLog",
      "AnnalsEngine", "AnnalsQuery", "Foundation",
    ],
    "Annals": [
      "AnnalsRecords", "AnnalsModel", "AnnalsFormat", "AnnalsStorage", "AnnalsState", "AnnalsLog",
      "AnnalsEngine", "AnnalsQuery", "SystemPackage",
      "Foundation", "FoundationEssentials", "Observation",
    ],
    "AnnalsJetStream": ["AnnalsReplication", "AnnalsStorage", "CNATS", "Dispatch", "Foundation"],
    "AnnalsReplication": [
      "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsLog", "AnnalsModel", "AnnalsState",
      "AnnalsStorage", "CProcessor", "Foundation",
    ],
    "AnnalsExchange": [
      "Annals", "AnnalsFormat", "AnnalsModel", "AnnalsState", "AnnalsStorage", "Foundation",
    ],
    "AnnalsInspector": [
      "Annals", "AnnalsDescription", "AnnalsEngine", "AnnalsExchange", "AnnalsFormat",
      "AnnalsInspection", "AnnalsLog", "AnnalsModel", "AnnalsQuery", "AnnalsState",
      "AnnalsStorage", "SystemPackage", "Foundation",
    ],
    "AnnalsTorture": [
      "Annals", "AnnalsExchange", "AnnalsFaults", "AnnalsFormat", "AnnalsInspection",
      "AnnalsModel", "AnnalsReplication", "AnnalsSalvage", "AnnalsStorage",
      "SystemPackage", "Foundation",
    ],
    "AnnalsCommand": [
      "Annals", "AnnalsDescription", "AnnalsExchange", "AnnalsInspection", "AnnalsInspector",
      "AnnalsJetStream", "AnnalsQuery", "AnnalsReplication", "AnnalsSalvage", "AnnalsShipping",
      "AnnalsStorage", "AnnalsUpgrade", "ArgumentParser", "SystemPackage", "Foundation",
    ],
  ]
  private static let everywhere: Set<String> = ["Swift", "Synchronization"]

  static func imports(of file: SourceFile) -> [Violation] {
    guard let allowed = arrows[file.module] else { return [] }
    return file.importedModules.filter { !allowed.union(everywhere).contains($0.module) }.map {
      Violation(path: file.path, line: $0.line, rule: "\(file.module) may not import \($0.module)")
    }
  }

  static func platforms(of file: SourceFile) -> [Violation] {
    if file.module == "AnnalsStorage" { return [] }
    let pattern = /canImport\((Darwin|Glibc|Musl)|import (Darwin|Glibc|Musl)\b/
    return file.matches(of: pattern, having: "mport").map {
      Violation(path: file.path, line: $0, rule: "a platform is named outside AnnalsStorage")
    }
  }

  static func mutexes(of file: SourceFile) -> [Violation] {
    if file.path == "Sources/AnnalsStorage/Locks/Locked.swift" { return [] }
    return file.matches(of: /\bMutex\b/, having: "Mutex").map {
      Violation(
        path: file.path, line: $0, rule: "the thread sanitizer does not see a Mutex: use Locked")
    }
  }

  static func names(of file: SourceFile) -> [Violation] {
    let declaration =
      /\b(class|struct|enum|actor|protocol|typealias)\s+\w*(Manager|Helper|Util|Utility|Info)s?\b/
    var lines = ["Manager", "Helper", "Util", "Info"].flatMap {
      file.matches(of: declaration, having: $0)
    }
    if file.path.contains(/(Manager|Helper|Util|Utility|Utilities|Info)s?\.swift$/) {
      lines.append(1)
    }
    return lines.map {
      Violation(path: file.path, line: $0, rule: "a name that says nothing of what it owns")
    }
  }

  /// Modules whose functions are named for what they do; to grow to all.
  static let modulesWithClearVerbs: Set<String> = [
    "Annals", "AnnalsEngine", "AnnalsFormat", "AnnalsFrames", "AnnalsLog", "AnnalsModel",
    "AnnalsQuery", "AnnalsRecords", "AnnalsState", "AnnalsStorage",
  ]

  /// A verb that fits any operation says nothing: `decode`, `adopt`, `seal`, `apply`… do.
  static func verbs(of file: SourceFile) -> [Violation] {
    guard modulesWithClearVerbs.contains(file.module) else { return [] }
    return file.matches(
      of: /\bfunc (take|takeBack|finish|settle|moveOn|transact|prepare|look)\b/, having: "func "
    ).map {
      Violation(path: file.path, line: $0, rule: "a verb that fits any operation")
    }
  }

  static func force(of file: SourceFile) -> [Violation] {
    if file.isTest { return [] }
    return file.matches(of: /(\btry|\bas|[\w)\]}?])!(?![=\w])/, having: "!").map {
      Violation(path: file.path, line: $0, rule: "an optional or an error is forced")
    }
  }

  /// A message of the library reads the same to a program that knows no command.
  static func commands(of file: SourceFile) -> [Violation] {
    // What the inspector shows is of the command, too.
    guard file.path.hasPrefix("Sources/"), file.module != "AnnalsInspector" else { return [] }
    let command = /".*\bannals [a-z]+ |".*\bannals (verify|salvage|compact|export|import|schema)\b/
    return file.lines.indices.filter { index in
      let line = file.lines[index]
      return line.contains("annals ") && file.code[index].contains { $0 != " " }
        && line.contains(command)
    }.map {
      Violation(path: file.path, line: $0 + 1, rule: "the library names the command")
    }
  }

  static func notes(of file: SourceFile) -> [Violation] {
    // In two parts, so that this file keeps its own rule.
    let words = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    return file.lines.enumerated().filter { line in
      words.contains { line.element.contains($0) }
    }.map {
      Violation(path: file.path, line: $0.offset + 1, rule: "a note for later: write an issue")
    }
  }
}

extension SourceFile {
  /// The modules that the file imports, with their lines counted from 1.
  var importedModules: [(module: String, line: Int)] {
    code.enumerated().compactMap { index, line in
      var words = line.split(separator: " ")[...]
      let access: Set<Substring> = ["public", "package", "internal", "private", "fileprivate"]
      words = words.drop { $0.hasPrefix("@") || access.contains($0) }
      guard words.popFirst() == "import" else { return nil }
      let kinds: Set<Substring> = ["class", "struct", "enum", "func", "protocol", "typealias"]
      if let kind = words.first, kinds.contains(kind) { words.removeFirst() }
      guard let module = words.first?.prefix(while: { $0 != "." && $0 != ";" }) else { return nil }
      return (String(module), index + 1)
    }
  }

  /// The lines of code, counted from 1, in which `pattern` occurs; `word` is a part of whatever it
  /// matches, and is faster to find.
  func matches<Output>(of pattern: Regex<Output>, having word: String) -> [Int] {
    code.indices.filter { code[$0].contains(word) && code[$0].contains(pattern) }.map { $0 + 1 }
  }
}
