"""Runs the program and measures what it takes."""
import os
import tempfile


def runner(bench):
    def run(*arguments):
        """Exit code, standard output, standard error, seconds of the CPU (others may use the machine, too), MiB."""
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, err.fileno(), 2)]
        pid = os.posix_spawn(bench, [bench, *arguments], os.environ, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        seconds = usage.ru_utime + usage.ru_stime
        for stream in out, err:
            stream.seek(0)
        return (os.waitstatus_to_exitcode(status), out.read().decode(), err.read().decode(errors="replace"), seconds,
                usage.ru_maxrss / 1024)

    return run
