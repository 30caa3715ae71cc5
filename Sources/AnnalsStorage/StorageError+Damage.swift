import SystemPackage

extension StorageError {
  /// Whether the disk itself failed to read or write these bytes, while others may still be
  /// readable.
  package var isDiskDamage: Bool { errno == .ioError }
}
