// The types of the stub of Darwin (see Darwin.swift), in a module of their own: Swift lets no
// module of its own have a type `stat` beside a function `stat`.

// swift-format-ignore-file

// MARK: sys/types.h

public typealias dev_t = Int32
public typealias mode_t = UInt16
public typealias nlink_t = UInt16
public typealias ino_t = UInt64
public typealias uid_t = UInt32
public typealias gid_t = UInt32
public typealias pid_t = Int32
public typealias off_t = Int64
public typealias time_t = Int

public struct timespec {
  public var tv_sec: time_t
  public var tv_nsec: Int
  public init() { (tv_sec, tv_nsec) = (0, 0) }
  public init(tv_sec: time_t, tv_nsec: Int) { (self.tv_sec, self.tv_nsec) = (tv_sec, tv_nsec) }
}

// MARK: stat(2)

public struct stat {
  public var st_dev: dev_t = 0
  public var st_mode: mode_t = 0
  public var st_nlink: nlink_t = 0
  public var st_ino: ino_t = 0
  public var st_uid: uid_t = 0
  public var st_gid: gid_t = 0
  public var st_rdev: dev_t = 0
  public var st_atimespec = timespec()
  public var st_mtimespec = timespec()
  public var st_ctimespec = timespec()
  public var st_birthtimespec = timespec()
  public var st_size: off_t = 0
  public var st_blocks: Int64 = 0
  public var st_blksize: Int32 = 0
  public var st_flags: UInt32 = 0
  public var st_gen: UInt32 = 0
  public init() {}
}
