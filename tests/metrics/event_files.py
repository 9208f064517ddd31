"""TensorBoard's event files, read by the rules of their format alone."""

import pathlib
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def fields(message):
    """(number, wire type, value) of a message of protocol buffers."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            value = message[at:at + size]
            at += size
        yield key >> 3, kind, value


def events(path):
    """[(step, tag, value)], and the version that the file begins with."""
    data = pathlib.Path(path).read_bytes()
    found, version = [], None
    while data:
        size, check = struct.unpack("<QI", data[:12])
        message = data[12:12 + size]
        if check != masked(data[:8]) or struct.unpack("<I", data[12 + size:16 + size])[0] != masked(message):
            sys.exit("a checksum is wrong")
        data = data[16 + size:]
        step = 0
        for number, _, value in fields(message):
            if number == 1 and struct.unpack("<d", value)[0] < 1.7e9:
                sys.exit("the wall time is none")
            if number == 2:
                step = value
            if number == 3:
                version = value.decode()
            if number == 5:
                for _, _, one in fields(value):
                    parts = {n: v for n, _, v in fields(one)}
                    found.append((step, parts[1].decode(), struct.unpack("<f", parts[2])[0]))
    return found, version
