package io.journalq.cli.message;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Position;
import io.journalq.cli.shell.Quantity;
import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecords;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.WakeupException;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.RebalanceListener;
import io.journalq.common.commandline.DurationOption;
import io.journalq.common.id.TopicPartition;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq consume}. One thread. */
@Command(
        name = "consume",
        description = "Reads the messages of a topic and writes them to standard output, one per line.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  journalq consume orders                                new messages",
            "  journalq consume orders --from beginning --until end   existing messages",
            "  journalq consume orders --from '10m ago' --format '{partition} {key} {value}'",
            "  journalq consume orders --count --from 2026-01-31 --until 2026-02-01",
            "  journalq consume orders --group billing --from beginning --timeout 5s",
            "  journalq consume orders --partition 3 --from 1500 --max-messages 10"
        })
public final class ConsumeCommand extends ClientCommand {
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(200);
    private static final long PROGRESS_INTERVAL_NS = 500_000_000L;
    private static final long WARNING_INTERVAL_NS = 30_000_000_000L;

    @Parameters(paramLabel = "TOPIC", description = "Name of the topic.")
    private String topic;

    @Option(
            names = "--from",
            paramLabel = "POSITION",
            defaultValue = "end",
            description = "Where to start: " + Position.FORMS + " (default: end, which means new messages only).")
    private String from;

    @Option(
            names = "--until",
            paramLabel = "POSITION",
            description =
                    "Where to stop, exclusive. The same forms as for --from; 'end' is the end of the partition when "
                            + "the command starts (default: never).")
    private String until;

    @Option(
            names = "--group",
            paramLabel = "NAME",
            description = "Reads as a member of this group: continues at its committed offsets, and commits what was "
                    + "written. --from is then beginning or end, for partitions without a committed offset.")
    private String group;

    @Option(names = "--max-messages", paramLabel = "COUNT", description = "Ends after this many messages.")
    private long maxMessages = Long.MAX_VALUE;

    @Option(
            names = "--timeout",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Ends when no message has arrived for this time, such as 5s (default: never).")
    private Duration timeout;

    @Option(
            names = "--partition",
            paramLabel = "NUMBER",
            split = ",",
            description = "Reads only these partitions, such as 0,5 (default: all).")
    private List<Integer> partitions;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description = "value, json (with key, headers, offset, partition and timestamp), or a template of {topic}, "
                    + "{partition}, {offset}, {timestamp}, {time}, {key}, {value}, {size} and {headers} "
                    + "(default: value; with --output json: json).")
    private String format;

    @Option(names = "--count", description = "Shows only the number of messages and their size.")
    private boolean countOnly;

    @Option(
            names = "--key-separator",
            paramLabel = "TEXT",
            description = "With --format value: shows KEY, this text, VALUE; \\t stands for a tab.")
    private String keySeparator;

    @Mixin
    private SealPolicies seal;

    private final Clock clock = Clock.systemUTC();
    private final VisitedMessage shown = new VisitedMessage();
    private long messageCount;
    private long messageBytes;
    private JournalQException warned;
    private long nextWarningNs = System.nanoTime();
    /** With --group, by partition: the offset after the last written message, or 0 if it is committed. */
    private long[] nextOffsets = {};

    @Override
    protected void execute() {
        Position start = read(from, text -> Position.parse(text, clock.instant(), ZoneId.systemDefault()));
        Position stop = until == null
                ? null
                : read(until, text -> Position.parse(text, clock.instant(), ZoneId.systemDefault()));
        if (format != null && !format.equals("json") && wantsJson() && !countOnly) {
            throw wrongUsage("--output json shows messages as JSON; leave out --format or --output");
        }
        String shown = format != null ? format : wantsJson() ? "json" : "value";
        String separator = keySeparator == null ? null : MessageFormat.unescape(keySeparator);
        MessageFormat messageFormat = read(shown, text -> MessageFormat.parse(text, separator, terminal()));
        if (maxMessages < 1) {
            throw wrongUsage("--max-messages must be 1 or more");
        }
        if (group != null) {
            checkGroup(start);
            readAsMember(start, messageFormat);
        } else {
            readRange(start, stop, messageFormat);
        }
        if (countOnly) {
            printCount();
        }
    }

