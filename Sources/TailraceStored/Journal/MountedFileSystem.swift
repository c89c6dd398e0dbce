import FileReading

#if canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Glibc)
  import Glibc
#endif

#if !canImport(Darwin)
  /// The kernel's list of mounted file systems.
  enum MountedFileSystem {
    /// File systems whose locks may fail or not reach every machine, and whose sync guarantees
    /// little.
    static let remote: Set<String> = [
      "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "coda", "glusterfs", "lustre",
      "beegfs",
      "ncpfs", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.ceph", "davfs",
      "fuse.davfs2", "fuse.gcsfuse", "fuse.juicefs", "fuse.grpcfuse", "gpfs", "ocfs2", "gfs2",
      "vboxsf",
    ]

    static func kind(of device: UInt64) -> String? {
      let device =
        "\(device >> 8 & 0xFFF | device >> 32 & ~0xFFF):\(device & 0xFF | device >> 12 & ~0xFF)"
      guard let file = try? SystemFile(Array("/proc/self/mountinfo".utf8CString), flags: O_RDONLY),
        let bytes = try? file.upTo(1 << 20, at: 0)
      else { return nil }
      return kind(of: device, in: String(decoding: bytes, as: UTF8.self))
    }

    /// The word after the `-` in the line of a device; the third word of a line is its device.
    static func kind(of device: String, in mounts: String) -> String? {
      for line in mounts.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard words.count > 4, words[2] == device, let dash = words.firstIndex(of: "-"),
          dash + 1 < words.count
        else { continue }
        return String(words[dash + 1])
      }
      return nil
    }
  }
#endif
