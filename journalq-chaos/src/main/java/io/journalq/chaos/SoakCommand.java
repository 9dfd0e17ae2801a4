package io.journalq.chaos;

import io.journalq.chaos.hostile.MetricsSampler;
import io.journalq.chaos.load.Churn;
import io.journalq.chaos.load.ClientThreads;
import io.journalq.chaos.load.Ledger;
import io.journalq.chaos.load.LoadClients;
import io.journalq.chaos.load.TransactionLedger;
import io.journalq.chaos.load.TransactionalClients;
import io.journalq.client.Acks;
import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.admin.NewTopic;
import io.journalq.common.commandline.DurationOption;
import io.journalq.common.commandline.ProgramVersion;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.process.LoopbackPorts;
import java.io.BufferedWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Keeps one broker under load for a long time, and checks whether its resources grow. */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        description = "Runs one broker under mixed load and checks for growth of memory, file handles and threads.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:nothing grew in the second half, and no client failed",
            "1:a resource grew or a client failed",
            "2:wrong usage"
        })
final class SoakCommand implements Callable<Integer> {
    private static final int PARTITIONS = 4;
    private static final int FEWEST_SAMPLES = 8;
    private static final String BROKER_HEAP = "256m";

    /** Growth up to which a column counts as stable: a share of its value, or a number of units. */
    private record Limit(String column, double share, double units) {}