    private void checkGroup(Position start) {
        if (group.isBlank()) {
            throw wrongUsage("--group must not be empty");
        }
        if (until != null || partitions != null) {
            throw wrongUsage("--group cannot be combined with --until or --partition");
        }
        if (!(start instanceof Position.Beginning) && !(start instanceof Position.End)) {
            throw wrongUsage("with --group, --from must be beginning or end; to move the committed offsets, run"
                    + " journalq groups reset-offsets");
        }
    }

    /** Commits after the messages are written: they are written at least once. Leaves the group in any case. */
    private void readAsMember(Position start, MessageFormat messageFormat) {
        Consumer.Builder builder =
                Consumer.builder().groupId(group).autoCommit(false).startAt(Consumer.Start.BEGINNING);
        try (InterruptGuard guard = new InterruptGuard();
                Consumer consumer =
                        seal.apply(program().configure(builder), terminal()).build()) {
            guard.onInterrupt(consumer::wakeup);
            // An unknown topic is an error here, as it is without a group.
            consumer.partitionsOf(topic);
            consumer.subscribe(
                    List.of(topic), start instanceof Position.End ? atEnd(consumer) : RebalanceListener.NONE);
            readAll(consumer, ReadRange.ofMember(consumer, clock), messageFormat);
        } catch (WakeupException interrupted) {
            terminal().flush();
        }
    }

    /**
     * Starts partitions without a committed offset at their ends. If the messages at a committed offset were deleted,
     * those that follow them must not be skipped.
     */
    private static RebalanceListener atEnd(Consumer consumer) {
        return new RebalanceListener() {
            @Override
            public void onAssigned(Collection<TopicPartition> partitions) {
                Set<TopicPartition> fresh = new LinkedHashSet<>(partitions);
                fresh.removeAll(consumer.committed(partitions).keySet());
                consumer.seekToEnd(fresh);
            }
        };
    }

    private void readRange(Position start, Position stop, MessageFormat messageFormat) {
        // Retention can delete messages before they are read. Those that follow them must not be skipped.
        Consumer.Builder builder = Consumer.builder().startAt(Consumer.Start.BEGINNING);
        try (Consumer consumer =
                seal.apply(program().configure(builder), terminal()).build()) {
            ReadRange range = new ReadRange(consumer, partitionsToRead(consumer), clock);
            range.start(start);
            range.stopAt(stop);
            if (start instanceof Position.End && stop == null && terminal().writesToPerson()) {
                terminal()
                        .tell("Waiting for new messages in " + topic
                                + "; to show existing messages, add --from beginning.");
            }
            readAll(consumer, range, messageFormat);
        }
    }

