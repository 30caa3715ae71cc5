// The part of Darwin's module that AnnalsStorage uses, and the interface of swift-system, as Swift
// sees it on macOS 15: written from the manual pages, so that Tools/check-darwin can type-check the
// branches for Darwin where there is none. Numbers are the manual's; nothing is linked with this.
//
// A pointer is `!` where Darwin's headers do not say whether it may be null.

// swift-format-ignore-file

@_exported import DarwinTypes

// MARK: intro(2)

public var errno: Int32 {
  get { 0 }
  set {}
}
public var EBUSY: Int32 { 16 }
public var ETIMEDOUT: Int32 { 60 }

// MARK: stat(2), chmod(2), chown(2)

@discardableResult
public func stat(
  _ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!
) -> Int32 { -1 }
@discardableResult
public func lstat(
  _ path: UnsafePointer<CChar>!, _ status: UnsafeMutablePointer<stat>!
) -> Int32 { -1 }
@discardableResult
public func fstat(_ descriptor: Int32, _ status: UnsafeMutablePointer<stat>!) -> Int32 { -1 }
@discardableResult
public func fchmod(_ descriptor: Int32, _ mode: mode_t) -> Int32 { -1 }
@discardableResult
public func fchown(_ descriptor: Int32, _ owner: uid_t, _ group: gid_t) -> Int32 { -1 }
public var S_IFMT: mode_t { 0o170000 }
public var S_IFREG: mode_t { 0o100000 }
public var S_IFDIR: mode_t { 0o040000 }
public var S_IFLNK: mode_t { 0o120000 }

// MARK: fcntl(2): Swift's own, since C has a variable list of arguments

@discardableResult
public func fcntl(_ descriptor: Int32, _ command: Int32) -> Int32 { -1 }
@discardableResult
public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32) -> Int32 { -1 }
@discardableResult
public func fcntl(
  _ descriptor: Int32, _ command: Int32, _ pointer: UnsafeMutableRawPointer
) -> Int32 { -1 }
public var F_GETFL: Int32 { 3 }
public var F_SETFL: Int32 { 4 }
public var F_PREALLOCATE: Int32 { 42 }
public var F_FULLFSYNC: Int32 { 51 }
public var F_ALLOCATECONTIG: Int32 { 2 }
public var F_ALLOCATEALL: Int32 { 4 }
public var F_PEOFPOSMODE: Int32 { 3 }

public struct fstore_t {
  public var fst_flags: UInt32
  public var fst_posmode: Int32
  public var fst_offset: off_t
  public var fst_length: off_t
  public var fst_bytesalloc: off_t
  public init(
    fst_flags: UInt32, fst_posmode: Int32, fst_offset: off_t, fst_length: off_t,
    fst_bytesalloc: off_t
  ) {
    (self.fst_flags, self.fst_posmode) = (fst_flags, fst_posmode)
    (self.fst_offset, self.fst_length) = (fst_offset, fst_length)
    self.fst_bytesalloc = fst_bytesalloc
  }
}

// MARK: fsync(2), ftruncate(2), flock(2)

@discardableResult
public func fsync(_ descriptor: Int32) -> Int32 { -1 }
@discardableResult
public func ftruncate(_ descriptor: Int32, _ length: off_t) -> Int32 { -1 }
@discardableResult
public func flock(_ descriptor: Int32, _ operation: Int32) -> Int32 { -1 }
public var LOCK_SH: Int32 { 1 }
public var LOCK_EX: Int32 { 2 }
public var LOCK_NB: Int32 { 4 }
public var LOCK_UN: Int32 { 8 }

// MARK: link(2), rename(2), unlink(2), readlink(2), realpath(3)

@discardableResult
public func link(_ path: UnsafePointer<CChar>!, _ name: UnsafePointer<CChar>!) -> Int32 { -1 }
@discardableResult
public func rename(_ from: UnsafePointer<CChar>!, _ to: UnsafePointer<CChar>!) -> Int32 { -1 }
@discardableResult
public func renamex_np(
  _ from: UnsafePointer<CChar>!, _ to: UnsafePointer<CChar>!, _ flags: UInt32
) -> Int32 { -1 }
public var RENAME_SWAP: Int32 { 2 }
public var RENAME_EXCL: Int32 { 4 }
@discardableResult
public func unlink(_ path: UnsafePointer<CChar>!) -> Int32 { -1 }
@discardableResult
public func readlink(
  _ path: UnsafePointer<CChar>!, _ buffer: UnsafeMutablePointer<CChar>!, _ size: Int
) -> Int { -1 }
public func realpath(
  _ path: UnsafePointer<CChar>!, _ resolved: UnsafeMutablePointer<CChar>!
) -> UnsafeMutablePointer<CChar>? { nil }
public func free(_ memory: UnsafeMutableRawPointer?) {}
public var PATH_MAX: Int32 { 1024 }

// MARK: copyfile(3)

public typealias copyfile_state_t = OpaquePointer
public typealias copyfile_flags_t = UInt32
@discardableResult
public func fcopyfile(
  _ from: Int32, _ to: Int32, _ state: copyfile_state_t?, _ flags: copyfile_flags_t
) -> Int32 { -1 }
public var COPYFILE_ACL: Int32 { 1 }
public var COPYFILE_STAT: Int32 { 2 }
public var COPYFILE_XATTR: Int32 { 4 }
public var COPYFILE_DATA: Int32 { 8 }

