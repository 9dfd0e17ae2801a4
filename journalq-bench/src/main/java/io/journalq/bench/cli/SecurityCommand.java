package io.journalq.bench.cli;

import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaBroker;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.driver.SpawnedBroker;
import io.journalq.bench.load.ConnectionLoad;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.output.OutputOptions;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.SealedTopics;
import io.journalq.bench.produce.Callers;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceRun;
import io.journalq.bench.produce.ProduceSettings;
import io.journalq.bench.produce.Tuning;
import io.journalq.common.commandline.DurationOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.SslContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench security}: what encryption, logins and sealing cost. */
@Command(
        name = "security",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures what encryption, logins and sealing cost.",
            "Starts each broker with a plain listener, one with TLS (key ECDSA P-256) and one with logins. Each round measures"
                    + " each broker once: the produce cases over the plain listener, over TLS and, with JournalQ, sealed;"
                    + " then TLS handshakes, resumed ones, and logins by SCRAM-SHA-256. The medians of all rounds are"
                    + " compared. The other broker is frozen.",
            "TLS 1.3 is measured twice: with the key exchange that BoringSSL prefers, which is post-quantum"
                    + " (X25519MLKEM768) if the broker has it, and with P-256.",
            "A round takes (--warmup + --duration) for each of 6 + 5 measurements of JournalQ and 4 + 5 of Kafka, with the"
                    + " default cases.",
            "Exit code: 0 on success, 1 if a check failed, 2 if the command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench security --brokers journalq --rounds 1 --duration 2s",
            "  journalq-bench security --brokers journalq,kafka --rounds 3",
            "  journalq-bench security --cases none --rounds 5 --first-warmup 20s"
        })
final class SecurityCommand implements Callable<Integer> {
    private static final int MESSAGE_SIZE_BYTES = 1024;
    private static final int BATCH_THREADS = 2;
    private static final int SYNC_THREADS = 100;
    private static final int PRODUCERS = 4;
    private static final int IN_FLIGHT_BATCHES = 100;
    private static final String RATE = "per_s";
    private static final String P50_US = "p50_us";
    private static final String CPU_US = "broker_cpu_us";

    @Option(
            names = "--brokers",
            split = ",",
            defaultValue = "journalq",
            paramLabel = "NAME",
            description = "The brokers to start: journalq, kafka or both (default: ${DEFAULT-VALUE}).")
    private List<BrokerChoice> brokers;

