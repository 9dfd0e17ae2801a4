package io.journalq.cli.message;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Json;
import io.journalq.cli.shell.Quantity;
import io.journalq.client.Acks;
import io.journalq.client.Admin;
import io.journalq.client.Producer;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.record.RecordMetadata;
import io.journalq.common.commandline.SizeOption;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.Header;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code journalq produce}. The main thread reads lines and sends them. Threads of the client count the
 * acknowledgements.
 */
@Command(
        name = "produce",
        description =
                "Writes messages to a topic, one for each line of standard input. Lines end with LF or CRLF, which are"
                        + " not part of the message. Warns if this creates the topic.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  echo hello | journalq produce orders",
            "  echo 'customer-1:first' | journalq produce orders --key-separator :",
            "  echo hello | journalq produce orders --header source=shell",
            "  zcat old.txt.gz | journalq produce orders --compression lz4",
            "  journalq produce orders --format json < orders.json"
        })
public final class ProduceCommand extends ClientCommand {
    private static final int DEFAULT_MAX_LINE_BYTES = 1024 * 1024;
    private static final int LINE_OVERHEAD_BYTES = 16 * 1024;

    private static final int MAX_LINE_BYTES = Integer.MAX_VALUE - LINE_OVERHEAD_BYTES;
    /** Lines of a file fill batches within this time. Lines that a person types are sent immediately. */
    private static final int LINGER_MS = 5;

    private static final long PROGRESS_INTERVAL_NS = 500_000_000L;
    /** What was sent just before an interrupt is usually acknowledged within this time. */
    private static final long INTERRUPT_WAIT_MS = 1_000;

    @Parameters(paramLabel = "TOPIC", description = "Name of the topic.")
    private String topic;

    @Option(names = "--key", paramLabel = "KEY", description = "Key of all messages that have none.")
    private String key;

    @Option(
            names = "--key-separator",
            paramLabel = "TEXT",
            description = "Each line is KEY, this text, VALUE; \\t stands for a tab.")
    private String keySeparator;

    @Option(
            names = "--header",
            paramLabel = "NAME=VALUE",
            converter = HeaderConverter.class,
            description = "Header of all messages. Can be repeated.")
    private List<Header> headers = new ArrayList<>();

    @Option(
            names = "--format",
            paramLabel = "value|json",
            defaultValue = "value",
            description = "Format of a line: the value, or a JSON object with key, value, headers, partition "
                    + "and timestamp (default: value).")
    private String format;

    @Option(names = "--partition", paramLabel = "NUMBER", description = "Partition of all messages (default: any).")
    private int partition = ProducerRecord.ANY_PARTITION;

    @Option(
            names = "--compression",
            paramLabel = "CODEC",
            defaultValue = "none",
            description = "none, gzip, snappy, lz4 or zstd (default: none).")
    private CompressionCodec compression;

    @Option(
            names = "--acks",
            paramLabel = "0|1|all",
            defaultValue = "all",
            converter = AcksConverter.class,
            description = "How many replicas must acknowledge a message: none, the leader, or all in-sync "
                    + "replicas (default: all).")
    private Acks acks;

    @Option(
            names = "--max-line-size",
            paramLabel = "SIZE",
            converter = SizeOption.InMemory.class,
            description = "Maximum size of a line, such as 4MiB (default: 1MiB).")
    private int maxLineBytes = DEFAULT_MAX_LINE_BYTES;

    @Mixin
    private SealPolicies seal;

    private Acknowledgements acknowledgements;
    /** Whether the topic does not exist and the user has not been told so. */
    private boolean missing;

    @Override
    protected void execute() throws IOException, InterruptedException {
        if (!format.equals("value") && !format.equals("json")) {
            throw wrongUsage("--format must be value or json");
        }
        if (format.equals("json") && keySeparator != null) {
            throw wrongUsage("--key-separator requires --format value; JSON objects contain their keys");
        }
        if (maxLineBytes > MAX_LINE_BYTES) {
            throw wrongUsage("--max-line-size must be at most " + MAX_LINE_BYTES);
        }
        // Without a flush, the acknowledgements of a few messages stay in the buffer of the terminal.
        acknowledgements = new Acknowledgements(wantsJson() ? this::show : null, terminal()::flush);
        if (terminal().readsFromPerson()) {
            terminal().tell("Type messages, one per line. Ctrl-D ends.");
        }
        long bytes;
        try (InterruptReport report = new InterruptReport(this::reportInterrupt);
                Producer producer = seal.apply(program().configure(Producer.builder()))
                        .compression(compression)
                        .acks(acks)
                        .linger(Duration.ofMillis(terminal().readsFromPerson() ? 0 : LINGER_MS))
                        .maxRequestSizeBytes(
                                Math.max(maxLineBytes, 2 * LineBatches.BATCH_SIZE_BYTES) + LINE_OVERHEAD_BYTES)
                        .build();
                StallWatch watch = new StallWatch(
                        acknowledgements, () -> producer.metrics().lastError(), terminal()::warn)) {
            report.start();
            watch.start();
            missing = topicIsMissing();
            checkPartition(producer);
            bytes = sendLines(producer);
            producer.flush();
            acknowledgements.awaitAll();
        } catch (CommandFailure | JournalQException notSent) {
            if (acknowledgements.acknowledged() == 0) {
                throw notSent;
            }
            throw new CommandFailure(notSent.getMessage() + " ("
                    + Quantity.count(acknowledgements.acknowledged(), "message") + " before it written)");
        }
        acknowledgements.throwFailure(topic);
        terminal()
                .tell(Quantity.count(acknowledgements.acknowledged(), "message") + " (" + Quantity.size(bytes)
                        + ") written to " + topic);
    }

