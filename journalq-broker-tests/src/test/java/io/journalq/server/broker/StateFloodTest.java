package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.server.memory.StatePart;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every API that leaves state behind, driven by 20 connections against a broker in a separate process with the default
 * heap. Each flood reaches its bound, is refused with the protocol's error, and is counted. The broker stays alive, and
 * a client beside the flood is served in time.
 *
 * <p>By default, the bounds are small enough to be reached in a second. {@code -Djournalq.flood.ms=60000} uses the
 * bounds that follow from the heap, and floods each API for 60 s.
 */
@Tag("long")
class StateFloodTest {
    private static final int CONNECTIONS = 20;
    private static final String FLOOD_MS_PROPERTY = "journalq.flood.ms";
    private static final long SHORT_MS = 1_000;
    private static final boolean IS_SHORT = System.getProperty(FLOOD_MS_PROPERTY) == null;
    private static final long FLOOD_MS = Long.getLong(FLOOD_MS_PROPERTY, SHORT_MS);
    private static final long MAX_MS = FLOOD_MS + 120_000;
    private static final int CHECK_INTERVAL_MS = 200;
    private static final int STEP_TIMEOUT_MS = 60_000;

    /** Bound of the three requests of the client beside the flood. Other processes may use the machine too. */
    private static final long MAX_MEDIAN_ROUND_MS = 2_000;

    private static final long MAX_ROUND_MS = 10_000;

    /** Every connection may get the last room, see {@code MemoryPart}, with a request of this size. */
    private static final long MAX_OVERSHOOT_BYTES = CONNECTIONS * 1_100_000L;

    /** Minimum used share of a full part, except in a flood that another bound stops. */
    private static final double FULL = 0.7;

    /** Served APIs that leave no state behind: they read, they delete, or they change a fixed amount of state. */
    private static final Set<ApiKey> STATELESS = EnumSet.of(
            ApiKey.ADD_RAFT_VOTER, // refused without a quorum
            ApiKey.ALTER_PARTITION_REASSIGNMENTS,
            ApiKey.ALTER_USER_SCRAM_CREDENTIALS, // refused without a login
            ApiKey.CONSUMER_GROUP_DESCRIBE,
            ApiKey.CREATE_ACLS, // refused
            ApiKey.DELETE_ACLS,
            ApiKey.DELETE_GROUPS,
            ApiKey.DELETE_RECORDS,
            ApiKey.DELETE_TOPICS,
            ApiKey.DESCRIBE_ACLS,
            ApiKey.DESCRIBE_CLIENT_QUOTAS,
            ApiKey.DESCRIBE_CLUSTER,
            ApiKey.DESCRIBE_CONFIGS,
            ApiKey.DESCRIBE_GROUPS,
            ApiKey.DESCRIBE_LOG_DIRS,
            ApiKey.DESCRIBE_PRODUCERS,
            ApiKey.DESCRIBE_QUORUM,
            ApiKey.DESCRIBE_TOPIC_PARTITIONS,
            ApiKey.DESCRIBE_TRANSACTIONS,
            ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
            ApiKey.ELECT_LEADERS,
            ApiKey.END_TXN,
            ApiKey.FIND_COORDINATOR,
            ApiKey.HEARTBEAT,
            ApiKey.LEAVE_GROUP,
            ApiKey.LIST_CONFIG_RESOURCES,
            ApiKey.LIST_GROUPS,
            ApiKey.LIST_OFFSETS,
            ApiKey.LIST_PARTITION_REASSIGNMENTS,
            ApiKey.LIST_TRANSACTIONS,
            ApiKey.OFFSET_DELETE,
            ApiKey.OFFSET_FETCH,
            ApiKey.OFFSET_FOR_LEADER_EPOCH,
            ApiKey.READ_REPLICA,
            ApiKey.REMOVE_RAFT_VOTER,
            ApiKey.SASL_AUTHENTICATE,
            ApiKey.SASL_HANDSHAKE,
            ApiKey.UNREGISTER_BROKER, // of a broker that is not there
            ApiKey.UPDATE_FEATURES);

    /** Temporary errors, after which a client retries. */
    private static final Set<ErrorCode> PASSING = EnumSet.of(
            ErrorCode.NONE,
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            ErrorCode.COORDINATOR_NOT_AVAILABLE,
            ErrorCode.NOT_COORDINATOR,
            ErrorCode.NOT_CONTROLLER,
            ErrorCode.CONCURRENT_TRANSACTIONS);

    private static final Map<ApiKey, StateFlood> FLOODS = StateFloods.all();

    @TempDir
    private Path directory;

    private final AtomicInteger numbers = new AtomicInteger();
    private final Map<ErrorCode, AtomicInteger> outcomes = new ConcurrentHashMap<>();
    private final List<Throwable> failures = new ArrayList<>();

    /** Floods that share a broker: each has its own parts of the budget. */
    static List<List<ApiKey>> rounds() {
        List<List<ApiKey>> rounds = new ArrayList<>();
        Map<StatePart, Integer> floodsOfPart = new EnumMap<>(StatePart.class);
        FLOODS.forEach((api, flood) -> {
            int round = floodsOfPart.merge(flood.part(), 1, Integer::sum) - 1;
            if (api == ApiKey.TXN_OFFSET_COMMIT) {
                // It also needs room for transactional ids.
                round = Math.max(round, floodsOfPart.merge(StatePart.TRANSACTIONS, 1, Integer::sum) - 1);
                floodsOfPart.put(flood.part(), round + 1);
                floodsOfPart.put(StatePart.TRANSACTIONS, round + 1);
            }
            while (round >= rounds.size()) {
                rounds.add(new ArrayList<>());
            }
            rounds.get(round).add(api);
        });
        return rounds;
    }

