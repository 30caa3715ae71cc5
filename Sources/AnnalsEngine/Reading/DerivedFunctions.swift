import AnnalsModel
import AnnalsStorage

/// A function of a program from which an attribute is derived.
package struct DerivedFunction: Sendable {
  /// The version that the program declares.
  package let version: Int64
  /// Computes the value from those of the properties that it reads, in their order, large ones with
  /// their bytes. Throws if one does not fit the program's type.
  package let value: @Sendable ([Value], RawUUID) throws(AnnalsError) -> Value

  package init(
    version: Int64,
    value: @escaping @Sendable ([Value], RawUUID) throws(AnnalsError) -> Value
  ) {
    self.version = version
    self.value = value
  }
}

/// What the engine lacks to derive attributes: the functions that record types declare, by the
/// names of entity and attribute, and the removal of accents.
package final class DerivedFunctions: Sendable {
  private struct Name: Hashable {
    let entity: ContiguousArray<UInt8>
    let attribute: ContiguousArray<UInt8>

    init(_ entity: String, _ attribute: String) {
      self.entity = ContiguousArray(entity.utf8)
      self.attribute = ContiguousArray(attribute.utf8)
    }
  }

  /// Removes the accents of a text.
  package let removingDiacritics: @Sendable (String) -> String
  private let functions = Locked<Declared?>(nil)

  /// A class of its own, made when the first function is declared: the first use of a dictionary of
  /// a type searches all conformances of the process.
  private final class Declared {
    var functions: [Name: DerivedFunction] = [:]
  }

  /// No functions yet.
  package init(removingDiacritics: @escaping @Sendable (String) -> String) {
    self.removingDiacritics = removingDiacritics
  }

  /// Remembers the function of an attribute.
  package func declare(_ function: DerivedFunction, of attribute: String, in entity: String) {
    functions.withLock { declared in
      if declared == nil { declared = Declared() }
      declared?.functions[Name(entity, attribute)] = function
    }
  }

  /// The function of an attribute; nil if the program has declared none.
  package func function(of attribute: String, in entity: String) -> DerivedFunction? {
    functions.withLock { $0?.functions[Name(entity, attribute)] }
  }
}