    /** Runs on another thread while the process ends. */
    private void reportInterrupt() {
        try {
            acknowledgements.awaitAll(INTERRUPT_WAIT_MS);
        } catch (InterruptedException enough) {
            Thread.currentThread().interrupt();
        }
        terminal()
                .tell("interrupted; " + Quantity.count(acknowledgements.acknowledged(), "message") + " written to "
                        + topic);
    }

    private void checkPartition(Producer producer) {
        if (partition == ProducerRecord.ANY_PARTITION) {
            return;
        }
        int count = partitionCount(producer);
        if (partition < 0 || partition >= count) {
            throw new CommandFailure(
                    "topic " + topic + " has no partition " + partition + "; it has 0 to " + (count - 1));
        }
    }

    private boolean topicIsMissing() {
        try (Admin admin = openAdmin()) {
            admin.describeTopics(List.of(topic));
            return false;
        } catch (UnknownTopicException unknown) {
            return true;
        }
    }

    /** Returns the number of partitions. Asking for it creates a missing topic if the broker allows that. */
    private int partitionCount(Producer producer) {
        int count = producer.partitionCount(topic);
        if (missing) {
            missing = false;
            terminal()
                    .warn("topic " + topic + " did not exist; the broker created it with "
                            + Quantity.count(count, "partition") + " and its default settings");
        }
        return count;
    }

    /** Returns the number of bytes read. */
    private long sendLines(Producer producer) throws IOException {
        String separator = keySeparator == null ? null : MessageFormat.unescape(keySeparator);
        LineParser parser = new LineParser(topic, partition, separator, key, headers, format.equals("json"));
        LineBatches batches = keysChooseThePartition() || wantsJson()
                ? null
                : new LineBatches(producer, topic, partition, acknowledgements);
        LineReader lines = new LineReader(terminal().in(), maxLineBytes, batches == null ? () -> {} : batches::ship);
        try {
            return sendLines(lines, parser, producer, batches);
        } finally {
            if (batches != null) {
                batches.ship();
            }
        }
    }

    private long sendLines(LineReader lines, LineParser parser, Producer producer, LineBatches batches)
            throws IOException {
        long bytes = 0;
        long nextProgressNs = System.nanoTime() + PROGRESS_INTERVAL_NS;
        for (byte[] line = lines.next(); line != null && !acknowledgements.failed(); line = lines.next()) {
            ProducerRecord record = parser.parse(line, lines.lineNumber());
            if (missing) {
                partitionCount(producer);
            }
            if (batches == null) {
                acknowledgements.follow(producer.sendAsync(record));
            } else {
                batches.add(record, line.length);
            }
            bytes += line.length;
            if (!terminal().readsFromPerson() && System.nanoTime() - nextProgressNs > 0) {
                terminal().showProgress(Quantity.count(acknowledgements.acknowledged(), "message") + " written");
                nextProgressNs = System.nanoTime() + PROGRESS_INTERVAL_NS;
            }
        }
        return bytes;
    }

    /** Whether each message has its own partition, by its key or its line. */
    private boolean keysChooseThePartition() {
        return format.equals("json")
                || (partition == ProducerRecord.ANY_PARTITION && (key != null || keySeparator != null));
    }

    private void show(RecordMetadata where) {
        terminal().printLine(Json.line(Acknowledgements.jsonOf(where)));
    }

    /** Converts a header. Several can have the same name. */
    static final class HeaderConverter implements ITypeConverter<Header> {
        @Override
        public Header convert(String text) {
            int separator = text.indexOf('=');
            if (separator <= 0) {
                throw new TypeConversionException("'" + text + "' is not of the form NAME=VALUE");
            }
            return new Header(
                    text.substring(0, separator), text.substring(separator + 1).getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Converts acknowledgements by their numbers in the protocol, or by name. */
    static final class AcksConverter implements ITypeConverter<Acks> {
        @Override
        public Acks convert(String text) {
            return switch (text) {
                case "0", "none" -> Acks.NONE;
                case "1", "leader" -> Acks.LEADER;
                case "all", "-1" -> Acks.ALL;
                default -> throw new TypeConversionException("'" + text + "' is not one of 0, 1, all");
            };
        }
    }
}
