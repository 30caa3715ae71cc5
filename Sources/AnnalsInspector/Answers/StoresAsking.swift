import Annals
import AnnalsLog
import AnnalsModel
import AnnalsState
import Foundation

/// The list of the stores that are shown.
package struct StoresAsking {
  let place: InspectedPlace

  package init(_ place: InspectedPlace) { self.place = place }

  package func stores() throws -> StoresDocument {
    let (found, more) = place.list()
    let files = found.values.sorted { $0.name.precedesInBytes($1.name) }
    return StoresDocument(
      folder: place.folder, stores: files.map(entry), more: more,
      command: files.count == 1
        ? CommandWords("stat", files[0].shownPath).text
        : CommandWords("serve", place.folder ?? "").text)
  }

  private func entry(_ file: InspectedFile) -> StoresDocument.Entry {
    var entry = StoresDocument.Entry(name: file.name, size: 0)
    do {
      let stamp = try file.stamp()
      entry.size = Int64(clamping: stamp.size)
      entry.modified = Timestamp(microseconds: stamp.modified).description
      entry.isOpen = file.isOpen
      // One that is not shown is opened for its numbers alone.
      let own =
        file.isOpen
        ? nil
        : try Store(path: file.path, options: .looking)
      defer { try? own?.close() }
      let version = try own?.version ?? file.opened().version
      let (base, head) = (version.view.base, version.token.number)
      entry.uuid = "\(version.store)"
      (entry.base, entry.head) = (base, head)
      entry.objects = version.objectCounts
      if base < head, version.view.gap(at: base + 1) == nil {
        entry.first = try version.header(of: base + 1).moment.description
        entry.last = version.position.timestamp.description
      }
    } catch let error as AnnalsError {
      entry.problem = FaultDocument.Fault(error, of: file)
    } catch {
      entry.problem = FaultDocument.Fault(code: "io", message: "\(error)")
    }
    return entry
  }
}
