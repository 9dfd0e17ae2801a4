package io.journalq.bench.cli;

import io.journalq.bench.BenchException;
import io.journalq.bench.compare.Side;
import io.journalq.bench.driver.AccessRules;
import io.journalq.bench.driver.BrokerDriver;
import io.journalq.bench.driver.ClientDriver;
import io.journalq.bench.driver.ConnectionSecurity;
import io.journalq.bench.driver.JournalQBroker;
import io.journalq.bench.driver.JournalQClientDriver;
import io.journalq.bench.driver.KafkaBroker;
import io.journalq.bench.driver.KafkaClientsDriver;
import io.journalq.bench.driver.SpawnedBroker;
import io.journalq.bench.load.BrokerLoad;
import io.journalq.bench.load.ConnectionLoad;
import io.journalq.bench.load.LoadListener;
import io.journalq.bench.load.ReadLoad;
import io.journalq.bench.measure.LoopIterations;
import io.journalq.bench.payload.PayloadPool;
import io.journalq.bench.peer.SealedTopics;
import io.journalq.bench.produce.Callers;
import io.journalq.bench.produce.ProduceCase;
import io.journalq.bench.produce.ProduceResult;
import io.journalq.bench.produce.ProduceRun;
import io.journalq.bench.produce.ProduceSettings;
import io.journalq.bench.produce.Tuning;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A broker with plain and secured listeners, and how {@code journalq-bench security} measures it. One thread. */
final class SecuredBroker implements AutoCloseable {
    private static final int MESSAGE_SIZE_BYTES = 1024;
    private static final int BATCH_THREADS = 2;
    private static final int SYNC_THREADS = 100;
    private static final int PRODUCERS = 4;
    private static final int IN_FLIGHT_BATCHES = 100;
    private static final int PARTITIONS = 10;
    private static final String READ_TOPIC = "reads";
    private static final long READ_MESSAGES = 1 << 20;
    private static final String REQUEST_TOPIC = "requests";
    private static final int LOAD_CONNECTIONS = 16;
    private static final int LOAD_IN_FLIGHT = 16;
    private static final int RULES = 10_000;
    private static final double P999 = 0.999;

    private final BrokerChoice choice;
    private final SpawnedBroker broker;
    private final Plan plan;
    private final PayloadPool pool;
    private final SecurityResults results;
    private final ReadLoad reads = new ReadLoad(READ_TOPIC, PARTITIONS, READ_MESSAGES);
    private final List<String> problems = new ArrayList<>();
    /** Null if the broker cannot be used with sealed messages. */
    private SealedTopics sealed;

    /** A part of what can be measured. */
    enum Part {
        CASES,
        CALLER,
        READS,
        REQUESTS,
        CONNECTIONS,
        STORM;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * What is measured.
     *
     * @param payload content of the messages
     * @param threads that open connections
     * @param duration of each measurement
     */
    record Plan(Set<Part> parts, List<ProduceCase> cases, String payload, int threads, Duration duration) {
        PayloadPool pool() {
            return PayloadPool.build(payload, MESSAGE_SIZE_BYTES, PayloadPool.DEFAULT_SIZE_BYTES);
        }
    }

    /**
     * A round, in which each broker is measured once.
     *
     * @param number from 0
     * @param warmup before each measurement
     */
    record Round(int number, Duration warmup) {}

    SecuredBroker(BrokerChoice choice, Plan plan, PayloadPool pool, SecurityResults results) {
        this.choice = choice;
        this.plan = plan;
        this.pool = pool;
        this.results = results;
        this.broker = choice == BrokerChoice.JOURNALQ ? JournalQBroker.secured() : KafkaBroker.secured();
    }

    /** Starts the broker, and freezes it. */
    void start() throws InterruptedException {
        broker.start();
        if (plan.parts().contains(Part.READS)) {
            broker.createTopic(READ_TOPIC, PARTITIONS);
            reads.store(client(ConnectionSecurity.NONE, false), broker.bootstrap(), pool);
        }
        if (choice == BrokerChoice.JOURNALQ) {
            sealed = new SealedTopics(broker.bootstrap(), ConnectionSecurity.NONE);
        }
        broker.freeze();
    }

