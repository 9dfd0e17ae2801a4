package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ExternalBroker;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaBroker;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.measure.ProcessFinder;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.payload.PayloadSource;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceRun;
import io.journalq.bench.produce.ProduceSettings;
import io.journalq.bench.produce.Tuning;
import io.journalq.bench.produce.ProduceSettings.Workload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench produce}: the four cases against one broker. */
@Command(
        name = "produce",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the produce cases: 1 sync single message, 2 the same with lz4, 3 async batches with lz4,",
            "4 as 3 with consumers reading along. Without --bootstrap it starts a broker of its own and stops it.",
            "Exits with 0 when all is well, 1 when a run failed or did not check out, 2 on a wrong command line."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench produce --case all --duration 10s",
            "  journalq-bench produce --case 1 --threads 400 --virtual --output json --out result.json",
            "  journalq-bench produce --case 4 --groups 3",
            "  journalq-bench produce --case 1 --rate 10000 --bootstrap localhost:9092",
            "  journalq-bench produce --case 3 --broker kafka --client kafka-clients --client-setting linger.ms=5"
        })
final class ProduceCasesCommand implements Callable<Integer> {
    static final int DEFAULT_SYNC_THREADS = 100;
    static final int DEFAULT_BATCH_THREADS = 2;
    static final int DEFAULT_IN_FLIGHT_BATCHES = 64;
    static final int DEFAULT_BATCH_SIZE = 100;
    static final int DEFAULT_CONSUMERS = 60;
    static final String GROUPS_WORDS = "Consumer groups into which the consumers of case 4 divide, each reading all."
            + " Default: 0, each consumer has partitions of its own.";

    @Option(names = "--case", defaultValue = "all", paramLabel = "1|2|3|4|all", description = "Default: all.")
    private String cases;

    @Option(names = "--duration", defaultValue = "60s", description = "Measured time of each case. Default: 60s.")
    private Duration duration;

    @Option(names = "--warmup", defaultValue = "5s", description = "Before the measured time. Default: 5s.")
    private Duration warmup;

    @Option(names = "--partitions", defaultValue = "200", description = "Of the topic. Default: 200.")
    private int partitions;

    @Option(names = "--message-size", defaultValue = "1024", description = "Bytes. Default: 1024.")
    private int messageSizeBytes;

    @Option(
            names = "--threads",
            description = "Callers. Default: " + DEFAULT_SYNC_THREADS + " in cases 1 and 2, " + DEFAULT_BATCH_THREADS
                    + " in 3 and 4.")
    private Integer threads;

    @Option(names = "--virtual", description = "Callers are virtual threads (JDK 21 or newer).")
    private boolean virtual;

    @Option(names = "--producers", defaultValue = "1", description = "Producers that callers share. Default: 1.")
    private int producers;

    @Option(
            names = "--rate",
            defaultValue = "0",
            paramLabel = "MESSAGES",
            description = "Messages due a second, over all callers, whatever the broker does; latency then counts from"
                    + " when each was due. Default: each caller sends its next as soon as it may.")
    private long messagesPerSecond;

    @Option(names = "--batch", defaultValue = "100", description = "Messages of a batch, cases 3, 4. Default: 100.")
    private int batchSize;

    @Option(
            names = "--in-flight",
            defaultValue = "" + DEFAULT_IN_FLIGHT_BATCHES,
            paramLabel = "BATCHES",
            description =
                    "Most unanswered batches of one thread, cases 3, 4. Default: " + DEFAULT_IN_FLIGHT_BATCHES + ".")
    private int inFlightBatches;

    @Option(names = "--consumers", defaultValue = "60", description = "In case 4. Default: 60.")
    private int consumers;

    @Option(names = "--groups", defaultValue = "0", description = GROUPS_WORDS)
    private int groups;

    @Option(names = "--payload", defaultValue = "text", description = PayloadSource.KINDS + ". Default: text.")
    private String payload;

    @Option(names = "--topic", defaultValue = "produce-bench", description = "Created when missing.")
    private String topic;

