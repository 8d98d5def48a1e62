"""Runs a command on a terminal, answers its question, and prints what it wrote. usage: terminal.py ANSWER PROGRAM [ARGUMENT...]"""

import fcntl
import os
import pty
import struct
import sys
import termios

answer, program = sys.argv[1], sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    columns = int(os.environ.get("COLUMNS", "80"))
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.execv(program[0], program)
said, is_answered = b"", False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:  # The other end is closed.
        break
    if not part:
        break
    said += part
    if not is_answered and b"[y/N] " in said:
        is_answered = True
        # Ctrl-C is no line.
        os.write(terminal, answer.encode() + (b"" if answer == "\x03" else b"\n"))
_, status = os.waitpid(child, 0)
sys.stdout.write(said.decode(errors="replace"))
sys.exit(os.waitstatus_to_exitcode(status))
