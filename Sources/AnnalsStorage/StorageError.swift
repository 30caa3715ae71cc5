import SystemPackage

/// An error of the operating system: the operation, the file, the error number.
///
/// `description` says it in one line, together with the remedy.
@usableFromInline
package struct StorageError: Error, Hashable, Sendable {
  /// The operations that can fail.
  package enum Operation: String, Hashable, Sendable, CaseIterable {
    case open, create, size, read, write, sync, allocate, truncate, lock, identify
    case link, place, rename, remove, syncDirectory, resolve, copyAttributes, startThread, watch
    case inherited
  }

  /// The operation that failed.
  package var operation: Operation
  /// The file it was for.
  package var path: String
  /// The operating system's error number.
  package var errno: Errno

  package init(_ operation: Operation, _ path: String, _ errno: Errno) {
    self.operation = operation
    self.path = path
    self.errno = errno
  }
}

extension StorageError: CustomStringConvertible {
  /// One line: what failed on which file, why, and what to do about it.
  @usableFromInline package var description: String {
    var text = "cannot \(attempt): \(reason)"
    if let remedy { text += ". \(remedy)" }
    return text
  }

  /// The reason alone, in the system's words.
  package var reason: String {
    switch (operation, errno) {
    case (.open, .isDirectory): "it is a directory, not a file"
    case (.open, .notSupported): "it is not a regular file"
    case (.inherited, _): "the process was forked from the one that opened it"
    default: errno.description
    }
  }

  /// What the user can do about it; nil if there is no general advice.
  package var remedy: String? {
    if isInherited { return "Open it again in this process." }
    return switch errno {
    case .noSpace: "Free some space on that disk and try again."
    case .diskQuotaExceeded: "The disk quota is used up; free some space and try again."
    case .noSuchFileOrDirectory: missingRemedy
    case .notDirectory: "A part of the path is a file; check the path."
    case .isDirectory: "Name the file in it."
    case .fileExists: "Choose another name, or remove it first."
    case .permissionDenied, .notPermitted: forbiddenRemedy
    case .illegalByteSequence:
      "A directory or link in the path has a name that is not UTF-8; rename it, or keep the store "
        + "elsewhere."
    case .readOnlyFileSystem: "The disk is read-only; open for reading, or copy the file elsewhere."
    case .ioError: "The disk reports damage; salvage what can be read into a file on another."
    case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
      "Too many files are open; close some or raise the limit (ulimit -n)."
    case .fileTooLarge: "The file system or a limit of the process (ulimit -f) allows no more."
    case .tooManySymbolicLinkLevels: "Its symbolic links form a loop; name the file itself."
    case .fileNameTooLong: "Use a shorter path."
    case .noLocks: "The file system has no locks to give; keep the store on a local disk."
    case .notSupported, .notSupportedOnSocket: unsupportedRemedy
    case .badFileDescriptor: "The file has been closed; open it again."
    default: nil
    }
  }

  /// The error for an open file that a fork inherited from the process that opened it.
  static func inherited(_ path: String) -> StorageError {
    StorageError(.inherited, path, .notPermitted)
  }

  /// Whether the process that opened the file is another one, of which this one is a fork.
  package var isInherited: Bool { operation == .inherited }

  private var attempt: String {
    let path = path.isEmpty ? "\"\"" : path
    return switch operation {
    case .size: "find the size of \(path)"
    case .sync: "sync \(path) to the disk"
    case .allocate: "reserve space for \(path)"
    case .identify: "identify \(path)"
    case .syncDirectory: "sync the directory of \(path) to the disk"
    case .copyAttributes: "copy the owner, mode and attributes of \(path)"
    case .startThread: "start the thread \(path)"
    case .inherited: "write to \(path), nor lock it"
    case .open, .create, .read, .write, .truncate, .lock, .link, .place, .rename, .remove,
      .resolve, .watch:
      "\(operation.rawValue) \(path)"
    }
  }

  /// What to check if there is no file at a path, as the end of a sentence.
  package static func check(ofMissing path: String) -> String {
    path.utf8.first == UInt8(ascii: "~")
      ? "nobody expanded the `~`, which a shell does outside of quotes only: write the folder out"
      : "check the path"
  }

  private var missingRemedy: String {
    if path.isEmpty { return "The path is empty; name a file." }
    if path.utf8.first == UInt8(ascii: "~") {
      let check = StorageError.check(ofMissing: path)
      return check.prefix(1).uppercased() + check.dropFirst() + "."
    }
    return switch operation {
    case .create, .link, .place, .rename, .resolve, .syncDirectory: "Create its directory first."
    default: "Check the path."
    }
  }

  private var forbiddenRemedy: String {
    switch operation {
    case .copyAttributes:
      "The file belongs to another user, whom the new file cannot be given to; run this as that "
        + "user, or as the administrator."
    default: "Check the permissions of the file and its directory."
    }
  }

  private var unsupportedRemedy: String {
    switch operation {
    case .open: "Name a regular file."
    default: "The file system cannot do this; keep the store on a local disk."
    }
  }
}

extension StorageError {
  /// Whether the file does not exist.
  package var isMissing: Bool { errno == .noSuchFileOrDirectory }

  /// Whether permissions forbid it.
  package var isForbidden: Bool { errno == .permissionDenied }

  /// Whether the name is taken.
  package var isTaken: Bool { errno == .fileExists }
}

extension StorageError {
  /// Whether the disk itself failed to read or write these bytes, while others may still be
  /// readable.
  package var isDiskDamage: Bool { errno == .ioError }
}
