package io.journalq.cli.journal;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Terminal;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.InvalidBatchException;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.control.MetadataLogCodec;
import io.journalq.server.journal.JournalCheck;
import io.journalq.server.journal.SegmentScan;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.journal.segment.Segment;
import io.journalq.server.journal.wal.WriteAheadLog;
import io.journalq.server.journal.wal.WriteAheadRecord;
import io.journalq.server.journal.wal.WriteAheadScan;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq journal dump}. One thread. */
@Command(
        name = "dump",
        description = {
            "Prints the batches of a journal or segment file, one per line. With --records, prints their records, too.",
            "For a write-ahead file, prints the segment and range of each entry."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq journal dump data/metadata",
            "  journalq journal dump data/metadata/00000000000000000000.log --records",
            "  journalq journal dump data/write-ahead/01.wal"
        })
final class DumpCommand extends ClientCommand {
    private static final int SHOWN_VALUE_BYTES = 200;

    @Parameters(
            paramLabel = "DIR|FILE",
            description = "A journal directory, one of its .log files, or a write-ahead file.")
    private Path path;

    @Option(names = "--records", description = "Prints the records of each batch, with keys and values.")
    private boolean showRecords;

    @Override
    protected void execute() throws IOException {
        if (wantsJson()) {
            throw wrongUsage("journal dump prints text only; leave --output json out");
        }
        FileStore store = new SystemFileStore();
        if (path.toString().endsWith(WriteAheadLog.FILE_SUFFIX)) {
            printWriteAheadFile(store);
            return;
        }
        for (Path log : logs(store)) {
            long baseOffset = JournalCheck.baseOffsetOf(log);
            if (baseOffset < 0) {
                throw new CommandFailure(log + " is not the name of a segment; use a file such as "
                        + "00000000000000000000.log, or its directory");
            }
            terminal().printLine(log.toString());
            boolean mayHaveKeys = mayHaveKeys(log);
            try (BatchReader reader =
                    new BatchReader(ByteBufAllocator.DEFAULT, BatchReader.DEFAULT_MAX_DECOMPRESSED_SIZE_BYTES, false)) {
                SegmentScan.read(store, log, baseOffset, new SegmentScan.Visitor() {
                    @Override
                    public void onBatch(int position, ByteBuf header, SegmentScan.Reader whole) throws IOException {
                        printBatch(position, header);
                        if (showRecords) {
                            printRecords(reader, whole.read(), mayHaveKeys);
                        }
                    }

                    @Override
                    public void onBadBytes(int position, int endPosition) {
                        terminal().printLine("  byte " + position + "  bad: no valid batch up to byte " + endPosition);
                    }
                });
            }
        }
    }

    /** Whether a segment can be one of the metadata. A copy of these can have any name, but not that of a partition. */
    private static boolean mayHaveKeys(Path log) {
        Path directory = log.toAbsolutePath().normalize().getParent();
        return !VerifyCommand.PARTITION_DIRECTORY
                .matcher(String.valueOf(directory.getFileName()))
                .matches();
    }

    private void printWriteAheadFile(FileStore store) throws IOException {
        try (WriteAheadScan scan = WriteAheadScan.open(store, path)) {
            for (WriteAheadRecord record = scan.next(); record != null; record = scan.next()) {
                String line = "  byte " + scan.recordPosition() + "  sequence " + record.sequence() + "  journal "
                        + Terminal.printable(record.directory());
                terminal()
                        .printLine(
                                record.isCut()
                                        ? line + "  cut " + record.endOffset()
                                        : line + "  segment " + record.segmentBaseOffset() + "  position "
                                                + record.position() + "  end " + record.endOffset() + "  size "
                                                + record.data().remaining());
            }
        }
    }

    private List<Path> logs(FileStore store) throws IOException {
        if (Files.isRegularFile(path)) {
            return List.of(path);
        }
        if (!Files.isDirectory(path)) {
            throw new NoSuchFileException(path.toString());
        }
        List<Path> logs = new ArrayList<>();
        for (String name : store.list(path)) {
            if (Segment.isLog(name) && JournalCheck.baseOffsetOf(path.resolve(name)) >= 0) {
                logs.add(path.resolve(name));
            }
        }
        if (logs.isEmpty()) {
            throw new CommandFailure("there is no segment in " + path + "; use the directory of one journal");
        }
        return logs;
    }

    private void printBatch(int position, ByteBuf header) {
        StringBuilder line = new StringBuilder("  byte ").append(position);
        line.append("  offsets ").append(RecordBatch.baseOffset(header, 0));
        line.append("..").append(RecordBatch.lastOffset(header, 0));
        line.append("  records ").append(RecordBatch.recordCount(header, 0));
        line.append("  size ").append(RecordBatch.sizeBytes(header, 0));
        line.append("  epoch ").append(RecordBatch.leaderEpoch(header, 0));
        line.append("  codec ").append(codec(RecordBatch.compressionId(header, 0)));
        line.append("  max-time ").append(RecordBatch.maxTimestamp(header, 0));
        if (RecordBatch.producerId(header, 0) >= 0) {
            line.append("  producer ").append(RecordBatch.producerId(header, 0));
            line.append(" epoch ").append(RecordBatch.producerEpoch(header, 0));
            line.append(" sequence ").append(RecordBatch.baseSequence(header, 0));
        }
        line.append(RecordBatch.isTransactional(header, 0) ? "  transactional" : "");
        line.append(RecordBatch.isControl(header, 0) ? "  control" : "");
        line.append(String.format(Locale.ROOT, "  crc %08x", RecordBatch.crc(header, 0)));
        terminal().printLine(line.toString());
    }

    private static String codec(int id) {
        for (CompressionCodec codec : CompressionCodec.values()) {
            if (codec.id() == id) {
                return codec.name().toLowerCase(Locale.ROOT);
            }
        }
        return "unknown " + id;
    }

    private void printRecords(BatchReader reader, ByteBuf batch, boolean mayHaveKeys) {
        try {
            reader.reset(batch);
            while (reader.nextBatch()) {
                while (reader.next()) {
                    terminal()
                            .printLine("    offset " + reader.offset() + "  time "
                                    + Instant.ofEpochMilli(reader.timestampMs()) + "  key " + text(reader.key())
                                    + "  value " + value(reader.value(), mayHaveKeys) + headers(reader));
                }
            }
        } catch (InvalidBatchException bad) {
            terminal().printLine("    bad: " + bad.getMessage());
        }
    }

    private static String headers(BatchReader reader) {
        StringBuilder text = new StringBuilder();
        reader.headers().forEach(header -> text.append("  header ").append(Terminal.printable(header.key())));
        return text.toString();
    }

    /** The keys of users are not shown, because the password can be guessed with them. */
    private static String value(ByteBuf value, boolean mayHaveKeys) {
        return mayHaveKeys && MetadataLogCodec.isSecret(value) ? "(not shown: the keys of a user)" : text(value);
    }

    /** Returns the beginning of the text, on one line. */
    private static String text(ByteBuf bytes) {
        if (bytes == null) {
            return "null";
        }
        int shown = Math.min(SHOWN_VALUE_BYTES, bytes.readableBytes());
        String text = Terminal.printable(bytes.toString(bytes.readerIndex(), shown, StandardCharsets.UTF_8));
        return '"' + text + '"' + (shown < bytes.readableBytes() ? " (of " + bytes.readableBytes() + " bytes)" : "");
    }
}
