package io.journalq.bench.measure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Finds the process that listens at a port of this machine, as the kernel's tables in {@code /proc} tell. */
public final class LocalListener {
    private static final String LISTENING = "0A";
    private static final int LOCAL_ADDRESS = 1;
    private static final int STATE = 3;
    private static final int INODE = 9;

    private LocalListener() {}

    /** The process id, or 0 when the broker runs elsewhere or cannot be seen. */
    public static long pidOf(String bootstrap) {
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
