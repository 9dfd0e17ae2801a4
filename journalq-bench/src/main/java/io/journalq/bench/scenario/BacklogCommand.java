package io.journalq.bench.scenario;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.MessageOptions;
import io.journalq.bench.option.Options;
import io.journalq.bench.option.TurnOptions;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.output.ResultDirectory;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.payload.Stamp;
import io.journalq.bench.peer.Delivery;
import io.journalq.bench.peer.PubSubDriver;
import io.journalq.bench.peer.PubSubDriver.Subscriber;
import io.journalq.bench.traffic.Traffic;
import java.io.File;
import java.nio.file.Path;
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
import io.journalq.bench.measure.Statistics;

/** {@code journalq-bench backlog}: a consumer that is far behind catches up while producers go on. */
@Command(
        name = "backlog",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Stores --size of messages, then publishes on at --rate: first alone, for --duration, then while a reader"
                    + " goes",
            "through everything from the beginning. Shows how fast it catches up and what that does to the time that",
            "publishers wait for their acknowledgements. Brokers take turns, the others are frozen.",
            "Exits with 0 when the reader caught up and every message was intact, 1 when not, 2 on a wrong command"
                    + " line."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench backlog --size 10240",
            "  journalq-bench backlog --brokers journalq,kafka --size 1024 --rate 20000"
        })
public final class BacklogCommand implements Callable<Integer> {
    private static final String TOPIC = "backlog-bench-";
    private static final long MIB = 1 << 20;
    private static final long MOST_BY_DEFAULT_MIB = 10 << 10;
    /** What may be used of the free disk when nothing is said. */
    private static final int PART_OF_FREE_DISK = 4;

    private static final int UNCONFIRMED = 2_000;
    private static final long ANSWER_TIMEOUT_MS = 60_000;
    private static final long SILENCE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long POLL_MS = 20;
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    @Option(
            names = "--size",
            paramLabel = "MIB",
            description = "How far the reader is behind. Default: 10240 (10 GiB), or a quarter of the free disk.")
    private Long sizeMib;

    @Option(
            names = "--rate",
            defaultValue = "10000",
            paramLabel = "MESSAGES",
            description = "Published a second meanwhile. Default: 10000.")
    private long rate;

    @Option(names = "--publishers", defaultValue = "2", description = "Default: 2.")
    private int publishers;

    @Option(names = "--partitions", defaultValue = "16", description = "Of each topic. Default: 16.")
    private int partitions;

    @Option(names = "--delivery", defaultValue = "at-least-once", description = Delivery.WORDS + ".")
    private Delivery delivery;

    @Option(
            names = "--results",
            paramLabel = "DIRECTORY",
            description = "For results.csv and results.json. Default: a new directory in bench-results.")
    private Path results;

    @Mixin
    private TurnOptions turns;

    @Mixin
    private MessageOptions message;

    @Mixin
    private BrokerOptions brokers;

    @Mixin
    private OutputOptions output;

    private final List<Map<String, Object>> rows = new ArrayList<>();

    @Override
    public Integer call() throws InterruptedException {
        Options.requirePositive("--rate", rate);
        Options.requirePositive("--publishers", publishers);
        Options.requirePositive("--partitions", partitions);
        long mib = sizeMib == null ? defaultMib() : sizeMib;
        Options.requirePositive("--size", mib);
        Path directory = ResultDirectory.open(results, "backlog");
        PayloadPool pool = message.pool();
        try (BrokerTurns contenders =
                BrokerTurns.start(turns.brokers(), delivery, brokers).required()) {
            for (int repetition = 0; repetition < turns.repetitions(); repetition++) {
                contenders.eachInTurn(driver -> measure(driver, mib * MIB / message.sizeBytes(), pool));
            }
            Map<String, Object> about = contenders.about();
            about.put("backlog_mib", mib);
            about.put("rate", rate);
            about.put("publishers", publishers);
            about.put("partitions", partitions);
            about.put("message_size_bytes", message.sizeBytes());
            about.put("payload", message.payload());
            output.emit(about, rows, Map.of(), directory);
        }
        return rows.stream().allMatch(row -> row.get("check").equals("passed")) ? 0 : 1;
    }