    @Option(names = "--bootstrap", description = "host:port of a running broker.")
    private String bootstrap;

    @Option(
            names = "--broker",
            defaultValue = "journalq",
            description = "journalq or kafka, to start. Default: journalq.")
    private String broker;

    @Option(
            names = "--broker-setting",
            paramLabel = "NAME=VALUE",
            description = "A setting of the broker that is started, by its own name. Repeatable.")
    private Map<String, String> brokerSettings = new TreeMap<>();

    @Option(
            names = "--client",
            defaultValue = "journalq",
            description = "journalq or kafka-clients. Default: journalq.")
    private String client;

    @Option(
            names = "--client-setting",
            paramLabel = "NAME=VALUE",
            description = "A setting of the client library, by its own name (batch.size of kafka-clients,"
                    + " batchSizeBytes of journalq); consumer.NAME for consumers. Repeatable.")
    private Map<String, String> clientSettings = new TreeMap<>();

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws InterruptedException {
        List<ProduceCase> chosen = ProduceCase.parse(cases);
        requirePositive("--partitions", partitions);
        requirePositive("--producers", producers);
        requirePositive("--batch", batchSize);
        requirePositive("--in-flight", inFlightBatches);
        requirePositive("--consumers", consumers);
        requireGroups(groups, consumers);
        if (messagesPerSecond < 0) {
            throw new BenchException("--rate is " + messagesPerSecond, "give messages a second, or leave it out");
        }
        PayloadPool pool = PayloadPool.build(payload, messageSizeBytes, PayloadPool.DEFAULT_SIZE_BYTES);
        ClientDriver clientDriver = clientNamed(client);
        List<Map<String, Object>> rows = new ArrayList<>();
        boolean passed = true;
        try (BrokerDriver brokerDriver = openBroker()) {
            brokerDriver.start();
            for (ProduceCase one : chosen) {
                ProduceRun run = new ProduceRun(
                        brokerDriver, clientDriver, new KafkaClientsDriver(), settings(one), pool, System.err::println);
                ProduceResult result = run.run();
                passed &= result.problem() == null;
                rows.add(ResultRow.of(result));
            }
            output.emit(Map.of("broker_settings", brokerDriver.settings().toString()), rows, Map.of());
        }
        return passed ? 0 : 1;
    }

    private ProduceSettings settings(ProduceCase one) {
        int callers = threads != null ? threads : one.batched() ? DEFAULT_BATCH_THREADS : DEFAULT_SYNC_THREADS;
        requirePositive("--threads", callers);
        return new ProduceSettings(
                one,
                new Workload(topic, partitions, messageSizeBytes, payload, batchSize, consumers, groups),
                new Tuning(callers, virtual, producers, inFlightBatches, clientSettings),
                messagesPerSecond,
                warmup,
                duration);
    }

    private BrokerDriver openBroker() {
        return bootstrap == null
                ? brokerNamed(broker, brokerSettings)
                : new ExternalBroker(broker, bootstrap, ProcessFinder.listeningAt(bootstrap));
    }

    static BrokerDriver brokerNamed(String name, Map<String, String> settings) {
        return switch (name) {
            case "journalq" -> new JournalQBroker(settings);
            case "kafka" -> new KafkaBroker(settings);
            default -> throw new BenchException("no broker is called '" + name + "'", "use journalq or kafka");
        };
    }

    private static ClientDriver clientNamed(String name) {
        return switch (name) {
            case "journalq" -> new JournalQClientDriver();
            case "kafka-clients" -> new KafkaClientsDriver();
            default -> throw new BenchException("no client is called '" + name + "'", "use journalq or kafka-clients");
        };
    }

    static void requireGroups(int groups, int consumers) {
        if (groups < 0 || groups > consumers) {
            throw new BenchException(
                    "--groups is " + groups + " for " + consumers + " consumers",
                    "give 0, or at most as many groups as there are consumers");
        }
    }

    static void requirePositive(String option, int value) {
        if (value < 1) {
            throw new BenchException(option + " is " + value, "give a number from 1 up");
        }
    }
}