    /** Measures the broker, which is frozen before and after that. */
    void measure(Round round) throws InterruptedException {
        broker.thaw();
        for (Part part : plan.parts()) {
            switch (part) {
                case CASES -> cases(round);
                case CALLER -> caller(round);
                case READS -> reads(round);
                case REQUESTS -> requests(round);
                case CONNECTIONS -> connections(round);
                case STORM -> storm(round);
            }
        }
        broker.settle();
        broker.freeze();
    }

    private void cases(Round round) throws InterruptedException {
        for (ProduceCase one : plan.cases()) {
            boolean virtual = !one.batched() && Callers.virtualThreadsExist();
            Tuning tuning = new Tuning(
                    one.batched() ? BATCH_THREADS : SYNC_THREADS, virtual, PRODUCERS, IN_FLIGHT_BATCHES, Map.of());
            String name = "case " + one.number() + " ";
            produce(name + "plain", one, tuning, broker, client(ConnectionSecurity.NONE, false), round);
            produce(name + "tls", one, tuning, broker.overTls(), client(broker.tls(), false), round);
            if (sealed != null) {
                produce(name + "sealed", one, tuning, broker, client(ConnectionSecurity.NONE, true), round);
            }
        }
    }

    private void caller(Round round) throws InterruptedException {
        ProduceCase one = ProduceCase.SYNC_SINGLE;
        Tuning alone = new Tuning(1, false, 1, 1, Map.of());
        produce("caller plain", one, alone, broker, client(ConnectionSecurity.NONE, false), round);
        produce("caller tls", one, alone, broker.overTls(), client(broker.tls(), false), round);
    }

    private void reads(Round round) throws InterruptedException {
        read("reads plain", broker, client(ConnectionSecurity.NONE, false), round);
        read("reads tls", broker.overTls(), client(broker.tls(), false), round);
    }

    private void read(String name, BrokerDriver via, ClientDriver client, Round round) throws InterruptedException {
        ReadLoad.Result result = reads.read(client, via.bootstrap(), broker.pid(), round.warmup(), plan.duration());
        add(name, round, result.perSecond(), result.brokerMicros());
    }

    private void requests(Round round) {
        broker.createTopic(REQUEST_TOPIC, PARTITIONS);
        SpawnedBroker.Login user = broker.login();
        LoadListener login = LoadListener.withLogin(broker.loginAddress(), user.user(), user.password());
        request("requests plain", plainListener(), round);
        request("requests login", login, round);
        try (AccessRules rules = new AccessRules(broker)) {
            rules.add(user.user(), REQUEST_TOPIC, RULES);
            request("requests ACLs", login, round);
            rules.removeAll();
        }
        broker.deleteTopic(REQUEST_TOPIC);
    }

    private void request(String name, LoadListener listener, Round round) {
        BrokerLoad.Result result = load(listener, LOAD_CONNECTIONS, LOAD_IN_FLIGHT, round.warmup(), plan.duration());
        add(name, round, result.requestsPerSecond(), result.brokerMicrosPerRequest());
    }

    private BrokerLoad.Result load(
            LoadListener listener, int connections, int inFlight, Duration warmup, Duration duration) {
        try {
            return new BrokerLoad(listener, REQUEST_TOPIC, PARTITIONS, 1, pool, inFlight)
                    .run(connections, broker.pid(), null, warmup, duration);
        } catch (IOException failed) {
            throw new BenchException("requests failed: " + failed.getMessage(), "check the broker's log", failed);
        }
    }

    private LoadListener plainListener() {
        return LoadListener.of(Side.address(broker.bootstrap()), null);
    }

