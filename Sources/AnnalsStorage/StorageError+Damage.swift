import SystemPackage

extension StorageError {
  /// Whether the disk itself failed to give or take the bytes, while others may still be readable.
  package var isDiskDamage: Bool { errno == .ioError }
}
