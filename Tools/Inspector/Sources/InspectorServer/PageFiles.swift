import Foundation

/// The files of the page, by their names.
public struct PageFiles: Sendable {
  /// A file as it is sent.
  struct File: Sendable {
    var contentType: String
    var bytes: Data
    var tag: String
  }

  private var files: [String: File] = [:]
  /// A folder that is read anew for each request; nil in a program that is not being debugged.
  private var folder: String?

  /// Files with these contents.
  public init(_ contents: [String: [UInt8]]) {
    for (name, bytes) in contents { files[name] = PageFiles.file(name, Data(bytes)) }
    #if DEBUG
      folder = ProcessInfo.processInfo.environment["ANNALS_INSPECTOR_PAGE"]
    #endif
  }

  /// The file of this name; nil if there is none.
  subscript(name: String) -> File? {
    #if DEBUG
      if let folder {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard names.contains(name),
          let bytes = FileManager.default.contents(
            atPath: (folder as NSString).appendingPathComponent(name))
        else { return nil }
        return PageFiles.file(name, bytes)
      }
    #endif
    return files[name]
  }

  private static func file(_ name: String, _ bytes: Data) -> File {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return File(
      contentType: contentType(of: name), bytes: bytes, tag: "\"\(String(hash, radix: 16))\"")
  }

  private static func contentType(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js", "mjs": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    case "json": "application/json; charset=utf-8"
    case "woff2": "font/woff2"
    default: "application/octet-stream"
    }
  }
}
