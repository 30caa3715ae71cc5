/// What a disk and its file system are like, which a restart does not change.
package struct FaultySettings: Sendable {
  /// The greatest number of bytes in all files together.
  package var capacity = UInt64.max
  /// Whether reads past the cache are supported.
  package var hasReadPastCache = true
  /// Whether a sync that lost bytes makes the next sync of every other open file fail, once.
  package var tellsEveryFile = false
  /// Whether the system lacks a rename that fails if the name is in use, so that `place` links the
  /// file under its new name and then removes the old one.
  package var placesByLinking = false
}
