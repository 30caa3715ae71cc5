// The kinds of fields, by key path.

extension DefinitionField {
  typealias Path<Content> = any WritableKeyPath<Owner, Content> & Sendable

  static func flag(_ name: String, _ path: Path<Bool>, unless usual: Bool = false) -> Self {
    Self(name, .flag(usual: usual)) {
      $0[keyPath: path] == usual ? nil : .flag(!usual)
    } set: {
      if case .flag(let flag) = $1 { $0[keyPath: path] = flag }
    }
  }

  static func number(_ name: String, _ path: Path<UInt32>) -> Self {
    Self(name, .number) {
      $0[keyPath: path] == 0 ? nil : .number($0[keyPath: path])
    } set: {
      if case .number(let number) = $1 { $0[keyPath: path] = number }
    }
  }

  static func whole(_ name: String, _ path: Path<Int64?>) -> Self {
    Self(name, .whole) {
      $0[keyPath: path].map { .whole($0) }
    } set: {
      if case .whole(let number) = $1 { $0[keyPath: path] = number }
    }
  }

  /// A text that is always written.
  static func text(_ name: String, _ path: Path<String>) -> Self {
    Self(name, .text) {
      .text($0[keyPath: path])
    } set: {
      if case .text(let text) = $1 { $0[keyPath: path] = text }
    }
  }

  static func text(_ name: String, _ path: Path<String?>) -> Self {
    Self(name, .text) {
      $0[keyPath: path].map { .text($0) }
    } set: {
      if case .text(let text) = $1 { $0[keyPath: path] = text }
    }
  }

  /// A case, by its name; always written unless it is the usual one.
  static func word<Case: CaseIterable & Hashable & Sendable>(
    _ name: String, _ path: Path<Case>, unless usual: Case? = nil, refusal: String
  ) -> Self {
    Self(name, .word(Case.allCases.map { "\($0)" }, refusal: refusal)) {
      $0[keyPath: path] == usual ? nil : .word("\($0[keyPath: path])")
    } set: { owner, content in
      guard case .word(let word) = content else { return }
      for one in Case.allCases where "\(one)".hasSameBytes(as: word) { owner[keyPath: path] = one }
    }
  }

  static func value(_ name: String, _ path: Path<Value?>, of type: Path<AttributeType>) -> Self {
    Self(name, .value) { owner in
      owner[keyPath: path].map { .value($0, owner[keyPath: type]) }
    } set: {
      if case .value(let value, _) = $1 { $0[keyPath: path] = value }
    }
  }

  static func values(_ name: String, _ path: Path<[Value]>, of type: Path<AttributeType>) -> Self {
    Self(name, .values) {
      $0[keyPath: path].isEmpty ? nil : .values($0[keyPath: path], $0[keyPath: type])
    } set: {
      if case .values(let values, _) = $1 { $0[keyPath: path] = values }
    }
  }

  /// A value of any kind, or null; always written.
  static func any(_ name: String, _ path: Path<Value>) -> Self {
    Self(name, .any) {
      .value($0[keyPath: path], .any)
    } set: {
      if case .value(let value, _) = $1 { $0[keyPath: path] = value }
    }
  }

  static func part<Part: Definition>(_ name: String, _ path: Path<Part?>) -> Self {
    Self(name, .part(Part.shape)) {
      $0[keyPath: path].map { .part($0.members) }
    } set: {
      if case .part(let part) = $1 { $0[keyPath: path] = Part(part) }
    }
  }

  static func list<Part: Definition>(_ name: String, _ path: Path<[Part]>) -> Self {
    Self(name, .list(Part.shape)) {
      $0[keyPath: path].isEmpty ? nil : .list($0[keyPath: path].map(\.members))
    } set: {
      if case .list(let parts) = $1 { $0[keyPath: path] = parts.map { Part($0) } }
    }
  }
}