// MARK: getpid(2), getenv(3), sysconf(3)

public func getpid() -> pid_t { 0 }
public func getenv(_ name: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>? { nil }
public func sysconf(_ name: Int32) -> Int { -1 }

// MARK: ctime(3)

public struct tm {
  public var tm_gmtoff: Int = 0
  public init() {}
}
public func tzset() {}
@discardableResult
public func localtime_r(
  _ time: UnsafePointer<time_t>!, _ parts: UnsafeMutablePointer<tm>!
) -> UnsafeMutablePointer<tm>! { nil }
public var _SC_NPROCESSORS_ONLN: Int32 { 58 }

// MARK: clock_gettime(3), nanosleep(2)

public struct clockid_t: RawRepresentable {
  public var rawValue: UInt32
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  public init(rawValue: UInt32) { self.rawValue = rawValue }
}
public var CLOCK_MONOTONIC: clockid_t { clockid_t(6) }
@discardableResult
public func clock_gettime(
  _ clock: clockid_t, _ time: UnsafeMutablePointer<timespec>!
) -> Int32 { -1 }
@discardableResult
public func nanosleep(
  _ wanted: UnsafePointer<timespec>!, _ left: UnsafeMutablePointer<timespec>!
) -> Int32 { -1 }

// MARK: pthread(3), whose header says what may be null

public struct _opaque_pthread_t {}
public struct pthread_attr_t {}
public struct pthread_mutex_t {}
public struct pthread_mutexattr_t {}
public struct pthread_cond_t {}
public struct pthread_condattr_t {}
public typealias pthread_t = UnsafeMutablePointer<_opaque_pthread_t>
public typealias pthread_key_t = UInt
public var PTHREAD_CREATE_DETACHED: Int32 { 2 }

public func pthread_self() -> pthread_t { fatalError() }
@discardableResult
public func pthread_setname_np(_ name: UnsafePointer<CChar>) -> Int32 { -1 }
@discardableResult
public func pthread_attr_init(_ attributes: UnsafeMutablePointer<pthread_attr_t>) -> Int32 { -1 }
@discardableResult
public func pthread_attr_destroy(_ attributes: UnsafeMutablePointer<pthread_attr_t>) -> Int32 { -1 }
@discardableResult
public func pthread_attr_setstacksize(
  _ attributes: UnsafeMutablePointer<pthread_attr_t>, _ size: Int
) -> Int32 { -1 }
@discardableResult
public func pthread_attr_setdetachstate(
  _ attributes: UnsafeMutablePointer<pthread_attr_t>, _ state: Int32
) -> Int32 { -1 }
@discardableResult
public func pthread_create(
  _ thread: UnsafeMutablePointer<pthread_t?>, _ attributes: UnsafePointer<pthread_attr_t>?,
  _ body: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?,
  _ argument: UnsafeMutableRawPointer?
) -> Int32 { -1 }
public func pthread_key_create(
  _ key: UnsafeMutablePointer<pthread_key_t>,
  _ destructor: (@convention(c) (UnsafeMutableRawPointer) -> Void)?
) -> Int32 { -1 }
public func pthread_getspecific(_ key: pthread_key_t) -> UnsafeMutableRawPointer? { nil }
@discardableResult
public func pthread_setspecific(_ key: pthread_key_t, _ value: UnsafeRawPointer?) -> Int32 { -1 }
@discardableResult
public func pthread_mutex_init(
  _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
  _ attributes: UnsafePointer<pthread_mutexattr_t>?
) -> Int32 { -1 }
@discardableResult
public func pthread_mutex_destroy(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { -1 }
@discardableResult
public func pthread_mutex_lock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { -1 }
@discardableResult
public func pthread_mutex_trylock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { -1 }
@discardableResult
public func pthread_mutex_unlock(_ mutex: UnsafeMutablePointer<pthread_mutex_t>) -> Int32 { -1 }
@discardableResult
public func pthread_cond_init(
  _ condition: UnsafeMutablePointer<pthread_cond_t>,
  _ attributes: UnsafePointer<pthread_condattr_t>?
) -> Int32 { -1 }
@discardableResult
public func pthread_cond_destroy(_ condition: UnsafeMutablePointer<pthread_cond_t>) -> Int32 { -1 }
@discardableResult
public func pthread_cond_signal(_ condition: UnsafeMutablePointer<pthread_cond_t>) -> Int32 { -1 }
@discardableResult
public func pthread_cond_broadcast(
  _ condition: UnsafeMutablePointer<pthread_cond_t>
) -> Int32 { -1 }
@discardableResult
public func pthread_cond_wait(
  _ condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>
) -> Int32 { -1 }
@discardableResult
public func pthread_cond_timedwait(
  _ condition: UnsafeMutablePointer<pthread_cond_t>,
  _ mutex: UnsafeMutablePointer<pthread_mutex_t>, _ until: UnsafePointer<timespec>?
) -> Int32 { -1 }
@discardableResult
public func pthread_cond_timedwait_relative_np(
  _ condition: UnsafeMutablePointer<pthread_cond_t>,
  _ mutex: UnsafeMutablePointer<pthread_mutex_t>, _ left: UnsafePointer<timespec>?
) -> Int32 { -1 }
