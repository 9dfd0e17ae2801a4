package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.option.TopicOptions;
import io.journalq.bench.option.TurnOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.payload.Stamp;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import io.journalq.bench.traffic.Traffic;
import io.journalq.common.commandline.SizeOption;
import java.io.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench backlog}: a consumer reads a stored backlog while producers continue. */
@Command(
        name = "backlog",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures how fast a consumer reads a backlog, and what that does to the latency of producers.",
            "Stores --size of messages, then publishes at --rate: first for --duration without a reader, then until a"
                    + " reader that started at the beginning has caught up. The brokers take turns; while one is measured,"
                    + " the others are frozen.",
            "Exit code: 0 if the reader caught up and every message was intact, 1 if not, 2 if the command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench backlog --size 10GiB",
            "  journalq-bench backlog --brokers journalq,kafka --size 1GiB --rate 20000"
        })
public final class BacklogCommand implements Callable<Integer> {
    private static final String TOPIC = "backlog-bench-";
    private static final long MIB = 1 << 20;
    private static final long MAX_DEFAULT_SIZE_BYTES = 10L << 30;
    /** Without --size, at most this fraction of the free disk is used. */
    private static final int FREE_DISK_DIVISOR = 4;

    private static final int UNCONFIRMED = 2_000;
    private static final long RESPONSE_TIMEOUT_MS = 60_000;
    private static final long SILENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long POLL_MS = 20;
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    @Option(
            names = "--size",
            paramLabel = "SIZE",
            converter = SizeOption.class,
            description = "Size of the backlog (default: 10GiB, or a quarter of the free disk if that is less).")
    private Long sizeBytes;

    @Option(
            names = "--rate",
            defaultValue = "10000",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveLong.class,
            description = "Messages per second that publishers send meanwhile (default: ${DEFAULT-VALUE}).")
    private long rate;

