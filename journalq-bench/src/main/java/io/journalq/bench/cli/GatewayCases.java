package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.compare.Side;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.load.GatewayLoad;
import io.journalq.bench.load.HttpGatewayTarget;
import io.journalq.bench.load.PacedLoad;
import io.journalq.bench.load.SearchLoad;
import io.journalq.bench.load.StuckClients;
import io.journalq.bench.measure.Latency;
import io.journalq.bench.measure.MetricsPage;
import io.journalq.bench.measure.ResourceUse;
import io.journalq.bench.measure.Statistics;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceRun;
import io.journalq.bench.produce.ProduceSettings;
import io.journalq.bench.produce.Tuning;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.DoubleStream;

/** The cases of {@code journalq-bench gateway} that only JournalQ can run. Each measurement has its own topic. One thread. */
final class GatewayCases {
    /** Requests a second that are appended beside searches. */
    private static final int BESIDE_SEARCH = 100;

    private static final double PERCENT = 100;

    /** Before each measurement of clients of the Kafka protocol, which have new connections. */
    private static final Duration WARM_UP = Duration.ofSeconds(1);

    private static final int FEWEST_WARM_UPS = 3;
    private static final int MOST_WARM_UPS = 8;
    private static final double STEADY_PART = 0.9;
    private static final long STEADY_BYTES = 2 * 1024 * 1024;
    private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(30);
    private static final long LOOK_MS = 100;

    private final JournalQBroker broker;
    private final Options options;

    /** The names of the cases, and the number of messages a second that are due unless {@code --rate} is given. */
    enum Name {
        THROUGHPUT(0),
        POSTS(1_000),
        EVENTS(100),
        STUCK(5_000),
        SEARCH(BESIDE_SEARCH);

        private final long messagesPerSecond;

        Name(long messagesPerSecond) {
            this.messagesPerSecond = messagesPerSecond;
        }

        long messagesPerSecond() {
            return messagesPerSecond;
        }

        /** The name in options and results. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The options of all cases.
     *
     * @param shape of the requests that fill a topic
     * @param requests with which a topic is filled
     * @param duration of a measurement
     * @param alternations measurements beside stuck clients
     */
    record Options(
            GatewayLoad.Shape shape,
            int partitions,
            String deliveryMode,
            long requests,
            long messagesPerSecond,
            Duration duration,
            int readers,
            int posters,
            int alternations) {}

    /** {@code broker} is started and has a gateway. */
    GatewayCases(JournalQBroker broker, Options options) {
        this.broker = broker;
        this.options = options;
    }

    /** Measures a case once, on a new topic, which is deleted afterwards. */
    Map<String, Object> measure(Name name, String topic) throws IOException, InterruptedException {
        create(topic);
        Map<String, Object> row =
                switch (name) {
                    case POSTS -> posts(topic);
                    case EVENTS -> events(topic);
                    case STUCK -> stuck(topic);
                    case SEARCH -> search(topic);
                    case THROUGHPUT -> throw new IllegalArgumentException("every broker can run it");
                };
        broker.deleteTopic(topic);
        broker.settle();
        return row;
    }

    private void create(String topic) {
        broker.createTopic(topic, options.partitions(), Map.of("delivery.mode", options.deliveryMode()));
    }

    private InetSocketAddress address() {
        return Side.address(broker.gatewayAddress());
    }

    private String metrics() {
        return broker.metricsAddress().orElse(null);
    }

    private PacedLoad paced(String topic, int messageBytes) {
        return new PacedLoad(
                address(),
                broker.security(),
                topic,
                options.partitions(),
                new PacedLoad.Rate(
                        messageBytes,
                        options.messagesPerSecond(),
                        options.shape().inFlight(),
                        options.duration()));
    }

    private Map<String, Object> posts(String topic) throws IOException {
        PacedLoad.Result result = paced(topic, options.shape().messageBytes()).run(0, broker.pid(), metrics());
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("posts_per_s", Math.round(result.posts().count() / result.use().seconds()));
        putLatency(row, "post", result.posts());
        putUse(row, result.use());
        return row;
    }

