package io.journalq.bench.measure;

import io.journalq.bench.BenchException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Finds a process of this machine by its id, its command line or its port. Stateless. */
public final class ProcessFinder {
    private static final String LISTENING = "0A";
    private static final int LOCAL_ADDRESS = 1;
    private static final int STATE = 3;
    private static final int INODE = 9;

    private ProcessFinder() {}

    /** {@code wanted} is a process id, or a text that the command line of exactly one other process contains. */
    public static long find(String wanted) {
        if (!wanted.isEmpty() && wanted.chars().allMatch(Character::isDigit)) {
            return Long.parseLong(wanted);
        }
        List<Long> found = ProcessHandle.allProcesses()
                .filter(process -> process.pid() != ProcessHandle.current().pid())
                .filter(process -> commandLine(process.pid()).contains(wanted))
                .map(ProcessHandle::pid)
                .toList();
        if (found.size() != 1) {
            throw new BenchException(
                    found.size() + " processes have a command line that contains '" + wanted + "'",
                    "use --process with a process id, or with a text that only the broker's command line contains");
        }
        return found.get(0);
    }

    private static String commandLine(long pid) {
        return String.join(" ", ProcFile.lines("/proc/" + pid + "/cmdline")).replace('\0', ' ');
    }

    /** The process that listens at the port of {@code bootstrap}, as /proc shows; 0 if it is unknown or on another machine. */
    public static long listeningAt(String bootstrap) {
        int colon = bootstrap.lastIndexOf(':');
        try {
            int port = Integer.parseInt(bootstrap.substring(colon + 1));
            String inode = inodeOf(port, "/proc/net/tcp");
            inode = inode == null ? inodeOf(port, "/proc/net/tcp6") : inode;
            return inode == null ? 0 : holderOf("socket:[" + inode + "]");
        } catch (NumberFormatException | IOException | UncheckedIOException cannotTell) {
            return 0;
        }
    }

    private static String inodeOf(int port, String table) throws IOException {
        String suffix = ":" + "%04x".formatted(port).toUpperCase(Locale.ROOT);
        for (String line : Files.readAllLines(Path.of(table))) {
            List<String> fields = List.of(line.trim().split("\\s+", -1));
            if (fields.size() > INODE
                    && fields.get(LOCAL_ADDRESS).endsWith(suffix)
                    && fields.get(STATE).equals(LISTENING)) {
                return fields.get(INODE);
            }
        }
        return null;
    }

    private static long holderOf(String socket) throws IOException {
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            return processes
                    .filter(process -> process.getFileName().toString().chars().allMatch(Character::isDigit))
                    .filter(process -> holds(process, socket))
                    .mapToLong(process -> Long.parseLong(process.getFileName().toString()))
                    .findFirst()
                    .orElse(0);
        }
    }

    private static boolean holds(Path process, String socket) {
        try (Stream<Path> files = Files.list(process.resolve("fd"))) {
            return files.anyMatch(file -> {
                try {
                    return Files.readSymbolicLink(file).toString().equals(socket);
                } catch (IOException gone) {
                    return false;
                }
            });
        } catch (IOException notOurs) {
            return false;
        }
    }
}
