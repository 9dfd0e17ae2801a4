package io.journalq.cli.journal;

import io.journalq.server.journal.JournalFinding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What a repair does about one finding. Immutable; equal when it would do the same.
 *
 * @param kind of the finding
 * @param file that it is about
 * @param from where it is cut off; 0 when all of it goes
 * @param to where it, or what is cut off it, goes; null when nothing is done
 * @param why for people
 */
record RepairStep(JournalFinding.Kind kind, Path file, long from, Path to, String why) {
    private static final int COPY_BYTES = 1 << 20;

    static RepairStep of(JournalFinding finding, Path aside) {
        Path file = finding.file();
        return switch (finding.kind()) {
            case TORN_TAIL ->
                new RepairStep(
                        finding.kind(),
                        file,
                        finding.position(),
                        aside.resolve(file.getFileName() + "." + finding.position() + "-" + finding.endPosition()),
                        finding.what());
            case BAD_DERIVED_FILE ->
                new RepairStep(
                        finding.kind(), file, 0, aside.resolve(String.valueOf(file.getFileName())), consequence(file));
            case CUT_OFF ->
                new RepairStep(
                        finding.kind(), file, 0, aside.resolve(String.valueOf(file.getFileName())), finding.what());
            case BAD_STRETCH, MISSING_DATA, STRAY_FILE ->
                new RepairStep(finding.kind(), file, finding.position(), null, finding.what());
        };
    }

    /** Everything in a file from {@code finding} on goes aside. */
    static RepairStep cut(JournalFinding finding, long fileBytes, Path aside, String why) {
        Path file = finding.file();
        long from = finding.position();
        return new RepairStep(
                JournalFinding.Kind.TORN_TAIL,
                file,
                from,
                aside.resolve(file.getFileName() + "." + from + "-" + fileBytes),
                why);
    }

    /** A file goes aside. */
    static RepairStep move(Path file, Path aside, String why) {
        return new RepairStep(
                JournalFinding.Kind.CUT_OFF, file, 0, aside.resolve(String.valueOf(file.getFileName())), why);
    }

    /** What follows when a file is missing that the next start would have used. */
    private static String consequence(Path file) {
        String name = String.valueOf(file.getFileName());
        if (name.endsWith(".index")) {
            return "it is made anew from its segment";
        }
        if (name.endsWith(".txnindex")) {
            return "it is made anew from the log, all of which is read";
        }
        return name.endsWith(".snapshot")
                ? "an older one is taken, and the log behind it is read"
                : "the next start checks every batch, and records deleted by request may show again";
    }

    /** Whether anything is done. */
    boolean changes() {
        return to != null;
    }

    /** Does it. What is taken away reaches the disk before anything is cut. */
    void run() throws IOException {
        if (to == null) {
            return;
        }
        Files.createDirectories(to.getParent());
        Path free = to;
        for (int copy = 1; Files.exists(free); copy++) {
            free = to.resolveSibling(to.getFileName() + "." + copy);
        }
        copy(file, from, free);
        if (kind == JournalFinding.Kind.TORN_TAIL) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.truncate(from);
                channel.force(true);
            }
        } else {
            Files.delete(file);
        }
    }

    private static void copy(Path source, long from, Path target) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
        try (FileChannel in = FileChannel.open(source, StandardOpenOption.READ);
                FileChannel out = FileChannel.open(target, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW)) {
            in.position(from);
            while (in.read(buffer.clear()) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining()) {
                    out.write(buffer);
                }
            }
            out.force(true);
        }
    }

    @Override
    public String toString() {
        return switch (kind) {
            case TORN_TAIL -> "cut " + file + " at byte " + from + ", what is cut goes to " + to + ": " + why;
            case CUT_OFF, BAD_DERIVED_FILE -> "move " + file + " to " + to + ": " + why;
            case BAD_STRETCH -> "leave " + file + " as it is from byte " + from + ", it is not served: " + why;
            case MISSING_DATA -> "cannot mend " + file + ", bring it back from a backup: " + why;
            case STRAY_FILE -> "leave " + file + ", it is not used: " + why;
        };
    }
}