    private static long defaultMib() {
        long freeMib = new File(System.getProperty("java.io.tmpdir")).getUsableSpace() / MIB;
        return Math.max(1, Math.min(MOST_BY_DEFAULT_MIB, freeMib / PART_OF_FREE_DISK));
    }

    private void measure(PubSubDriver driver, long messages, PayloadPool pool) throws InterruptedException {
        String topic = TOPIC + System.nanoTime();
        driver.createTopic(topic, partitions);
        try {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", driver.name());
            row.put("stored_messages", messages);
            row.put("store_mps", Math.round(store(driver, topic, messages, pool)));
            Traffic.Settings paced = new Traffic.Settings(publishers, 0, rate, 0, Integer.MAX_VALUE, 0, 1);
            try (Traffic traffic = Traffic.start(driver, topic, paced, pool)) {
                Thread.sleep(turns.warmup().toMillis());
                traffic.takeAnswers();
                Thread.sleep(turns.duration().toMillis());
                Latency alone = latency(traffic.takeAnswers());
                row.put("alone_p50_us", alone.p50Us());
                row.put("alone_p99_us", alone.p99Us());
                catchUp(driver, topic, messages, traffic, row);
                if (!traffic.stopPublishing(ANSWER_TIMEOUT_MS) || traffic.firstError() != null) {
                    row.put("check", "a publisher failed: " + traffic.firstError());
                }
            }
            rows.add(row);
        } finally {
            driver.deleteTopic(topic);
        }
    }

    /** Returns messages a second. */
    private double store(PubSubDriver driver, String topic, long messages, PayloadPool pool) throws InterruptedException {
        Traffic.Settings fill =
                new Traffic.Settings(publishers, 0, 0, Math.max(1, messages / publishers), UNCONFIRMED, 0, 1);
        long startNs = System.nanoTime();
        try (Traffic traffic = Traffic.start(driver, topic, fill, pool)) {
            Progress progress = new Progress(driver.name() + " stored");
            while (!traffic.isPublished()) {
                Thread.sleep(POLL_MS);
                progress.tell(traffic.counts().confirmed());
            }
            if (traffic.firstError() != null) {
                throw new BenchException(
                        "the backlog could not be stored: " + traffic.firstError(), "give a smaller --size");
            }
            return traffic.counts().confirmed() * 1e9 / (System.nanoTime() - startNs);
        }
    }

    private void catchUp(PubSubDriver driver, String topic, long stored, Traffic traffic, Map<String, Object> row)
            throws InterruptedException {
        LongAdder read = new LongAdder();
        LongAdder damaged = new LongAdder();
        AtomicReference<String> error = new AtomicReference<>();
        AtomicBoolean running = new AtomicBoolean(true);
        Thread reader = new Thread(() -> read(driver, topic, read, damaged, error, running), "reader");
        ResourceUse.Meter meter = ResourceUse.start(brokers.pid(driver));
        long startNs = System.nanoTime();
        reader.start();
        boolean caughtUp = await(read, stored, traffic, error, driver.name());
        double seconds = (System.nanoTime() - startNs) / 1e9;
        ResourceUse use = meter.stop();
        Latency during = latency(traffic.takeAnswers());
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
            return damaged + " messages came damaged";
        }
        return caughtUp ? "passed" : "the reader did not catch up";
    }

    private boolean await(LongAdder read, long stored, Traffic traffic, AtomicReference<String> error, String broker)
            throws InterruptedException {
        Progress progress = new Progress(broker + " read");
        long last = 0;
        long newsNs = System.nanoTime();
        // What publishers do in a tenth of a second is not being behind.
        while (read.sum() < stored + traffic.counts().confirmed() - rate / 10) {
            Thread.sleep(POLL_MS);
            long now = read.sum();
            progress.tell(now);
            newsNs = now == last ? newsNs : System.nanoTime();
            last = now;
            if (error.get() != null || System.nanoTime() - newsNs > SILENCE_NS) {
                return false;
            }
        }
        return true;
    }

    private static void read(
            PubSubDriver driver,
            String topic,
            LongAdder read,
            LongAdder damaged,
            AtomicReference<String> error,
            AtomicBoolean running) {
        try (Subscriber subscriber = driver.openReader(topic)) {
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