    @Test
    void shouldKnowEveryApiThatIsServed() throws Exception {
        try (FloodedBroker broker = FloodedBroker.start(directory, Map.of());
                WireClient client = new WireClient(broker.port())) {
            Set<ApiKey> served = EnumSet.noneOf(ApiKey.class);
            client.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0)
                    .apiKeys()
                    .forEach(api -> served.add(ApiKey.of(api.apiKey())));
            Set<ApiKey> classified = EnumSet.copyOf(STATELESS);
            classified.addAll(FLOODS.keySet());
            assertThat(classified)
                    .as("a served API leaves state behind and has a flood here, or is listed as STATELESS")
                    .isEqualTo(served);
        }
    }

    @ParameterizedTest
    @MethodSource("rounds")
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void shouldRefuseAndServeOthersWhenApisAreDrivenBeyondTheirBounds(List<ApiKey> apis) throws Exception {
        Map<String, String> settings = new HashMap<>();
        settings.put("group.initial.rebalance.delay.ms", "0");
        // This test is about the bound of the memory, and not about the rate.
        settings.put("auto.create.topics.max.rate", "1000000");
        if (IS_SHORT) {
            for (ApiKey api : apis) {
                settings.put(
                        FLOODS.get(api).part().setting(),
                        String.valueOf(FLOODS.get(api).shortBoundBytes()));
            }
        }
        try (FloodedBroker broker = FloodedBroker.start(directory, settings)) {
            try (WireClient client = new WireClient(broker.port())) {
                for (ApiKey api : apis) {
                    FLOODS.get(api).setup().run(client);
                }
            }
            for (ApiKey api : apis) {
                outcomes.clear();
                numbers.set(0);
                try (HealthyClient healthy = new HealthyClient(broker.port())) {
                    Map<String, Double> atTheBound = drive(broker, FLOODS.get(api));

                    broker.assertHealthy(api.apiName());
                    assertRefused(api, FLOODS.get(api), broker.metrics());
                    assertBounded(api, FLOODS.get(api), atTheBound);
                    healthy.stopAndAssertServed(api.apiName(), MAX_MEDIAN_ROUND_MS, MAX_ROUND_MS);
                }
            }
        }
    }

    private void assertRefused(ApiKey api, StateFlood flood, Map<String, Double> metrics) {
        assertThat(failures).as("failures of %s", api.apiName()).isEmpty();
        Set<ErrorCode> unexpected = EnumSet.noneOf(ErrorCode.class);
        unexpected.addAll(outcomes.keySet());
        unexpected.removeAll(PASSING);
        unexpected.remove(flood.refusal());
        assertThat(unexpected)
                .as("the response to %s was %s", api.apiName(), outcomes)
                .isEmpty();
        assertThat(outcomes).as("accepted by %s", api.apiName()).containsKey(ErrorCode.NONE);
        assertThat(outcomes).as("%s is refused", api.apiName()).containsKey(flood.refusal());

        double counted = flood.bounds().stream().mapToDouble(metrics::get).sum();
        int refused = flood.refusal() == ErrorCode.NONE
                ? 1
                : outcomes.get(flood.refusal()).get();
        assertThat(counted)
                .as("%s is counted: %s", api.apiName(), flood.bounds())
                .isGreaterThanOrEqualTo(refused);
    }

    private void assertBounded(ApiKey api, StateFlood flood, Map<String, Double> metrics) {
        String part = "{part=\"" + flood.part().label() + "\"}";
        double usedBytes = metrics.get("journalq_state_memory_used_bytes" + part);
        double maxBytes = metrics.get("journalq_state_memory_max_bytes" + part);
        System.out.println(api.apiName() + ": outcomes=" + outcomes + " usedBytes=" + (long) usedBytes + " maxBytes="
                + (long) maxBytes + " heapBytes=" + FloodedBroker.heapBytes(metrics));
        assertThat(usedBytes).as("used of %s", part).isLessThan(maxBytes + MAX_OVERSHOOT_BYTES);
        if (metrics.get(flood.bounds().get(0)) > 0) {
            assertThat(usedBytes).as("used of %s", part).isGreaterThan(FULL * maxBytes);
        }
    }

    /** Returns the metrics of the last moment of the flood. */
    private Map<String, Double> drive(FloodedBroker broker, StateFlood flood) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            Thread thread = new Thread(() -> driveOne(broker.port(), flood, over), "flood-" + i);
            threads.add(thread);
            thread.start();
        }
        long beginNanos = System.nanoTime();
        long tookMs = 0;
        Map<String, Double> metrics = broker.metrics();
        while (tookMs < (isAtBound(flood, metrics) ? FLOOD_MS : MAX_MS)) {
            assertThat(broker.awaitEnd(CHECK_INTERVAL_MS))
                    .as("the broker ended")
                    .isFalse();
            metrics = broker.metrics();
            tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNanos);
        }
        over.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        flood.step().close();
        return metrics;
    }

    private static boolean isAtBound(StateFlood flood, Map<String, Double> metrics) {
        return flood.bounds().stream().anyMatch(sample -> metrics.get(sample) > 0);
    }

    private void driveOne(int port, StateFlood flood, AtomicBoolean over) {
        try (WireClient client = new WireClient(port)) {
            client.socket.setSoTimeout(STEP_TIMEOUT_MS);
            while (!over.get()) {
                ErrorCode outcome = flood.step().run(client, numbers.incrementAndGet());
                outcomes.computeIfAbsent(outcome, first -> new AtomicInteger()).incrementAndGet();
            }
        } catch (IOException | RuntimeException failure) {
            synchronized (failures) {
                failures.add(failure);
            }
        }
    }
}