    private void printCount() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("topic", topic);
        json.put("messages", messageCount);
        json.put("sizeBytes", messageBytes);
        report(Quantity.count(messageCount, "message") + ", " + Quantity.size(messageBytes), json);
    }

    private void readAll(Consumer consumer, ReadRange range, MessageFormat messageFormat) {
        long lastMessageNs = System.nanoTime();
        long nextProgressNs = System.nanoTime() + PROGRESS_INTERVAL_NS;
        while (!range.finished()) {
            long before = messageCount;
            ConsumerRecords records = consumer.poll(POLL_TIMEOUT);
            if (countOnly) {
                count(records, range);
            } else {
                show(records, range, messageFormat);
            }
            // Flushes immediately, so that each message is visible when it arrives.
            terminal().flush();
            commit(consumer, messageCount - before == records.count());
            if (messageCount == maxMessages) {
                return;
            }
            if (messageCount > before) {
                lastMessageNs = System.nanoTime();
            } else {
                warnOfFailures(consumer);
                if (timeout != null
                        && Duration.ofNanos(System.nanoTime() - lastMessageNs).compareTo(timeout) >= 0) {
                    return;
                }
            }
            if ((countOnly || !terminal().writesToPerson()) && System.nanoTime() - nextProgressNs > 0) {
                terminal().showProgress(Quantity.count(messageCount, "message") + " read");
                nextProgressNs = System.nanoTime() + PROGRESS_INTERVAL_NS;
            }
        }
    }

    /** Reports why no messages arrive, because the consumer retries without an exception. */
    private void warnOfFailures(Consumer consumer) {
        JournalQException last = consumer.metrics().lastError();
        if (last != warned && System.nanoTime() - nextWarningNs >= 0) {
            terminal().warn(last.getMessage());
            warned = last;
            nextWarningNs = System.nanoTime() + WARNING_INTERVAL_NS;
        }
    }

    /** Writes the messages without copying them. */
    private void show(ConsumerRecords records, ReadRange range, MessageFormat messageFormat) {
        records.visit((topicName, partition, record) -> {
            if (messageCount < maxMessages && range.contains(partition, record.offset(), record.timestampMs())) {
                messageFormat.print(shown.at(topicName, partition, record));
                messageCount++;
                written(partition, record.offset());
            }
        });
    }

    /** Counts the messages without copying them. */
    private void count(ConsumerRecords records, ReadRange range) {
        records.visit((topicName, partition, record) -> {
            if (messageCount < maxMessages && range.contains(partition, record.offset(), record.timestampMs())) {
                messageCount++;
                messageBytes += Math.max(0, record.valueSizeBytes());
                written(partition, record.offset());
            }
        });
    }

    private void written(int partition, long offset) {
        if (group != null) {
            if (partition >= nextOffsets.length) {
                nextOffsets = Arrays.copyOf(nextOffsets, Math.max(partition + 1, 2 * nextOffsets.length));
            }
            nextOffsets[partition] = offset + 1;
        }
    }

    /**
     * Commits what was written since the last commit, which is less than what was polled after --max-messages. Only the
     * positions of the consumer also cover what is behind the last message, and contain what detects repetitions of
     * sealed batches.
     *
     * @param isComplete whether all that was polled was written
     */
    private void commit(Consumer consumer, boolean isComplete) {
        Map<TopicPartition, CommittedOffset> offsets = new LinkedHashMap<>();
        for (int partition = 0; partition < nextOffsets.length; partition++) {
            if (nextOffsets[partition] > 0) {
                offsets.put(new TopicPartition(topic, partition), CommittedOffset.of(nextOffsets[partition]));
            }
        }
        if (offsets.isEmpty()) {
            return;
        }
        if (isComplete && seal.isUsed()) {
            consumer.commit();
        } else {
            consumer.commit(offsets);
        }
        Arrays.fill(nextOffsets, 0);
    }

    private Set<TopicPartition> partitionsToRead(Consumer consumer) {
        Set<TopicPartition> all = consumer.partitionsOf(topic);
        if (partitions == null) {
            return all;
        }
        Set<TopicPartition> chosen = new TreeSet<>(java.util.Comparator.comparingInt(TopicPartition::partition));
        for (int number : partitions) {
            TopicPartition partition = number < 0 ? null : new TopicPartition(topic, number);
            if (!all.contains(partition)) {
                throw new CommandFailure(
                        "topic " + topic + " has no partition " + number + "; it has 0 to " + (all.size() - 1));
            }
            chosen.add(partition);
        }
        return chosen;
    }

    /** Parses the text of an option. An error is a usage error. */
    private <T> T read(String text, Function<String, T> reader) {
        try {
            return reader.apply(text);
        } catch (IllegalArgumentException wrong) {
            throw wrongUsage(wrong.getMessage());
        }
    }
}
