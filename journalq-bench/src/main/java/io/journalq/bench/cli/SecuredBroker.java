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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A broker with plain and secured listeners, and how {@code journalq-bench security} measures it. One thread. */
final class SecuredBroker implements AutoCloseable {
    private static final int MESSAGE_SIZE_BYTES = 1024;
    private static final int BATCH_THREADS = 2;
    private static final int SYNC_THREADS = 100;
    private static final int PRODUCERS = 4;
    private static final int IN_FLIGHT_BATCHES = 100;

    private final BrokerChoice choice;
    private final SpawnedBroker broker;
    private final Plan plan;
    private final PayloadPool pool;
    private final SecurityResults results;
    private final List<String> problems = new ArrayList<>();
    /** Null if the broker cannot be used with sealed messages. */
    private SealedTopics sealed;

    /**
     * What is measured.
     *
     * @param payload content of the messages
     * @param threads that open connections
     * @param duration of each measurement
     */
    record Plan(List<ProduceCase> cases, String payload, int threads, Duration duration) {
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
        this.broker =
                choice == BrokerChoice.JOURNALQ ? JournalQBroker.secured(Map.of()) : KafkaBroker.secured(Map.of());
    }

    /** Starts the broker, and freezes it. */
    void start() {
        broker.start();
        if (choice == BrokerChoice.JOURNALQ) {
            sealed = new SealedTopics(broker.bootstrap(), ConnectionSecurity.NONE);
        }
        broker.freeze();
    }

    /** Measures the broker, which is frozen before and after that. */
    void measure(Round round) throws InterruptedException {
        broker.thaw();
        for (ProduceCase one : plan.cases()) {
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
        broker.settle();
        broker.freeze();
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

    private void produce(String name, ProduceCase one, BrokerDriver via, ClientDriver client, Round round)
            throws InterruptedException {
        boolean seals = name.endsWith("sealed");
        String topic = name.replace(' ', '-') + "-" + round.number();
        if (seals) {
            sealed.add(topic, false);
        }
        boolean virtual = !one.batched() && Callers.virtualThreadsExist();
        ProduceSettings settings = new ProduceSettings(
                one,
                new ProduceSettings.Workload(topic, 10, MESSAGE_SIZE_BYTES, plan.payload(), 100, 1, 0),
                new Tuning(
                        one.batched() ? BATCH_THREADS : SYNC_THREADS, virtual, PRODUCERS, IN_FLIGHT_BATCHES, Map.of()),
                0,
                round.warmup(),
                plan.duration());
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
                name,
                round,
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
        add(
                name,
                round,
                Map.of(SecurityResults.RATE, result.perSecond(), SecurityResults.CPU_US, result.brokerMicros()));
    }

    private void add(String name, Round round, Map<String, Double> measured) {
        results.add(choice, name, round.number(), round.warmup(), measured);
    }

    @Override
    public void close() {
        broker.close();
    }
}
