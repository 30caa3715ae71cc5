import AnnalsModel

// The rules of a property, each a copy with one rule more.

extension Property {
  /// No two objects may have the same value; nil never collides.
  public func unique() -> Property { with { $0.attribute.isUnique = true } }

  /// The value is kept in the tombstone of a deleted object.
  public func preservedAfterDeletion() -> Property {
    with { $0.attribute.isPreservedAfterDeletion = true }
  }

  /// Objects can be had in the order of this property: the store keeps an index of it from now on.
  ///
  /// Kept at each commit, O(log n) for each object that changes; built when a store is opened whose
  /// objects have none yet, O(n log n). Values that are nil count as smallest. Text is in the
  /// order of its UTF-8 bytes.
  public func indexed(_ direction: SortDirection = .ascending) -> Property {
    with { $0.indexed.append(direction) }
  }

  /// The value that older objects have where a required property is new to them, and that the
  /// untyped form of writing gives to objects for which none is given.
  public func `default`(_ value: V) -> Property {
    with { $0.attribute.defaultValue = stored(value) }
  }

  /// What the property reads as where its value was erased (`Store.erase`).
  ///
  /// Without this, reading an object with an erased value throws `.erased`; an optional property
  /// reads as nil then. `Snapshot.isErased` tells the two apart.
  public func whenErased(_ value: V) -> Property {
    with { $0.valueWhenErased = ErasedValue(value: stored(value), objects: value._objects) }
  }

  /// Logs and diffs print this property beside an object's key.
  public func displayName() -> Property { with { $0.isDisplayName = true } }

  /// The property had another name in stores of earlier versions. Opening renames it there once;
  /// its values and history stay its own.
  public func renamed(from name: String) -> Property { with { $0.formerNames.append(name) } }

  /// The value is one of these.
  public func oneOf(_ values: some Sequence<V.Required>) -> Property {
    with { $0.attribute.validation.oneOf += values.map(stored) }
  }

  /// Text has a number of Unicode scalars, or data a number of bytes, in this range.
  public func length(_ range: ClosedRange<Int>) -> Property {
    with {
      $0.attribute.validation.minimumLength = Int64(range.lowerBound)
      $0.attribute.validation.maximumLength = Int64(range.upperBound)
    }
  }

  /// Text has at most so many Unicode scalars, or data so many bytes.
  public func length(_ range: PartialRangeThrough<Int>) -> Property {
    with { $0.attribute.validation.maximumLength = Int64(range.upperBound) }
  }

  /// Text has at least so many Unicode scalars, or data so many bytes.
  public func length(_ range: PartialRangeFrom<Int>) -> Property {
    with { $0.attribute.validation.minimumLength = Int64(range.lowerBound) }
  }

  /// What a value is stored as under the rules so far.
  private func stored(_ value: some AttributeValue) -> Value {
    Value(value).retagged(for: definition.attribute.type)
  }

  private func with(_ change: (inout PropertyDefinition) -> Void) -> Property {
    var copy = self
    change(&copy.definition)
    return copy
  }
}

extension Property where V.Required: Comparable {
  /// The number or date lies in this range.
  public func range(_ range: ClosedRange<V.Required>) -> Property {
    with {
      $0.attribute.validation.minimum = stored(range.lowerBound)
      $0.attribute.validation.maximum = stored(range.upperBound)
    }
  }

  /// The number or date is not greater.
  public func range(_ range: PartialRangeThrough<V.Required>) -> Property {
    with { $0.attribute.validation.maximum = stored(range.upperBound) }
  }

  /// The number or date is not less.
  public func range(_ range: PartialRangeFrom<V.Required>) -> Property {
    with { $0.attribute.validation.minimum = stored(range.lowerBound) }
  }
}

extension Property where V.Required == String {
  /// The text is JSON: checked when written, kept byte for byte.
  public func json() -> Property {
    with {
      $0.attribute.type = .json
      let value = $0.attribute.defaultValue
      $0.attribute.defaultValue = value?.retagged(for: .json)
    }
  }
}

extension Value {
  /// Text as JSON text, where that is the type of the attribute; any other value as it is.
  fileprivate func retagged(for type: AttributeType) -> Value {
    if type == .json, case .string(let text) = self { return .json(text) }
    return self
  }
}