    private Map<String, Object> events(String topic) throws IOException {
        PacedLoad.Result result =
                paced(topic, options.shape().messageBytes()).run(options.readers(), broker.pid(), metrics());
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("events_per_s", Math.round(result.received() / result.use().seconds()));
        putLatency(row, "event", result.events());
        putLatency(row, "post", result.posts());
        putUse(row, result.use());
        return row;
    }

    private Map<String, Object> search(String topic) throws IOException {
        String beside = topic + "-beside";
        create(beside);
        SearchLoad.Result result = new SearchLoad(
                        address(), broker.security(), topic, options.partitions(), options.shape())
                .run(options.requests(), paced(beside, options.shape().messageBytes()), broker.pid(), metrics());
        broker.deleteTopic(beside);
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("searches", result.searches());
        row.put("messages_per_s", Math.round(result.messagesPerSecond()));
        row.put(
                "mb_per_s",
                Statistics.tenths(result.messagesPerSecond() * options.shape().messageBytes() / 1e6));
        putLatency(row, "post", result.posts());
        putUse(row, result.use());
        return row;
    }

    /**
     * Measures the load of the Kafka protocol alone and beside stuck clients in turn, so that it can be seen how much it
     * varies by itself. The latency beside the first stuck clients is not measured: Java compiles what they need. But
     * their memory counts. What clients add to the memory is compared with the measurement just before them. In the end,
     * the memory has also grown by the garbage in the heap, which Java collects when it needs the space.
     */
    private Map<String, Object> stuck(String topic) throws IOException, InterruptedException {
        PayloadPool pool = PayloadPool.build("text", options.shape().messageBytes(), PayloadPool.DEFAULT_SIZE_BYTES);
        warmUp(topic, pool);
        List<ProduceResult.Measured> alone = new ArrayList<>();
        List<ProduceResult.Measured> beside = new ArrayList<>();
        ResourceUse before = produce(topic, pool).use();
        long mostResidentBytes = besideStuckClients(topic, pool).use().brokerResidentBytes();
        long mostAddedBytes = mostResidentBytes - before.brokerResidentBytes();
        for (int i = 0; i < options.alternations(); i++) {
            alone.add(produce(topic, pool));
            beside.add(besideStuckClients(topic, pool));
            long residentBytes = beside.get(i).use().brokerResidentBytes();
            mostResidentBytes = Math.max(mostResidentBytes, residentBytes);
            mostAddedBytes =
                    Math.max(mostAddedBytes, residentBytes - alone.get(i).use().brokerResidentBytes());
        }
        alone.add(produce(topic, pool));
        Map<String, Object> row = new LinkedHashMap<>();
        row.put(
                "kafka_messages_per_s",
                Math.round(Statistics.median(beside.stream().mapToDouble(ProduceResult.Measured::qps))));
        putLatencies(row, "kafka_alone", alone);
        putLatencies(row, "kafka", beside);
        row.put("kafka_p99_added_percent", Statistics.tenths(PERCENT * (medianP99Us(beside) / medianP99Us(alone) - 1)));
        row.put("broker_rss_alone_mib", before.brokerResidentBytes() >> 20);
        row.put("broker_rss_added_mib", mostAddedBytes >> 20);
        row.put("broker_rss_grown_mib", (mostResidentBytes - before.brokerResidentBytes()) >> 20);
        putUse(row, beside.get(beside.size() - 1).use());
        return row;
    }