    @Option(
            names = "--cases",
            defaultValue = "1,3",
            paramLabel = "LIST",
            description = "Cases of journalq-bench produce, or none (default: ${DEFAULT-VALUE}).")
    private WorkloadOptions.Cases cases;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Number of rounds (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--threads",
            defaultValue = "2",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Threads that open connections (default: ${DEFAULT-VALUE}).")
    private int threads;

    @Option(
            names = "--duration",
            defaultValue = "4s",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Duration of each measurement (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--warmup",
            defaultValue = "2s",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up before each measurement (default: ${DEFAULT-VALUE}).")
    private Duration warmup;

    @Option(
            names = "--first-warmup",
            paramLabel = "DURATION",
            converter = DurationOption.class,
            description = "Warm-up before each measurement of the first round, so that the JVM has compiled the code"
                    + " (default: the value of --warmup).")
    private Duration firstWarmup;

    @Option(
            names = "--payload",
            defaultValue = "text",
            paramLabel = "KIND",
            description = "Content of the messages: text or random (default: ${DEFAULT-VALUE}).")
    private String payload;

    @Mixin
    private OutputOptions output;

    /** The values of all rounds, by broker, measurement and column. */
    private final Map<String, Map<String, Map<String, List<Double>>>> values = new LinkedHashMap<>();

    /** The values of each round. */
    private final List<Map<String, Object>> runs = new ArrayList<>();

    private final List<String> problems = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        List<Measured> all = new ArrayList<>();
        PayloadPool pool = PayloadPool.build(payload, MESSAGE_SIZE_BYTES, PayloadPool.DEFAULT_SIZE_BYTES);
        try {
            for (BrokerChoice choice : brokers) {
                Measured measured = new Measured(choice, pool);
                all.add(measured);
                measured.start();
            }
            for (int round = 0; round < rounds; round++) {
                for (Measured measured : all) {
                    measured.broker.thaw();
                    measured.round(round);
                    measured.broker.settle();
                    measured.broker.freeze();
                }
            }
        } finally {
            all.forEach(measured -> measured.broker.close());
        }
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("rounds", rounds);
        settings.put("payload", payload);
        settings.put("connection_threads", threads);
        settings.put("first_warmup", warmup(0).toString());
        settings.put("warmup", warmup.toString());
        settings.put("duration", duration.toString());
        problems.forEach(problem -> System.err.println("invalid: " + problem));
        output.emit(settings, rows(), Map.of("runs", runs));
        return problems.isEmpty() ? 0 : 1;
    }

    private Duration warmup(int round) {
        return round == 0 && firstWarmup != null ? firstWarmup : warmup;
    }

    /** A broker, and how each round measures it. One thread. */
    private final class Measured {
        private final BrokerChoice choice;
        private final SpawnedBroker broker;
        private final PayloadPool pool;
        /** Null if the broker cannot be used with sealed messages. */
        private SealedTopics sealed;

        private Measured(BrokerChoice choice, PayloadPool pool) {
            this.choice = choice;
            this.pool = pool;
            this.broker =
                    choice == BrokerChoice.JOURNALQ ? JournalQBroker.secured(Map.of()) : KafkaBroker.secured(Map.of());
        }

        private void start() {
            broker.start();
            if (choice == BrokerChoice.JOURNALQ) {
                sealed = new SealedTopics(broker.bootstrap(), ConnectionSecurity.NONE);
            }
            broker.freeze();
        }

        private void round(int round) throws Exception {
            for (ProduceCase one : cases.list()) {
                String name = "case " + one.number() + " ";
                produce(name + "plain", one, broker, client(ConnectionSecurity.NONE, false), round);
                produce(name + "tls", one, broker.overTls(), client(broker.tls(), false), round);
                if (sealed != null) {
                    produce(name + "sealed", one, broker, client(ConnectionSecurity.NONE, true), round);
                }
            }
            handshakes("handshake TLS 1.3", "TLSv1.3", round);
            handshakes("handshake TLS 1.3 P-256", "TLSv1.3", round, "P-256");
            handshakes("handshake TLS 1.2", "TLSv1.2", round);
            connections(
                    "handshake TLS 1.2 resumed",
                    round,
                    ConnectionLoad.resumptions(broker.tlsAddress(), broker.tls().sockets()));
            connections(
                    "login SCRAM-SHA-256",
                    round,
                    ConnectionLoad.logins(
                            broker.loginAddress(),
                            broker.login().user(),
                            broker.login().password()));
        }

        private ClientDriver client(ConnectionSecurity security, boolean seals) {
            return choice == BrokerChoice.JOURNALQ
                    ? new JournalQClientDriver(security, seals ? sealed.policy() : null)
                    : new KafkaClientsDriver(security);
        }

        private void produce(String name, ProduceCase one, BrokerDriver via, ClientDriver client, int round)
                throws InterruptedException {
            boolean seals = name.endsWith("sealed");
            String topic = name.replace(' ', '-') + "-" + round;
            if (seals) {
                sealed.add(topic, false);
            }
            boolean virtual = !one.batched() && Callers.virtualThreadsExist();
            ProduceSettings settings = new ProduceSettings(
                    one,
                    new ProduceSettings.Workload(topic, 10, MESSAGE_SIZE_BYTES, payload, 100, 1, 0),
                    new Tuning(
                            one.batched() ? BATCH_THREADS : SYNC_THREADS,
                            virtual,
                            PRODUCERS,
                            IN_FLIGHT_BATCHES,
                            Map.of()),
                    0,
                    warmup(round),
                    duration);
            // Who reads back must be able to open what was sealed.
            ClientDriver reader =
                    seals ? client : new KafkaClientsDriver(via == broker ? ConnectionSecurity.NONE : broker.tls());
            ProduceResult result = new ProduceRun(via, client, reader, settings, pool, line -> {}).run();
            if (result.problem() != null) {
                problems.add(choice + " " + name + ": " + result.problem());
            }
            ProduceResult.Measured measured = result.measured();
            double cpuUs = measured.use().brokerCores() * 1e6 / Math.max(1, measured.qps());
            add(
                    choice,
                    name,
                    round,
                    Map.of(RATE, measured.qps(), P50_US, measured.latency().p50Us(), CPU_US, cpuUs));
            broker.deleteTopic(topic);
        }

        private void handshakes(String name, String version, int round, String... groups) throws InterruptedException {
            EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
            try {
                SslContext context = broker.tls().sslContext(version, groups);
                connections(name, round, ConnectionLoad.handshakes(broker.tlsAddress(), context, loop));
            } finally {
                loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
            }
        }

        private void connections(String name, int round, ConnectionLoad.Attempts attempts) throws InterruptedException {
            ConnectionLoad.Result result = ConnectionLoad.run(attempts, threads, broker.pid(), warmup(round), duration);
            add(choice, name, round, Map.of(RATE, result.perSecond(), CPU_US, result.brokerMicros()));
        }
    }

    private void add(BrokerChoice broker, String name, int round, Map<String, Double> measured) {
        Map<String, Object> run = new LinkedHashMap<>();
        run.put("broker", broker.toString());
        run.put("measurement", name);
        run.put("round", round + 1);
        run.put("warmup_ms", warmup(round).toMillis());
        for (String column : List.of(RATE, P50_US, CPU_US)) {
            Double value = measured.get(column);
            if (value != null) {
                run.put(column, Statistics.tenths(value));
                values.computeIfAbsent(broker.toString(), first -> new LinkedHashMap<>())
                        .computeIfAbsent(name, first -> new LinkedHashMap<>())
                        .computeIfAbsent(column, first -> new ArrayList<>())
                        .add(value);
            }
        }
        runs.add(run);
    }

    private List<Map<String, Object>> rows() {
        List<Map<String, Object>> rows = new ArrayList<>();
        values.forEach((broker, measurements) -> measurements.forEach((name, columns) -> {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("broker", broker);
            row.put("measurement", name);
            row.put(RATE, Math.round(median(columns, RATE)));
            row.put("range", range(columns, RATE));
            row.put(P50_US, columns.containsKey(P50_US) ? Statistics.tenths(median(columns, P50_US)) : "");
            row.put(CPU_US, Statistics.tenths(median(columns, CPU_US)));
            row.put("broker_cpu_range", range(columns, CPU_US));
            row.put("of_plain", ratio(measurements.get(plainOf(name)), columns));
            Map<String, Map<String, List<Double>>> ofKafka =
                    values.getOrDefault(BrokerChoice.KAFKA.toString(), Map.of());
            row.put("of_kafka", ratio(ofKafka.get(name), columns));
            rows.add(row);
        }));
        return rows;
    }

    /** The measurement without encryption; the name itself if there is none. */
    private static String plainOf(String name) {
        return name.startsWith("case ") ? name.substring(0, name.lastIndexOf(' ')) + " plain" : "none";
    }

    private static Object ratio(Map<String, List<Double>> base, Map<String, List<Double>> columns) {
        return base == null ? "" : Statistics.hundredths(median(columns, RATE) / median(base, RATE));
    }

    private static String range(Map<String, List<Double>> columns, String column) {
        List<Double> sorted = columns.get(column).stream().sorted().toList();
        return String.format(Locale.ROOT, "%.0f-%.0f", sorted.get(0), sorted.get(sorted.size() - 1));
    }

    private static double median(Map<String, List<Double>> columns, String column) {
        return Statistics.median(columns.get(column));
    }
}
