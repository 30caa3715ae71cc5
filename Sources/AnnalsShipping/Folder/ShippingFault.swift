import AnnalsEngine
import AnnalsModel
import AnnalsStorage

/// What is wrong with a file of a shipping folder.
package struct ShippingFault: Error, Hashable {
  /// The file's name.
  package var file: String
  /// What is wrong: a clause without a subject, as in `is missing`.
  package var what: String
  /// Whether the file is not there.
  package var isMissing = false

  package static func missing(_ name: ShippedName) -> ShippingFault {
    ShippingFault(file: name.text, what: "is missing", isMissing: true)
  }

  package static func damaged(_ name: ShippedName, _ what: String) -> ShippingFault {
    ShippingFault(file: name.text, what: what)
  }

  /// `NAME is missing`.
  package var text: String { "\(file) \(what)" }
}

extension AnnalsError {
  /// Runs `body` and translates errors of the inner modules, and of folders, into public errors.
  package static func shipping<T>(_ body: () throws -> T) throws(AnnalsError) -> T {
    do {
      return try body()
    } catch let fault as ShippingFault {
      throw AnnalsError(fault.isMissing ? .missingData : .damaged, fault.text)
    } catch let damage as StretchDamage {
      throw AnnalsError(
        .damaged,
        "the log is damaged: \(damage.reason). What was shipped before is as it was. Verify the "
          + "file to see what is affected; salvaging it saves everything readable",
        offset: damage.offset)
    } catch {
      throw translated(error)
    }
  }
}

extension AnnalsError {
  /// The error for a folder of another store.
  package static func folderOfAnother(
    _ folder: String, _ found: RawUUID, _ store: RawUUID
  ) -> AnnalsError {
    AnnalsError(
      .otherStore,
      "\(folder) is of store \(found), and the file is store \(store). Ship it to a folder of its "
        + "own")
  }
}