    @Option(
            names = "--publishers",
            defaultValue = "2",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of publishers (default: ${DEFAULT-VALUE}).")
    private int publishers;

    @Mixin
    private TopicOptions topic;

    @Mixin
    private TurnOptions turns;

    @Mixin
    private MessageOptions message;

    @Mixin
    private BrokerOptions brokers;

    @Mixin
    private ResultDirectory results;

    @Mixin
    private OutputOptions output;

    private final List<Map<String, Object>> rows = new ArrayList<>();

    @Override
    public Integer call() throws InterruptedException {
        PayloadPool pool = message.pool();
        long backlogBytes = sizeBytes == null ? defaultSizeBytes() : sizeBytes;
        try (BrokerTurns measured =
                BrokerTurns.start(turns.brokers(), topic.delivery(), brokers).required()) {
            for (int repetition = 0; repetition < turns.repetitions(); repetition++) {
                measured.eachInTurn(driver -> measure(driver, backlogBytes / message.sizeBytes(), pool));
            }
            Map<String, Object> about = measured.about();
            about.put("backlog_mib", backlogBytes / MIB);
            about.put("rate", rate);
            about.put("publishers", publishers);
            about.put("partitions", topic.partitions());
            about.put("message_size_bytes", message.sizeBytes());
            about.put("payload", message.payload());
            output.emit(about, rows, Map.of(), results);
        }
        return rows.stream().allMatch(row -> row.get("check").equals("passed")) ? 0 : 1;
    }

    private static long defaultSizeBytes() {
        long freeBytes = new File(System.getProperty("java.io.tmpdir")).getUsableSpace();
        return Math.max(MIB, Math.min(MAX_DEFAULT_SIZE_BYTES, freeBytes / FREE_DISK_DIVISOR));
    }

    private void measure(PubSubDriver driver, long messages, PayloadPool pool) throws InterruptedException {
        String name = TOPIC + System.nanoTime();
        driver.createTopic(name, topic.partitions());
        try {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", driver.name());
            row.put("stored_messages", messages);
            row.put("store_mps", Math.round(store(driver, name, messages, pool)));
            Traffic.Settings paced = new Traffic.Settings(publishers, 0, rate, 0, Integer.MAX_VALUE, 0, 1);
            try (Traffic traffic = Traffic.start(driver, name, paced, pool)) {
                Thread.sleep(turns.warmup().toMillis());
                traffic.takeAcknowledged();
                Thread.sleep(turns.duration().toMillis());
                Latency alone = latency(traffic.takeAcknowledged());
                row.put("alone_p50_us", alone.p50Us());
                row.put("alone_p99_us", alone.p99Us());
                catchUp(driver, name, messages, traffic, row);
                if (!traffic.stopPublishing(RESPONSE_TIMEOUT_MS) || traffic.firstError() != null) {
                    row.put("check", "a publisher failed: " + traffic.firstError());
                }
            }
            rows.add(row);
        } finally {
            driver.deleteTopic(name);
        }
    }

    /** Returns the rate in messages per second. */
    private double store(PubSubDriver driver, String name, long messages, PayloadPool pool)
            throws InterruptedException {
        Traffic.Settings fill =
                new Traffic.Settings(publishers, 0, 0, Math.max(1, messages / publishers), UNCONFIRMED, 0, 1);
        long startNs = System.nanoTime();
        try (Traffic traffic = Traffic.start(driver, name, fill, pool)) {
            Progress progress = new Progress(driver.name() + " stored");
            while (!traffic.isPublished()) {
                Thread.sleep(POLL_MS);
                progress.tell(traffic.counts().confirmed());
            }
            if (traffic.firstError() != null) {
                throw new BenchException("cannot store the backlog: " + traffic.firstError(), "use a smaller --size");
            }
            return traffic.counts().confirmed() * 1e9 / (System.nanoTime() - startNs);
        }
    }

    private void catchUp(PubSubDriver driver, String name, long stored, Traffic traffic, Map<String, Object> row)
            throws InterruptedException {
        LongAdder read = new LongAdder();
        LongAdder damaged = new LongAdder();
        AtomicReference<String> error = new AtomicReference<>();
        AtomicBoolean running = new AtomicBoolean(true);
        Thread reader = new Thread(() -> read(driver, name, read, damaged, error, running), "reader");
        ResourceUse.Meter meter = ResourceUse.start(brokers.nodes(driver));
        long startNs = System.nanoTime();
        reader.start();
        boolean caughtUp = await(read, stored, traffic, error, driver.name());
        double seconds = (System.nanoTime() - startNs) / 1e9;
        ResourceUse use = meter.stop();
        Latency during = latency(traffic.takeAcknowledged());
        running.set(false);
        reader.join();
        row.put("catch_up_s", Statistics.thousandths(seconds));
        row.put("catch_up_mps", Math.round(read.sum() / seconds));
        row.put("catch_up_mib_per_s", Statistics.tenths(read.sum() / seconds * message.sizeBytes() / MIB));
        row.put("during_p50_us", during.p50Us());
        row.put("during_p99_us", during.p99Us());
        row.put("cpu_percent", Statistics.tenths(100 * use.brokerCores()));
        row.put("memory_bytes", use.brokerMaxResidentBytes());
        row.put("check", check(caughtUp, damaged.sum(), error.get()));
    }

    private static String check(boolean caughtUp, long damaged, String error) {
        if (error != null) {
            return "the reader failed: " + error;
        }
        if (damaged > 0) {
            return damaged + " messages were damaged";
        }
        return caughtUp ? "passed" : "the reader did not catch up";
    }

    private boolean await(LongAdder read, long stored, Traffic traffic, AtomicReference<String> error, String broker)
            throws InterruptedException {
        Progress progress = new Progress(broker + " read");
        long last = 0;
        long lastChangeNs = System.nanoTime();
        // The reader has caught up when it is at most a tenth of a second behind the publishers.
        while (read.sum() < stored + traffic.counts().confirmed() - rate / 10) {
            Thread.sleep(POLL_MS);
            long now = read.sum();
            progress.tell(now);
            lastChangeNs = now == last ? lastChangeNs : System.nanoTime();
            last = now;
            if (error.get() != null || System.nanoTime() - lastChangeNs > SILENCE_NS) {
                return false;
            }
        }
        return true;
    }

    private static void read(
            PubSubDriver driver,
            String name,
            LongAdder read,
            LongAdder damaged,
            AtomicReference<String> error,
            AtomicBoolean running) {
        try (Subscriber subscriber = driver.openReader(name)) {
            while (running.get()) {
                subscriber.poll(POLL_TIMEOUT, value -> {
                    read.increment();
                    if (Stamp.read(value) == null || !Stamp.isIntact(value)) {
                        damaged.increment();
                    }
                });
            }
        } catch (Exception e) {
            error.compareAndSet(null, e.toString());
        }
    }

    private static Latency latency(Histogram histogram) {
        return Latency.of(Latency.FROM_SCHEDULE, histogram);
    }
}
