import SystemPackage

/// Repeats `step` until `count` bytes are moved; returns how many were.
///
/// The kernel may move fewer bytes than asked for without an error (a signal, a full disk, a limit
/// of 2 GiB per call). `step` gets the number of bytes moved so far and returns how many more it
/// moved, or the error. Retries after EINTR; stops when a step moves nothing.
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

/// Calls `body` until no signal interrupts it. If it returns less than zero, throws the error in
/// `errno`.
@discardableResult
func retrying<R: SignedInteger>(_ body: () -> R) throws(Errno) -> R {
  while true {
    let result = body()
    if result >= 0 { return result }
    let errno = Errno.current
    if errno != .interrupted { throw errno }
  }
}
