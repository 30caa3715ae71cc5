import AnnalsModel

// The rules of a property. Each returns a copy with one more rule.

extension Property {
  /// Requires that no two objects have the same value; nil never collides.
  public func unique() -> Property { with { $0.attribute.isUnique = true } }

  /// Keeps the value in the tombstone of a deleted object.
  public func preservedAfterDeletion() -> Property {
    with { $0.attribute.isPreservedAfterDeletion = true }
  }

  /// Keeps an index of this property, so that objects can be read in its order.
  ///
  /// Each commit updates the index: O(log n) for each changed object. Opening a store with objects
  /// but without the index builds it: O(n log n). Nil counts as smallest. Texts are ordered by
  /// their UTF-8 bytes.
  public func indexed(_ direction: SortDirection = .ascending) -> Property {
    with { $0.indexed.append(direction) }
  }

  /// Prints this property beside an object's key in logs and diffs.
  public func displayName() -> Property { with { $0.isDisplayName = true } }

  /// Declares an earlier name of the property. Opening a store renames it once; its values and
  /// history stay.
  public func renamed(from name: String) -> Property { with { $0.formerNames.append(name) } }

  /// Requires a number of Unicode scalars (text) or bytes (data) in this range.
  public func length(_ range: ClosedRange<Int>) -> Property {
    with {
      $0.attribute.validation.minimumLength = Int64(range.lowerBound)
      $0.attribute.validation.maximumLength = Int64(range.upperBound)
    }
  }

  /// Requires at most so many Unicode scalars (text) or bytes (data).
  public func length(_ range: PartialRangeThrough<Int>) -> Property {
    with { $0.attribute.validation.maximumLength = Int64(range.upperBound) }
  }

  /// Requires at least so many Unicode scalars (text) or bytes (data).
  public func length(_ range: PartialRangeFrom<Int>) -> Property {
    with { $0.attribute.validation.minimumLength = Int64(range.lowerBound) }
  }

  private func with(_ change: (inout PropertyDefinition) -> Void) -> Property {
    changing(self) { change(&$0.definition) }
  }
}

// The rules that name values.
extension Property where V: AttributeValue {
  /// Sets the default: the value of older objects to which a required property is new, and of
  /// objects inserted by name without this property.
  ///
  /// Over an attribute that is optional in the store, a required property reads the default where
  /// there is no value. Conditions, orders and groups see it too; an index serves them only if no
  /// object lacks a value.
  public func `default`(_ value: V) -> Property {
    with { $0.attribute.defaultValue = stored(value) }
  }

  /// Sets what the property reads as where its value was erased (`Store.erase`).
  ///
  /// Without this, reading an erased value throws `.erased`; an optional property reads as nil.
  /// Conditions, orders and groups see this value too; without it, an erased value is neither nil
  /// nor any other value to them.
  /// `Snapshot.isErased` distinguishes the two.
  public func whenErased(_ value: V) -> Property {
    with { $0.valueWhenErased = ErasedValue(value: stored(value), objects: value._objects) }
  }

  /// Requires that the value is one of these.
  public func oneOf(_ values: some Sequence<V.Required>) -> Property {
    with { $0.attribute.validation.oneOf += values.map(stored) }
  }

  /// The stored form of a value under the rules so far.
  private func stored(_ value: some AttributeValue) -> Value {
    Value(value).retagged(for: definition.attribute.type)
  }
}

extension Property where V: AttributeValue, V.Required: Comparable {
  /// Requires that the number or date lies in this range.
  public func range(_ range: ClosedRange<V.Required>) -> Property {
    with {
      $0.attribute.validation.minimum = stored(range.lowerBound)
      $0.attribute.validation.maximum = stored(range.upperBound)
    }
  }

  /// Requires that the number or date is at most this.
  public func range(_ range: PartialRangeThrough<V.Required>) -> Property {
    with { $0.attribute.validation.maximum = stored(range.upperBound) }
  }

  /// Requires that the number or date is at least this.
  public func range(_ range: PartialRangeFrom<V.Required>) -> Property {
    with { $0.attribute.validation.minimum = stored(range.lowerBound) }
  }
}

extension Property where V: AttributeValue, V.Required == String {
  /// Requires that the text is JSON: checked when written, stored byte for byte.
  public func json() -> Property {
    with {
      $0.attribute.type = .json
      let value = $0.attribute.defaultValue
      $0.attribute.defaultValue = value?.retagged(for: .json)
      $0.attribute.validation.oneOf = $0.attribute.validation.oneOf.map { $0.retagged(for: .json) }
      if let erased = $0.valueWhenErased {
        $0.valueWhenErased = ErasedValue(
          value: erased.value.retagged(for: .json), objects: erased.objects)
      }
    }
  }
}

extension Value {
  /// A text as JSON, if that is the attribute's type; any other value unchanged.
  fileprivate func retagged(for type: AttributeType) -> Value {
    if type == .json, case .string(let text) = self { return .json(text) }
    return self
  }
}

extension Property {
  /// Sets what happens to an object when one that this relationship leads to is deleted:
  /// `Property("timeline", \.timeline).onDelete(.cascade)`.
  ///
  /// Without it, a relationship that is new in a store is `.deny` if it is required, else
  /// `.nullify`; one that the store has keeps its rule. Where it had none and now gets one, opening
  /// throws `.invalidSchema` if there are references to deleted objects, and lists them; with
  /// `.nullifyDangling` it clears them instead. Traps for an attribute.
  public func onDelete(_ rule: DeleteRule, _ options: DeleteRuleOptions = []) -> Property {
    relating("a delete rule") {
      $0.deleteRule = rule
      $0.deleteRuleOptions = options
    }
  }

  /// Names the inverse of this relationship, for programs and commands that know the schema by
  /// names, and keeps an index of who refers to an object. Record types declare an `Inverse`. Traps
  /// for an attribute.
  public func inverse(_ name: String) -> Property {
    relating("an inverse") { $0.inverseName = name }
  }

  /// Limits the number of objects of a to-many relationship:
  /// `Property("tags", \.tags).count(1...5)`, `.count(2...)` or `.count(...9)`.
  ///
  /// The end of a transaction counts, after delete rules: whatever leaves fewer or more references
  /// is refused with `.invalidChange`. Without it, a relationship that the store has keeps its
  /// limits; `.count(0...)` removes them. Opening a store in which objects are beyond new limits
  /// throws `.invalidChange`, which lists them. Traps for an attribute, a relationship to at most
  /// one object, and an empty range.
  public func count(_ range: some RangeExpression<Int>) -> Property {
    relating("limits of its count") {
      guard $0.isToMany else {
        stop("\(definition.name) has limits of its count, and is not to-many")
      }
      $0.count = range.relative(to: 0..<Int.max)
    }
  }

  private func relating(
    _ what: String, _ change: (inout RelationshipDefinition) -> Void
  ) -> Property {
    var copy = self
    guard var relationship = copy.definition.relationship else {
      stop("\(definition.name) has \(what), and is no relationship")
    }
    change(&relationship)
    copy.definition.relationship = relationship
    return copy
  }
}