    private static final List<Limit> LIMITS = List.of(
            new Limit("rss_kib", 0.03, 8_192),
            new Limit("heap_kib", 0.05, 1_024),
            new Limit("direct_kib", 0.03, 4_096),
            new Limit("file_handles", 0.03, 4),
            new Limit("threads", 0.03, 2));

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--duration",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            defaultValue = "2h",
            description = "Duration of the load (default: 2h).")
    private Duration duration;

    @Option(
            names = "--rate",
            paramLabel = "MESSAGES",
            defaultValue = "2000",
            description = "Approximate messages per second of all producers together (default: 2000).")
    private int rate;

    @Option(
            names = "--sample-interval",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            defaultValue = "20s",
            description = "Time between two samples. Each sample begins with a full collection (default: 20s).")
    private Duration sampleInterval;

    @Option(
            names = "--csv",
            paramLabel = "FILE",
            defaultValue = "soak.csv",
            description = "File for the samples (default: soak.csv).")
    private Path csv;

    @Override
    public Integer call() throws Exception {
        ChaosMain.requirePositive(spec, "--rate", rate);
        Path directory = Files.createTempDirectory("journalq-soak");
        int metricsPort = LoopbackPorts.next();
        List<String> settings = List.of(
                "admin.listener=127.0.0.1:" + metricsPort,
                "segment.bytes=1MiB",
                "segment.ms=1m",
                "retention.ms=1m",
                "log.retention.check.interval.ms=5s",
                "file.delete.delay.ms=5s",
                "producer.id.expiration.ms=1m",
                "offsets.topic.num.partitions=4",
                "transaction.state.log.num.partitions=4");
        System.out.printf(
                Locale.ROOT,
                "%d minutes, %d messages per second, directory %s, samples in %s%n",
                duration.toMinutes(),
                rate,
                directory,
                csv);
        Ledger ledger = new Ledger();
        List<List<Double>> samples = new ArrayList<>();
        try (BrokerUnderTest broker =
                new BrokerUnderTest(directory, LoopbackPorts.next(), BROKER_HEAP, List.of(), settings)) {
            broker.start();
            TransactionLedger transactions = new TransactionLedger(ledger);
            int producers = 2 * CompressionCodec.values().length;
            try (ClientThreads load = new ClientThreads(
                    ledger, broker.address(), Math.max(1, 1_000 * producers / rate), LoadClients.REQUEST_TIMEOUT)) {
                // Otherwise, a sample that fails would hide what was found before.
                ledger.attempt("the sampling", () -> {
                    begin(load, transactions);
                    sample(broker, new MetricsSampler(metricsPort), ledger, samples);
                });
            }
            System.out.printf(
                    Locale.ROOT,
                    "%d messages acknowledged, %d transactions committed, %d aborted%n",
                    ledger.acknowledgedCount(),
                    transactions.committedCount(),
                    transactions.abortedCount());
        }
        judge(samples, ledger);
        ledger.findings().forEach(finding -> System.out.println("FINDING " + finding));
        if (ledger.findings().isEmpty()) {
            ChaosMain.delete(directory);
        }
        return ledger.findings().isEmpty() ? 0 : 1;
    }

    private static void begin(ClientThreads load, TransactionLedger ledger) {
        List<NewTopic> topics = new ArrayList<>();
        List<TopicPartition> transactional = new ArrayList<>();
        CompressionCodec[] codecs = CompressionCodec.values();
        for (CompressionCodec codec : codecs) {
            topics.add(NewTopic.of("soak-" + codec.name().toLowerCase(Locale.ROOT), PARTITIONS));
        }
        topics.add(NewTopic.of("soak-transactions", PARTITIONS));
        for (int i = 0; i < PARTITIONS; i++) {
            transactional.add(new TopicPartition("soak-transactions", i));
        }
        try (Admin admin = Admin.builder().bootstrapServers(load.servers()).build()) {
            admin.createTopics(topics);
        }
        List<String> names = topics.stream().map(NewTopic::name).toList();
        for (int i = 0; i < codecs.length; i++) {
            LoadClients.produceWithKafka(load, 2 * i, names.get(i), PARTITIONS, codecs[i], Acks.ALL);
            LoadClients.produceWithJournalQ(load, 2 * i + 1, names.get(i), PARTITIONS, codecs[i], Acks.LEADER);
        }
        TransactionalClients transactions = new TransactionalClients(ledger, transactional);
        transactions.writeWithJournalQ(load, 2 * codecs.length, CompressionCodec.LZ4);
        transactions.writeWithKafka(load, 2 * codecs.length + 1, CompressionCodec.ZSTD);
        LoadClients.consumeWithKafka(load, "classic-group", "classic", "read_uncommitted", names);
        LoadClients.consumeWithKafka(load, "consumer-group", "consumer", "read_committed", names);
        LoadClients.consumeWithJournalQ(load, "journalq-group", Consumer.Isolation.READ_COMMITTED, names);
        Churn.begin(load, names);
    }

    private void sample(BrokerUnderTest broker, MetricsSampler metrics, Ledger ledger, List<List<Double>> samples)
            throws Exception {
        long startNanos = System.nanoTime();
        try (BufferedWriter out = Files.newBufferedWriter(csv)) {
            out.write("seconds," + String.join(",", SoakSample.COLUMNS) + ",acknowledged\n");
            while (System.nanoTime() - startNanos < duration.toNanos()
                    && ledger.findings().isEmpty()) {
                Thread.sleep(sampleInterval.toMillis());
                if (!broker.isAlive()) {
                    ledger.report("the broker ended on its own");
                    break;
                }
                SoakSample sample = SoakSample.of(broker.pid(), metrics);
                samples.add(sample.values());
                long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
                out.write(seconds + "," + sample.line() + "," + ledger.acknowledgedCount() + "\n");
                out.flush();
            }
        }
    }

    private static void judge(List<List<Double>> samples, Ledger ledger) {
        List<List<Double>> half = samples.subList(samples.size() / 2, samples.size());
        if (half.size() < FEWEST_SAMPLES) {
            ledger.report("only " + samples.size() + " samples, too few for a trend");
            return;
        }
        for (Limit limit : LIMITS) {
            int column = SoakSample.COLUMNS.indexOf(limit.column());
            Trend trend = Trend.of(
                    half.stream().mapToDouble(values -> values.get(column)).toArray());
            String line = String.format(
                    Locale.ROOT,
                    "%s: trend of the second half from %.0f to %.0f",
                    limit.column(),
                    trend.start(),
                    trend.end());
            System.out.println(line);
            if (trend.grows(limit.share(), limit.units())) {
                ledger.report(line);
            }
        }
    }
}
