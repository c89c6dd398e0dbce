"""Reads a stored list by the article "The file of a stored list": prints each element's bytes as
hexadecimal digits, then "end" or "more"."""
import struct
import sys

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = (byte >> 1) ^ 0x82F63B78 if byte & 1 else byte >> 1
    TABLE.append(byte)


def crc(data, after=0):
    after ^= 0xFFFFFFFF
    for byte in data:
        after = after >> 8 ^ TABLE[(after ^ byte) & 0xFF]
    return after ^ 0xFFFFFFFF


def header(file):
    for offset in (0, 4096):
        block = file[offset:offset + 4096]
        magic, version, check, features = struct.unpack_from("<8sIIQ", block)
        length, = struct.unpack_from("<I", block, 40)
        if magic == b"TAILRACE" and check == crc(block[16:48 + length]):
            assert (version, features) == (3, 0)
            return block[24:32], block[32:40]
    sys.exit("no stored list")


def mark(file, seed):
    marks = []
    for offset in (8192, 12288):
        block = file[offset:offset + 96]
        if block[:4] == b"TRM3" and struct.unpack_from("<I", block, 4)[0] == crc(block[8:], seed):
            marks.append(struct.unpack_from("<QQQQQQQQQQQ", block, 8))
    return max(marks) if marks else sys.exit("damaged")


file = open(sys.argv[1], "rb").read()
high, low = header(file)
seed = crc(low, crc(high))
(_, high_boot, low_boot, written, _, synced, _, offset, first, _, flags) = mark(file, seed)
digits = open("/proc/sys/kernel/random/boot_id").read().replace("-", "").strip()
is_same_boot = int(digits, 16) == high_boot << 64 | low_boot
limit = len(file) if flags & 2 or not is_same_boot else synced
name = struct.unpack("<Q", high)[0] ^ struct.unpack("<Q", low)[0]
is_first, is_end, expected = offset == 16384, False, first
while offset + 64 <= limit:
    head = file[offset:offset + 64]
    (magic, check, length, body_check, position, count, flags, _, _, previous, state_length,
     state_check) = struct.unpack_from("<4sIIIQIBBBxQII", head)
    body = file[offset + 64:offset + 64 + length]
    state = file[offset + 64 + length:offset + 64 + length + state_length]
    if (magic != b"TRF3" or check != crc(head[8:], crc(struct.pack("<Q", offset), seed))
            or crc(body, seed) != body_check or crc(state, seed) != state_check
            or is_first and previous != name or position != expected or is_end):
        break
    lengths = 0 if flags & 2 else 8
    start = lengths + 4 * count
    for size in struct.unpack_from(f"<{count}I", body, lengths):
        print(body[start:start + size].hex())
        start += size
    is_first, is_end, expected = True, bool(flags & 1), position + count
    name = check << 32 | body_check ^ state_check
    offset += 64 + length + state_length
if offset < (max(written, synced) if is_same_boot else synced):
    sys.exit("damaged")
print("end" if is_end else "more")
