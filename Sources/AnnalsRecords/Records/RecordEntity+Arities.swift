// Initialisers for 1 to 16 properties, which the compiler prefers to the one for any number. What
// reads a record is compiled where it is declared, and calls what reads each property directly.
// With a pack of types it loops over them, and counts references to each text once more.

extension RecordEntity {
  /// The entity of this name, with 1 property; as the initialiser for any number.
  @inlinable
  public init<A: AttributeValue>(
    _ name: String, _ make: @escaping @Sendable (A) -> R,
    _ a: Property<R, A>
  ) {
    self.init(name, a) { (reader) throws(RecordReader.Stop) in
      make(try ._next(&reader))
    }
  }

  /// The entity of this name, with 2 properties; as the initialiser for any number.
  @inlinable
  public init<A: AttributeValue, B: AttributeValue>(
    _ name: String, _ make: @escaping @Sendable (A, B) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>
  ) {
    self.init(name, a, b) { (reader) throws(RecordReader.Stop) in
      make(try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 3 properties; as the initialiser for any number.
  @inlinable
  public init<A: AttributeValue, B: AttributeValue, C: AttributeValue>(
    _ name: String, _ make: @escaping @Sendable (A, B, C) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>
  ) {
    self.init(name, a, b, c) { (reader) throws(RecordReader.Stop) in
      make(try ._next(&reader), try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 4 properties; as the initialiser for any number.
  @inlinable
  public init<A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue>(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>
  ) {
    self.init(name, a, b, c, d) { (reader) throws(RecordReader.Stop) in
      make(try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 5 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>
  ) {
    self.init(name, a, b, c, d, e) { (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader))
    }
  }

  /// The entity of this name, with 6 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>
  ) {
    self.init(name, a, b, c, d, e, f) { (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 7 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F, G) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>
  ) {
    self.init(name, a, b, c, d, e, f, g) { (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 8 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue, H: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F, G, H) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>, _ h: Property<R, H>
  ) {
    self.init(name, a, b, c, d, e, f, g, h) { (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 9 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue, H: AttributeValue, I: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F, G, H, I) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>, _ h: Property<R, H>,
    _ i: Property<R, I>
  ) {
    self.init(name, a, b, c, d, e, f, g, h, i) { (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader))
    }
  }

  /// The entity of this name, with 10 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue, H: AttributeValue, I: AttributeValue, J: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F, G, H, I, J) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>, _ h: Property<R, H>,
    _ i: Property<R, I>, _ j: Property<R, J>
  ) {
    self.init(name, a, b, c, d, e, f, g, h, i, j) { (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 11 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue, H: AttributeValue, I: AttributeValue, J: AttributeValue,
    K: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F, G, H, I, J, K) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>, _ h: Property<R, H>,
    _ i: Property<R, I>, _ j: Property<R, J>, _ k: Property<R, K>
  ) {
    self.init(name, a, b, c, d, e, f, g, h, i, j, k) { (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 12 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue, H: AttributeValue, I: AttributeValue, J: AttributeValue,
    K: AttributeValue, L: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F, G, H, I, J, K, L) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>, _ h: Property<R, H>,
    _ i: Property<R, I>, _ j: Property<R, J>, _ k: Property<R, K>, _ l: Property<R, L>
  ) {
    self.init(name, a, b, c, d, e, f, g, h, i, j, k, l) { (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 13 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue, H: AttributeValue, I: AttributeValue, J: AttributeValue,
    K: AttributeValue, L: AttributeValue, M: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F, G, H, I, J, K, L, M) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>, _ h: Property<R, H>,
    _ i: Property<R, I>, _ j: Property<R, J>, _ k: Property<R, K>, _ l: Property<R, L>,
    _ m: Property<R, M>
  ) {
    self.init(name, a, b, c, d, e, f, g, h, i, j, k, l, m) { (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader))
    }
  }

  /// The entity of this name, with 14 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue, H: AttributeValue, I: AttributeValue, J: AttributeValue,
    K: AttributeValue, L: AttributeValue, M: AttributeValue, N: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F, G, H, I, J, K, L, M, N) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>, _ h: Property<R, H>,
    _ i: Property<R, I>, _ j: Property<R, J>, _ k: Property<R, K>, _ l: Property<R, L>,
    _ m: Property<R, M>, _ n: Property<R, N>
  ) {
    self.init(name, a, b, c, d, e, f, g, h, i, j, k, l, m, n) {
      (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 15 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue, H: AttributeValue, I: AttributeValue, J: AttributeValue,
    K: AttributeValue, L: AttributeValue, M: AttributeValue, N: AttributeValue, O: AttributeValue
  >(
    _ name: String, _ make: @escaping @Sendable (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>, _ h: Property<R, H>,
    _ i: Property<R, I>, _ j: Property<R, J>, _ k: Property<R, K>, _ l: Property<R, L>,
    _ m: Property<R, M>, _ n: Property<R, N>, _ o: Property<R, O>
  ) {
    self.init(name, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o) {
      (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader))
    }
  }

  /// The entity of this name, with 16 properties; as the initialiser for any number.
  @inlinable
  public init<
    A: AttributeValue, B: AttributeValue, C: AttributeValue, D: AttributeValue, E: AttributeValue,
    F: AttributeValue, G: AttributeValue, H: AttributeValue, I: AttributeValue, J: AttributeValue,
    K: AttributeValue, L: AttributeValue, M: AttributeValue, N: AttributeValue, O: AttributeValue,
    P: AttributeValue
  >(
    _ name: String,
    _ make: @escaping @Sendable (A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P) -> R,
    _ a: Property<R, A>, _ b: Property<R, B>, _ c: Property<R, C>, _ d: Property<R, D>,
    _ e: Property<R, E>, _ f: Property<R, F>, _ g: Property<R, G>, _ h: Property<R, H>,
    _ i: Property<R, I>, _ j: Property<R, J>, _ k: Property<R, K>, _ l: Property<R, L>,
    _ m: Property<R, M>, _ n: Property<R, N>, _ o: Property<R, O>, _ p: Property<R, P>
  ) {
    self.init(name, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) {
      (reader) throws(RecordReader.Stop) in
      make(
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader),
        try ._next(&reader), try ._next(&reader), try ._next(&reader), try ._next(&reader))
    }
  }
}