    private void connections(Round round) throws InterruptedException {
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

    /** Requests over one connection, alone and then beside handshakes, which begin with the warm-up of the requests. */
    private void storm(Round round) throws InterruptedException {
        broker.createTopic(REQUEST_TOPIC, PARTITIONS);
        lone("storm plain", round);
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        ExecutorService handshakes = Executors.newSingleThreadExecutor();
        try {
            ConnectionLoad.Attempts attempts =
                    ConnectionLoad.handshakes(broker.rsaAddress(), broker.tls().sslContext("TLSv1.3"), loop);
            Future<ConnectionLoad.Result> storm = handshakes.submit(
                    () -> ConnectionLoad.run(attempts, plan.threads(), broker.pid(), round.warmup(), plan.duration()));
            lone("storm RSA", round);
            add("storm handshakes", round, storm.get().perSecond(), storm.get().brokerMicros());
        } catch (ExecutionException failed) {
            throw new BenchException("handshakes failed", "check the broker's log", failed.getCause());
        } finally {
            handshakes.shutdown();
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
        broker.deleteTopic(REQUEST_TOPIC);
    }

    private void lone(String name, Round round) {
        load(plainListener(), 1, 1, Duration.ZERO, round.warmup());
        Optional<LoopIterations> loops = broker.metricsAddress().map(LoopIterations::start);
        BrokerLoad.Result result = load(plainListener(), 1, 1, Duration.ZERO, plan.duration());
        Map<String, Double> measured = new HashMap<>();
        measured.put(SecurityResults.RATE, result.requestsPerSecond());
        measured.put(SecurityResults.P50_US, result.latency().p50Us());
        measured.put(SecurityResults.P99_US, result.latency().p99Us());
        measured.put(SecurityResults.CPU_US, result.brokerMicrosPerRequest());
        loops.ifPresent(iterations -> measured.put(SecurityResults.LOOP_P999_US, iterations.upperBoundUs(P999)));
        results.add(choice, name, round.number(), round.warmup(), measured);
    }

    /** The checks that failed. */
    List<String> problems() {
        return List.copyOf(problems);
    }

    private ClientDriver client(ConnectionSecurity security, boolean seals) {
        return choice == BrokerChoice.JOURNALQ
                ? new JournalQClientDriver(security, seals ? sealed.policy() : null)
                : new KafkaClientsDriver(security);
    }

    private void produce(
            String name, ProduceCase one, Tuning tuning, BrokerDriver via, ClientDriver client, Round round)
            throws InterruptedException {
        boolean seals = name.endsWith("sealed");
        String topic = name.replace(' ', '-') + "-" + round.number();
        if (seals) {
            sealed.add(topic, false);
        }
        ProduceSettings settings = new ProduceSettings(
                one,
                new ProduceSettings.Workload(topic, PARTITIONS, MESSAGE_SIZE_BYTES, plan.payload(), 100, 1, 0),
                tuning,
                0,
                round.warmup(),
                plan.duration());
        // A client that does not seal could not open sealed messages.
        ClientDriver reader =
                seals ? client : new KafkaClientsDriver(via == broker ? ConnectionSecurity.NONE : broker.tls());
        ProduceResult result = new ProduceRun(via, client, reader, settings, pool, line -> {}).run();
        if (result.problem() != null) {
            problems.add(choice + " " + name + ": " + result.problem());
        }
        ProduceResult.Measured measured = result.measured();
        double cpuUs = measured.use().brokerCores() * 1e6 / Math.max(1, measured.qps());
        results.add(
                choice,
                name,
                round.number(),
                round.warmup(),
                Map.of(
                        SecurityResults.RATE,
                        measured.qps(),
                        SecurityResults.P50_US,
                        measured.latency().p50Us(),
                        SecurityResults.CPU_US,
                        cpuUs));
        broker.deleteTopic(topic);
    }

    private void handshakes(String name, String version, Round round, String... groups) throws InterruptedException {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            SslContext context = broker.tls().sslContext(version, groups);
            connections(name, round, ConnectionLoad.handshakes(broker.tlsAddress(), context, loop));
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
    }

    private void connections(String name, Round round, ConnectionLoad.Attempts attempts) throws InterruptedException {
        ConnectionLoad.Result result =
                ConnectionLoad.run(attempts, plan.threads(), broker.pid(), round.warmup(), plan.duration());
        add(name, round, result.perSecond(), result.brokerMicros());
    }

    private void add(String name, Round round, double perSecond, double brokerMicros) {
        results.add(
                choice,
                name,
                round.number(),
                round.warmup(),
                Map.of(SecurityResults.RATE, perSecond, SecurityResults.CPU_US, brokerMicros));
    }

    @Override
    public void close() {
        broker.close();
    }
}
