package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.load.GatewayLoad;
import io.journalq.bench.load.HttpGatewayTarget.Format;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.option.BrokerOptions;
import io.journalq.bench.option.BrokerTurns;
import io.journalq.bench.option.EncryptionOption;
import io.journalq.bench.option.OptionTypes;
import io.journalq.bench.output.OutputOptions;
import io.journalq.common.commandline.DurationOption;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code journalq-bench gateway}: throughput of the HTTP gateway and of its peers, from requests to a WebSocket. */
@Command(
        name = "gateway",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures the HTTP gateway of JournalQ end to end, beside NATS and RabbitMQ over WebSockets.",
            "Starts each broker and sends requests that were made before the measurement. One WebSocket"
                    + " receives all messages and checks the number and the checksum of each. Each repetition has a warm-up"
                    + " of the same length. Java needs several of them until it has compiled what the broker runs, so the"
                    + " first repetitions are not reported. Repetitions alternate between the brokers, and those that are"
                    + " not measured are frozen.",
            "NATS gets the bytes of each message as a PUB over a WebSocket. A request is complete when the PONG after its"
                    + " last message has arrived or, with jetstream, the acknowledgements of all its messages.",
            "RabbitMQ (web-stomp) gets each message as a SEND of STOMP over a WebSocket, and appends it to a stream. A"
                    + " request is complete when the receipt of its last message has arrived.",
            "A broker that is not installed is skipped.",
            "Exit code: 0 on success, 1 if a message is missing or a broker failed, 2 if the command line is wrong."
        },
        footer = {
            "",
            "Examples:",
            "  journalq-bench gateway --size 537 --repetitions 5",
            "  journalq-bench gateway --brokers journalq,nats,jetstream,web-stomp",
            "  journalq-bench gateway --format batch --size 1024",
            "  journalq-bench gateway --format single --size 1024 --in-flight 32",
            "  journalq-bench gateway --case posts --size 1024 --rate 1000",
            "  journalq-bench gateway --case stuck --readers 1000 --unreported 0",
            "  journalq-bench gateway --case search --size 100 --requests 200"
        })
final class GatewayCommand implements Callable<Integer> {
    private static final int SINGLE_REQUESTS = 200_000;
    private static final int MANY_REQUESTS = 200;
    private static final int FILLING_REQUESTS = 50;

    @Option(
            names = "--brokers",
            split = ",",
            defaultValue = "journalq",
            paramLabel = "NAME",
            description =
                    "Brokers to measure, in this order: journalq, nats, jetstream or web-stomp (default: ${DEFAULT-VALUE}).")
    private List<GatewayBroker.Name> brokers;

    @Option(
            names = "--case",
            defaultValue = "throughput",
            paramLabel = "CASE",
            description = {
                "What to measure (default: ${DEFAULT-VALUE}). All but throughput are for journalq alone:",
                "throughput: requests as fast as possible.",
                "posts: the latency of requests with one message at --rate.",
                "events: the time until --readers have received each message as a server-sent event. All read one"
                        + " topic, to which single messages are appended at --rate.",
                "stuck: what --readers that do not read, one half over WebSockets and the other as server-sent events, and"
                        + " --posters whose bodies arrive slowly cost the broker and clients of the Kafka protocol, which"
                        + " append at --rate: without them, beside them, and so on, --alternations times, and without"
                        + " them at the end. Each repetition has a new broker.",
                "search: searches of a whole topic, one after the other, while single messages are appended to another"
                        + " topic at --rate."
            })
    private GatewayCases.Name kind;

    @Option(
            names = "--format",
            defaultValue = "json",
            paramLabel = "FORMAT",
            description = "json: documents in, JSON out. batch: record batches in and out. single: a message in each"
                    + " request, and no receiver. With other brokers than journalq, only json"
                    + " (default: ${DEFAULT-VALUE}).")
    private Format format;

    @Option(
            names = "--size",
            defaultValue = "537",
            paramLabel = "BYTES",
            converter = OptionTypes.PositiveInt.class,
            description = "Size of a message (default: ${DEFAULT-VALUE}).")
    private int sizeBytes;

