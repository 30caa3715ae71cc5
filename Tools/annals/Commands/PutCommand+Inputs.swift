import Annals
import AnnalsExchange
import AnnalsInspector
import Foundation

extension PutInput {
  /// Opens the input. A regular file has a known length.
  func open(_ console: Console) throws -> ByteInput.Opened {
    if isStandardInput {
      let source = console.input()
      return ByteInput.Opened(length: nil) { try source.read(into: $0) }
    }
    let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let kind = (try? FileManager.default.attributesOfItem(atPath: url.path))?[.type]
    if let kind = kind as? FileAttributeType, kind != .typeRegular, kind != .typeDirectory {
      guard let handle = FileHandle(forReadingAtPath: path) else {
        throw CommandFailure("\(path) cannot be read")
      }
      return try ByteInput(handle).open()
    }
    return try ByteInput(contentsOf: path).open()
  }
}

extension WriteTransaction {
  /// Sets properties of an object that exists to the bytes of inputs. Adds missing attributes, of
  /// type data.
  ///
  /// - Throws: `CommandFailure` for what is not permitted, and what reading throws.
  func put(
    _ object: ObjectArgument, from inputs: [PutInput], _ console: Console,
    permitting permissions: PutPermissions
  ) throws {
    guard !inputs.isEmpty else { return }
    let found = try object.find(in: self)
    for input in inputs {
      guard let entity = schema.entity(numbered: found.entity) else { return }
      let attribute: Attribute
      if let known = entity.attribute(named: input.name) {
        try permissions.refuseDerived(input.name, of: entity, in: schema)
        attribute = known
      } else {
        if entity.relationship(named: input.name) != nil {
          throw CommandFailure(
            "\(entity.name).\(input.name) is a relationship, and cannot be set from a file")
        }
        try permissions.refuseMistyped(input.name, of: entity)
        attribute = try draft.append(Attribute(input.name, .data), to: entity.number)
      }
      try draft.set(attribute, of: found, from: input.open(console))
    }
  }
}
