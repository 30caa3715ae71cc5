import SystemPackage

/// Repeats `step` until `count` bytes are moved; returns how many were.
///
/// The kernel may move fewer bytes than it was asked to (a signal, a full disk, a limit of 2 GiB a
/// call), which is no error. `step` gets the number of bytes moved so far and returns how many more
/// it moved, or the error. EINTR is asked again; no progress ends the loop.
func transfer(
  _ count: Int, _ step: (_ moved: Int) -> Result<Int, Errno>
) throws(Errno) -> Int {
  var moved = 0
  while moved < count {
    switch step(moved) {
    case .success(0): return moved
    case .success(let more): moved += more
    case .failure(.interrupted): continue
    case .failure(let errno): throw errno
    }
  }
  return moved
}

/// Calls `body` until a signal does not interrupt it; what it returns below zero is the error that
/// `errno` holds.
@discardableResult
func retrying(_ body: () -> Int32) throws(Errno) -> Int32 {
  while true {
    let result = body()
    if result >= 0 { return result }
    let errno = Errno.current
    if errno != .interrupted { throw errno }
  }
}
