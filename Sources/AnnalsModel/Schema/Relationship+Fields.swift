// What relationships and indexes consist of, and how relationships follow programs.

extension Relationship: Definition {
  package static let title = "relationship"

  package static let fields: [DefinitionField<Relationship>] = [
    .text("name", \.name),
    .number("number", \.number),
    // The same destination is checked where names are known.
    .text("to", \.destinationName).needed("does not say to which entity"),
    .flag("optional", \.isOptional, unless: true).said("required")
      .item(1, "every object has one")
      .grows { stored, needed in
        // A narrowing is checked at the end of the transaction, with the values that it sets.
        stored.isOptional = needed.isOptional
        // What every object has cannot be cleared.
        if stored.isRequired, stored.deleteRule == .nullify { stored.deleteRule = .deny }
      },
    .flag("toMany", \.isToMany)
      .growsUnless { stored, needed in
        guard stored.isToMany != needed.isToMany else { return nil }
        let (own, other) = stored.isToMany ? ("many", "one") : ("one", "many")
        return "the store has it to-\(own), not to-\(other)"
      },
    .flag("ordered", \.isOrdered)
      .growsUnless { stored, needed in
        needed.isOrdered && !stored.isOrdered && stored.isToMany == needed.isToMany
          ? "the store has it unordered, not ordered" : nil
      },
    DefinitionField(
      "onDelete",
      .word(
        DeleteRule.codes.map(\.rawValue), refusal: "is none of nullify, cascade, deny and keep")
    ) {
      $0.deleteRule == .keep ? nil : $0.deleteRule.map { .word($0.rawValue) }
    } set: { relationship, content in
      guard case .word(let word) = content else { return }
      relationship.deleteRule = DeleteRule(rawValue: word) ?? relationship.deleteRule
    }.said("on delete").item(3, "delete rule")
      .grows { $0.deleteRule = $1.deleteRule ?? $0.deleteRule },
    .text("inverse", \.inverseName).said("inverse").item(5, "name of the inverse").declared(),
    // A least number of 0 is none.
    DefinitionField("minimumCount", .whole) {
      $0.minimumCount == 0 ? nil : $0.minimumCount.map { .whole($0) }
    } set: {
      if case .whole(let least) = $1 { $0.minimumCount = least }
    }.said("count from").item(7, "least number of objects")
      .grows { stored, needed in
        // Both limits are declared at once; what is stored is checked at the end.
        if needed.minimumCount != nil || needed.maximumCount != nil {
          stored.adoptLimits(of: needed)
        }
      },
    .whole("maximumCount", \.maximumCount).said("count up to").item(9, "most objects"),
    .flag("counted", \.isCounted).item(11, "derived attributes are of its objects").declared(),
    .flag("removed", \.isRemoved),
    .number("toNumber", \.destination),
  ]

  /// Takes the limits of a declaration; a least number of 0 is none.
  package mutating func adoptLimits(of declared: Relationship) {
    minimumCount = declared.minimumCount == 0 ? nil : declared.minimumCount
    maximumCount = declared.maximumCount
  }

  /// A stored relationship, or one in JSON: what does not say so has no rule.
  package init() { self.init("", to: "", onDelete: .keep) }
}

extension IndexDescription: Definition {
  package static let title = "index"

  package static let fields: [DefinitionField<IndexDescription>] =
    [
      .text("name", \.name),
      .number("number", \.number),
      .list("on", \.elements).needed("is on no property"),
      .flag("unique", \.isUnique),
    ]
    + IndexKind.defined.compactMap { kind in
      kind.word.map { word in
        DefinitionField(word, .flag(usual: false)) {
          $0.kind == kind ? .flag(true) : nil
        } set: {
          if case .flag(true) = $1 { $0.kind = kind }
        }
      }
    } + [.list("where", \.tests)]

  package init() { self.init("", []) }
}

extension IndexElement: Definition {
  package static let title = "index's property"

  package static let fields: [DefinitionField<IndexElement>] = [
    .text("property", \.propertyName),
    .number("number", \.property),
    .flag("descending", \.isDescending),
    // After the direction, on which its meaning depends.
    DefinitionField("nullsFirst", .flag(usual: false)) {
      $0.countsNullAsGreatest ? .flag($0.nullsFirst) : nil
    } set: {
      if case .flag(let isFirst) = $1 { $0.nullsFirst = isFirst }
    },
  ]

  package init() { self.init("") }
}

extension IndexTest: Definition {
  package static let title = "comparison"

  package static let fields: [DefinitionField<IndexTest>] = [
    .text("property", \.propertyName),
    .number("number", \.property),
    .word("is", \.comparison, refusal: "is none of ==, !=, <, <=, > and >="),
    .any("value", \.value),
  ]

  package init() { self.init("", .equal, .null) }
}
