import Annals
import AnnalsStorage
import Foundation

/// What is shown: one file, or the stores of a folder.
///
/// A request names a file, and only a name that was found in the folder leads to one: no path of a
/// request reaches the disk.
package final class InspectedPlace: Sendable {
  /// The folder; nil for one file.
  package let folder: String?
  private let environment: StoreEnvironment
  private let files: Locked<[String: InspectedFile]>
  /// The open files, last used last.
  private let recent = Locked<[String]>([])

  /// As many stores are open at a time.
  private static let mostOpen = 8
  /// As many files of a folder are listed.
  static let mostListed = 200

  /// Shows the file or the folder at the path. Throws `.notFound` if there is none.
  package init(path: String, environment: StoreEnvironment = .system) throws(AnnalsError) {
    self.environment = environment
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw .missingFile(path)
    }
    if isFolder.boolValue {
      folder = path
      files = Locked([:])
    } else {
      folder = nil
      let name = URL(fileURLWithPath: path).lastPathComponent
      let file = InspectedFile(
        name: name, path: path, shownPath: path, environment: environment)
      files = Locked([name: file])
    }
  }

  /// The file of this name; without a name the only one there is.
  package func file(_ name: String?) throws(RequestFault) -> InspectedFile {
    if name == nil, folder == nil, let only = files.withLock({ $0.values.first }) { return only }
    guard let name else {
      throw RequestFault("say which store: store=NAME", .usage, parameter: "store")
    }
    let found = files.withLock { $0[name] } ?? list().found[name]
    guard let found else {
      throw RequestFault("there is no store \(name) here", .notFound, parameter: "store")
    }
    markUsed(name)
    return found
  }

  /// The files of the folder, or the one file, by their names; and how many are left out.
  package func list() -> (found: [String: InspectedFile], more: Int) {
    guard let folder else { return (files.withLock { $0 }, 0) }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let wanted = names.filter { $0.hasSuffix(".annals") }.sorted()
    let shown = Set(wanted.prefix(InspectedPlace.mostListed))
    let found = files.withLock { files -> [String: InspectedFile] in
      files = files.filter { shown.contains($0.key) }
      for name in shown where files[name] == nil {
        let path = (folder as NSString).appendingPathComponent(name)
        files[name] = InspectedFile(
          name: name, path: path, shownPath: path, environment: environment)
      }
      return files
    }
    return (found, wanted.count - shown.count)
  }

  /// Closes the store that was used longest ago, if too many are open.
  private func markUsed(_ name: String) {
    let oldest = recent.withLock { recent -> String? in
      recent.removeAll { $0 == name }
      recent.append(name)
      return recent.count > InspectedPlace.mostOpen ? recent.removeFirst() : nil
    }
    if let oldest { files.withLock { $0[oldest] }?.close() }
  }

  /// Closes all stores.
  package func close() {
    for file in files.withLock({ Array($0.values) }) { file.close() }
  }
}
