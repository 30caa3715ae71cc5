/// Whether no other reference to an object exists, so that nobody reads it any more.
///
/// The reference count proves that earlier readers are done. The thread sanitizer does not see the
/// count, so in its builds no object counts as free.
package func isUniquelyHeld(_ object: inout some AnyObject) -> Bool {
  #if ANNALS_THREAD_SANITIZER
    false
  #else
    isKnownUniquelyReferenced(&object)
  #endif
}