    /** Ends when neither the latency nor the resident memory of the broker gets better or worse by much. */
    private void warmUp(String topic, PayloadPool pool) throws InterruptedException {
        double bestP99Us = Double.MAX_VALUE;
        long residentBytes = 0;
        for (int i = 1; i <= MOST_WARM_UPS; i++) {
            ProduceResult.Measured measured = produce(topic, pool);
            long grownBytes = measured.use().brokerResidentBytes() - residentBytes;
            residentBytes += grownBytes;
            double p99Us = measured.latency().p99Us();
            if (i >= FEWEST_WARM_UPS && p99Us > STEADY_PART * bestP99Us && grownBytes < STEADY_BYTES) {
                return;
            }
            bestP99Us = Math.min(bestP99Us, p99Us);
        }
    }

    private ProduceResult.Measured besideStuckClients(String topic, PayloadPool pool)
            throws IOException, InterruptedException {
        ProduceResult.Measured beside;
        try (StuckClients clients =
                new StuckClients(address(), broker.security(), topic, options.readers(), options.posters())) {
            StuckClients.fill(
                    new HttpGatewayTarget(
                            address(), broker.security(), topic, options.partitions(), HttpGatewayTarget.Format.BATCH),
                    options.shape().messageBytes(),
                    metrics());
            beside = produce(topic, pool);
            clients.requireWaiting();
            requireReaders(options.readers());
        }
        long endNanos = System.nanoTime() + LEAVE_TIMEOUT.toNanos();
        while (readers() > 0 && endNanos - System.nanoTime() > 0) {
            Thread.sleep(LOOK_MS);
        }
        requireReaders(0);
        return beside;
    }

    /** The medians of several measurements, and the range of their 99th percentiles. */
    private static void putLatencies(Map<String, Object> row, String what, List<ProduceResult.Measured> measured) {
        row.put(
                what + "_p50_us",
                Statistics.tenths(Statistics.median(
                        measured.stream().mapToDouble(each -> each.latency().p50Us()))));
        row.put(what + "_p99_us", Statistics.tenths(medianP99Us(measured)));
        row.put(what + "_p99_min_us", p99sUs(measured).min().orElseThrow());
        row.put(what + "_p99_max_us", p99sUs(measured).max().orElseThrow());
    }

    private static double medianP99Us(List<ProduceResult.Measured> measured) {
        return Statistics.median(p99sUs(measured));
    }

    private static DoubleStream p99sUs(List<ProduceResult.Measured> measured) {
        return measured.stream().mapToDouble(each -> each.latency().p99Us());
    }

    private ProduceResult.Measured produce(String topic, PayloadPool pool) throws InterruptedException {
        ProduceSettings settings = new ProduceSettings(
                ProduceCase.SYNC_SINGLE,
                new ProduceSettings.Workload(
                        topic, options.partitions(), options.shape().messageBytes(), "text", 1, 1, 0),
                new Tuning(options.shape().inFlight(), false, 1, 1, Map.of()),
                options.messagesPerSecond(),
                WARM_UP,
                options.duration());
        ProduceResult result = new ProduceRun(
                        broker,
                        new JournalQClientDriver(broker.security(), null),
                        new KafkaClientsDriver(broker.security()),
                        settings,
                        pool,
                        System.err::println)
                .run();
        if (result.problem() != null) {
            throw new BenchException(result.problem(), "see the broker's log");
        }
        return result.measured();
    }

    private long readers() {
        MetricsPage page = new MetricsPage(metrics());
        page.load();
        return page.sum("journalq_gateway_streams") + page.sum("journalq_gateway_websockets");
    }

    private void requireReaders(int expected) {
        long connected = readers();
        if (connected != expected) {
            throw new BenchException(
                    connected + " stuck readers are connected instead of " + expected, "see the broker's log");
        }
    }

    private static void putLatency(Map<String, Object> row, String what, Latency latency) {
        row.put(what + "_p50_us", latency.p50Us());
        row.put(what + "_p99_us", latency.p99Us());
        row.put(what + "_p999_us", latency.p999Us());
        row.put(what + "_max_us", latency.maxUs());
    }

    private static void putUse(Map<String, Object> row, ResourceUse use) {
        row.put("loop_iterations_over_4_2_ms", use.brokerStalls());
        GatewayCommand.putUse(row, use);
    }
}