    @Option(
            names = "--messages",
            defaultValue = "20000",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Messages in a request (default: ${DEFAULT-VALUE}).")
    private int messages;

    @Option(
            names = "--in-flight",
            defaultValue = "16",
            paramLabel = "REQUESTS",
            converter = OptionTypes.PositiveInt.class,
            description = "Requests in flight, each on its own connection (default: ${DEFAULT-VALUE}).")
    private int inFlight;

    @Option(
            names = "--rate",
            paramLabel = "MESSAGES",
            converter = OptionTypes.PositiveLong.class,
            description =
                    "Messages a second that are due, regardless of delays. Latency counts from the time at which a"
                            + " message was due (default: posts 1000, events 100, stuck 5000, search 100).")
    private Long rate;

    @Option(
            names = "--duration",
            defaultValue = "10s",
            paramLabel = "DURATION",
            converter = DurationOption.Positive.class,
            description = "Duration of a measurement at a rate (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--readers",
            defaultValue = "1000",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Readers of events and stuck (default: ${DEFAULT-VALUE}).")
    private int readers;

    @Option(
            names = "--posters",
            defaultValue = "100",
            paramLabel = "COUNT",
            converter = OptionTypes.NonNegativeInt.class,
            description = "Posters of stuck (default: ${DEFAULT-VALUE}).")
    private int posters;

    @Option(
            names = "--alternations",
            defaultValue = "4",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Measurements of stuck beside the readers and posters (default: ${DEFAULT-VALUE}).")
    private int alternations;

    @Option(
            names = "--partitions",
            defaultValue = "4",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Partitions of the topic of journalq (default: ${DEFAULT-VALUE}).")
    private int partitions;

    @Option(
            names = "--requests",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Requests of a repetition, or with which the topic is filled that is searched (default: "
                    + MANY_REQUESTS + ", or " + SINGLE_REQUESTS + " with --format single, or " + FILLING_REQUESTS
                    + " with --case search).")
    private Integer requests;

    @Option(
            names = "--repetitions",
            defaultValue = "5",
            paramLabel = "COUNT",
            converter = OptionTypes.PositiveInt.class,
            description = "Repetitions (default: ${DEFAULT-VALUE}).")
    private int repetitions;

    @Option(
            names = "--unreported",
            defaultValue = "3",
            paramLabel = "COUNT",
            converter = OptionTypes.NonNegativeInt.class,
            description = "Repetitions before those that are reported (default: ${DEFAULT-VALUE}).")
    private int unreported;

    @Option(
            names = "--delivery-mode",
            defaultValue = "consistent",
            paramLabel = "MODE",
            description = "Delivery mode of the topic of journalq (default: ${DEFAULT-VALUE}).")
    private String deliveryMode;

    @Option(
            names = "--broker-setting",
            paramLabel = "NAME=VALUE",
            description =
                    "Setting of a broker, by the broker's own name. The prefix BROKER: restricts it to one broker. Can"
                            + " be repeated.")
    private Map<String, String> brokerSettings = new TreeMap<>();

    @Mixin
    private EncryptionOption encryption;

    @Mixin
    private OutputOptions output;

    @Override
    public Integer call() throws IOException, InterruptedException {
        requireCommon();
        if (kind != GatewayCases.Name.THROUGHPUT) {
            return measureCase();
        }
        long count = requests != null ? requests : format == Format.SINGLE ? SINGLE_REQUESTS : MANY_REQUESTS;
        GatewayLoad.Shape shape = new GatewayLoad.Shape(sizeBytes, format == Format.SINGLE ? 1 : messages, inFlight);
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("format", format.name().toLowerCase(Locale.ROOT));
        settings.put("message_bytes", sizeBytes);
        settings.put("messages_per_request", shape.messages());
        settings.put("in_flight", inFlight);
        settings.put("connection_kind", encryption.inWords());
        settings.put("partitions", partitions);
        settings.put("requests", count);
        settings.put("unreported_repetitions", unreported);
        settings.put("delivery_mode", deliveryMode);
        List<GatewayBroker> started = new ArrayList<>();
        List<Map<String, Object>> rows = new ArrayList<>();
        try {
            start(shape, started, settings);
            for (int repetition = 1 - unreported; repetition <= repetitions; repetition++) {
                for (GatewayBroker broker : started) {
                    GatewayLoad.Result result = broker.measure("gateway-" + (repetition + unreported), shape, count);
                    if (repetition > 0) {
                        rows.add(row(broker, repetition, result));
                    }
                }
            }
        } finally {
            started.forEach(GatewayBroker::close);
        }
        output.emit(settings, rows, Map.of());
        return 0;
    }

    private int measureCase() throws IOException, InterruptedException {
        GatewayCases.Options options = new GatewayCases.Options(
                new GatewayLoad.Shape(sizeBytes, messages, inFlight),
                partitions,
                deliveryMode,
                requests != null ? requests : FILLING_REQUESTS,
                rate != null ? rate : kind.messagesPerSecond(),
                duration,
                readers,
                posters,
                alternations);
        Map<String, Object> settings = new LinkedHashMap<>();
        settings.put("case", kind.toString());
        settings.put("message_bytes", sizeBytes);
        settings.put("in_flight", inFlight);
        settings.put("connection_kind", encryption.inWords());
        settings.put("partitions", partitions);
        settings.put("messages_per_s_due", options.messagesPerSecond());
        settings.put("duration_s", duration.toMillis() / 1e3);
        switch (kind) {
            case EVENTS -> settings.put("readers", readers);
            case STUCK -> {
                settings.put("readers", readers);
                settings.put("posters", posters);
                settings.put("alternations", alternations);
            }
            case SEARCH -> settings.put("searched_messages", options.requests() * messages);
            default -> {
                // Nothing else matters.
            }
        }
        settings.put("unreported_repetitions", unreported);
        settings.put("delivery_mode", deliveryMode);
        List<Map<String, Object>> rows = new ArrayList<>();
        JournalQBroker broker = null;
        try {
            for (int repetition = 1 - unreported; repetition <= repetitions; repetition++) {
                if (broker == null) {
                    broker = encryption.apply(JournalQBroker.withGateway(
                            BrokerOptions.settingsOf(GatewayBroker.Name.JOURNALQ.toString(), brokerSettings)));
                    broker.start();
                    settings.put("broker_settings", broker.settings().toString());
                }
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("broker", broker.name());
                row.put("repetition", repetition);
                row.putAll(new GatewayCases(broker, options).measure(kind, "gateway-" + (repetition + unreported)));
                if (repetition > 0) {
                    rows.add(row);
                }
                if (kind == GatewayCases.Name.STUCK) {
                    broker.close();
                    broker = null;
                }
            }
        } finally {
            if (broker != null) {
                broker.close();
            }
        }
        output.emit(settings, rows, Map.of());
        return 0;
    }

    private void requireCommon() {
        for (GatewayBroker.Name name : brokers) {
            if (name != GatewayBroker.Name.JOURNALQ && kind != GatewayCases.Name.THROUGHPUT) {
                throw BenchException.wrongUsage(
                        "--case " + kind + " does not apply to " + name, "use --brokers journalq");
            }
            if (name != GatewayBroker.Name.JOURNALQ && format != Format.JSON) {
                throw BenchException.wrongUsage(
                        "--format " + format.name().toLowerCase(Locale.ROOT) + " does not apply to " + name,
                        "use --format json, or --brokers journalq");
            }
            if (name != GatewayBroker.Name.JOURNALQ && encryption.isOn()) {
                throw BenchException.wrongUsage("--tls does not apply to " + name, "use --brokers journalq");
            }
        }
    }

    /** Starts and freezes the brokers that are installed. */
    private void start(GatewayLoad.Shape shape, List<GatewayBroker> started, Map<String, Object> settings) {
        Map<String, Object> skipped = new LinkedHashMap<>();
        for (GatewayBroker.Name name : brokers) {
            Map<String, String> own = BrokerOptions.settingsOf(name.toString(), brokerSettings);
            GatewayBroker broker =
                    switch (name) {
                        case JOURNALQ ->
                            new JournalQGateway(
                                    encryption.apply(JournalQBroker.withGateway(own)),
                                    partitions,
                                    format,
                                    deliveryMode);
                        case NATS, JETSTREAM -> WebSocketGateway.nats(name, shape, own);
                        case WEB_STOMP -> WebSocketGateway.stomp(shape, own);
                    };
            if (broker.missing().isPresent()) {
                String reason = BrokerTurns.unavailable(broker.missing().get());
                System.err.println("skipped " + name + ": " + reason);
                skipped.put("skipped " + name, reason);
                continue;
            }
            started.add(broker);
            broker.start();
            broker.freeze();
            settings.putAll(broker.about());
        }
        if (started.isEmpty()) {
            throw new BenchException("no broker can be measured " + skipped, "choose other --brokers");
        }
        settings.putAll(skipped);
    }

    private static Map<String, Object> row(GatewayBroker broker, int repetition, GatewayLoad.Result result) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("broker", broker.name().toString());
        row.put("repetition", repetition);
        row.put("messages_per_s", Math.round(result.messagesPerSecond()));
        row.put("broker_cpu_us_per_message", Statistics.thousandths(result.use().brokerMicrosPer(result.messages())));
        putUse(row, result.use());
        return row;
    }

    /** Adds the use of processors and memory to a row. */
    static void putUse(Map<String, Object> row, ResourceUse use) {
        row.put("broker_cores", Statistics.hundredths(use.brokerCores()));
        row.put("client_cores", Statistics.hundredths(use.clientCores()));
        row.put("broker_rss_mib", use.brokerResidentBytes() >> 20);
        row.put(
                "load_average",
                Statistics.hundredths(
                        ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()));
    }
}
