#!/usr/bin/env python3
"""The progress bar and notes on terminals of several widths: lines that do not wrap, and no bar left behind."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

# A small ring makes a long note.
COMMAND = [sys.argv[1], "gemv", "--quick", "--ring-mib", "8", "--kernels", "int2a8.*ref", "--shapes", "64x256"]


def drawn(columns):
    """What the program writes to a terminal so wide, line by line as the terminal overwrites them."""
    terminal, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(COMMAND, stdin=slave, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(terminal)
    if process.wait() != 0:
        sys.exit(f"exit {process.returncode}: {text.decode()}")
    return text.decode().split("\r")


for columns, bar in ((120, 30), (80, 30), (50, 3), (30, 0)):
    lines = drawn(columns)
    bars = [line for line in lines if line.startswith("[")]
    if not bars or any(len(line) >= columns or line.index("]") - 1 != bar for line in bars):
        sys.exit(f"{columns} columns: no bar of {bar}, or a line that wraps: {bars[:3]}")
    last = lines.index(bars[-1]) + 1
    if lines[last].strip() or len(lines[last]) < len(bars[-1].rstrip()):
        sys.exit(f"{columns} columns: the bar is left behind: {lines[last:]}")
    if columns > 40 and not any("%" in line and "left" in line for line in bars):
        sys.exit(f"{columns} columns: no share or time left: {bars[-1]}")
    notes = "\n".join(lines[last + 1:]).split("\n")
    if not any("last-level" in note for note in notes) or columns >= 40 and any(len(note) > columns for note in notes):
        sys.exit(f"{columns} columns: no note on the ring, or one that wraps: {notes}")
print("progress: bars of terminals of 30 to 120 columns")
