package io.journalq.cli.journal;

import io.journalq.server.journal.JournalFinding;
import io.journalq.server.journal.file.FileStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The repair of one finding. Immutable; steps are equal if they have the same effect.
 *
 * @param kind the kind of the finding
 * @param file the file of the finding
 * @param from where the file is truncated; 0 if the whole file is moved
 * @param to where the removed part is moved; null if nothing is changed
 * @param why the reason, for the output
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

    /** Moves everything in a file from {@code finding} on aside. */
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

    /** Moves a file aside. */
    static RepairStep move(Path file, Path aside, String why) {
        return new RepairStep(
                JournalFinding.Kind.CUT_OFF, file, 0, aside.resolve(String.valueOf(file.getFileName())), why);
    }

    /** Describes the consequence of a missing file that the next start would have used. */
    private static String consequence(Path file) {
        String name = String.valueOf(file.getFileName());
        if (name.endsWith(".index")) {
            return "it is rebuilt from its segment";
        }
        if (name.endsWith(".txnindex")) {
            return "it is rebuilt from the whole log";
        }
        return name.endsWith(".snapshot")
                ? "an older one is used, and the log after it is read"
                : "the next start verifies every batch, and records that were deleted by request can reappear";
    }

    /** Whether the step changes anything. */
    boolean changes() {
        return to != null;
    }

    /** Whether the data can only come from a backup. */
    boolean isBeyondRepair() {
        return kind == JournalFinding.Kind.MISSING_DATA || kind == JournalFinding.Kind.BAD_STRETCH;
    }

    /** Executes the step. Removed data and its name are synced to the disk before anything is truncated. */
    void run(FileStore store) throws IOException {
        if (to == null) {
            return;
        }
        store.createDurableDirectories(to.getParent());
        Path free = to;
        for (int copy = 1; Files.exists(free); copy++) {
            free = to.resolveSibling(to.getFileName() + "." + copy);
        }
        copy(file, from, free);
        store.syncDirectory(to.getParent());
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
        try (FileChannel in = FileChannel.open(source, StandardOpenOption.READ);
                FileChannel out = FileChannel.open(target, StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW)) {
            try {
                copy(in.position(from), out);
            } catch (IOException | RuntimeException | Error failure) {
                deletePartOf(target, failure);
                throw failure;
            }
        }
    }

    private static void copy(FileChannel in, FileChannel out) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(COPY_BYTES);
        while (in.read(buffer.clear()) >= 0) {
            buffer.flip();
            while (buffer.hasRemaining()) {
                out.write(buffer);
            }
        }
        out.force(true);
    }

    /** An incomplete copy takes up space, and can be mistaken for what was removed. */
    private static void deletePartOf(Path copy, Throwable failure) {
        try {
            Files.delete(copy);
        } catch (IOException remains) {
            failure.addSuppressed(remains);
        }
    }

    @Override
    public String toString() {
        return switch (kind) {
            case TORN_TAIL -> "truncate " + file + " at byte " + from + ", the rest is moved to " + to + ": " + why;
            case CUT_OFF, BAD_DERIVED_FILE -> "move " + file + " to " + to + ": " + why;
            case BAD_STRETCH -> "leave " + file + " as it is from byte " + from + "; the data is not served: " + why;
            case MISSING_DATA -> "cannot repair " + file + ", restore it from a backup: " + why;
            case STRAY_FILE -> "leave " + file + ", which is not used: " + why;
        };
    }
}
