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
  /// Whether a newer version of the program wrote the file.
  package var isNewer = false

  package static func missing(_ name: ShippedName) -> ShippingFault {
    ShippingFault(file: name.text, what: "is missing", isMissing: true)
  }

  package static func damaged(_ name: ShippedName, _ what: String) -> ShippingFault {
    ShippingFault(file: name.text, what: what)
  }

  package static func newer(_ name: ShippedName, _ version: UInt32) -> ShippingFault {
    ShippingFault(
      file: name.text,
      what: "is of version \(version) of the form of shipped segments, and this program knows "
        + "version \(SegmentHeader.version): a newer program wrote it. Update this one",
      isNewer: true)
  }

  /// `NAME is missing`.
  package var text: String { "\(file) \(what)" }

  /// The code of the public error.
  package var code: AnnalsError.Code {
    isMissing ? .missingData : isNewer ? .newerVersion : .damaged
  }
}

extension AnnalsError {
  /// Runs `body` and translates errors of the inner modules, and of folders, into public errors.
  package static func shipping<T>(_ body: () throws -> T) throws(AnnalsError) -> T {
    do {
      return try body()
    } catch let fault as ShippingFault {
      throw AnnalsError(fault.code, fault.text)
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
