package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Repeats two attacks with valid requests that once ended a broker with the default heap, within 31 and 19 seconds. The
 * broker must stay alive, and a client beside them must be served in time.
 */
@Tag("long")
class HeapAttackTest {
    private static final int CONNECTIONS = 20;
    private static final int NAMES = 290_000;
    private static final int NAMES_IN_A_REQUEST = 100;
    private static final int JOINS = 506;
    private static final int JOIN_BYTES = 1_000_000;
    private static final int REQUEST_TIMEOUT_MS = 60_000;
    private static final long MAX_MEDIAN_ROUND_MS = 2_000;
    private static final long MAX_ROUND_MS = 10_000;

    @TempDir
    private Path directory;

    private final Map<ErrorCode, AtomicInteger> outcomes = new ConcurrentHashMap<>();
    private final List<Throwable> failures = new ArrayList<>();

    private interface Request {
        ErrorCode send(WireClient client, int number) throws IOException;
    }

    @Test
    void shouldLiveWhenManyNamesAreAskedFor() throws Exception {
        Map<String, Double> metrics = attack("names", Map.of(), NAMES / NAMES_IN_A_REQUEST, HeapAttackTest::ask);

        assertThat(outcomes).containsKey(ErrorCode.LEADER_NOT_AVAILABLE);
        assertThat(metrics.get(StateFlood.limit("auto.create.topics.max.rate"))).isPositive();
    }

    /**
     * Without the limit on auto-creation, like the original attack. Its duration is the time to create as many topics
     * as the heap has room for.
     */
    @Test
    @EnabledIfSystemProperty(named = "journalq.flood.ms", matches = ".*")
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void shouldLiveWhenManyNamesAreAskedForWithoutALimitOfTheRate() throws Exception {
        Map<String, String> noRate = Map.of("auto.create.topics.max.rate", "1000000");
        Map<String, Double> metrics = attack("names", noRate, NAMES / NAMES_IN_A_REQUEST, HeapAttackTest::ask);

        assertThat(outcomes).containsKeys(ErrorCode.NONE, ErrorCode.POLICY_VIOLATION);
        assertThat(metrics.get(StateFlood.limit("memory.metadata.max.bytes"))).isPositive();
    }

    @Test
    void shouldLiveWhenManyGroupsAreJoinedWithMuchMetadata() throws Exception {
        Map<String, Double> metrics = attack(
                "joins",
                Map.of(),
                JOINS,
                (client, number) -> ErrorCode.of(
                        StateFloods.join(client, "joined-" + number, JOIN_BYTES).errorCode()));

        assertThat(outcomes).containsOnlyKeys(ErrorCode.NONE, ErrorCode.GROUP_MAX_SIZE_REACHED);
        assertThat(metrics.get(StateFlood.limit("memory.groups.max.bytes"))).isPositive();
    }

    private static ErrorCode ask(WireClient client, int number) throws IOException {
        return StateFloods.createByMetadata(client, "asked-" + number, NAMES_IN_A_REQUEST);
    }

    /** Sends {@code requests} requests over all connections. Returns the metrics at the end. */
    private Map<String, Double> attack(String what, Map<String, String> settings, int requests, Request request)
            throws Exception {
        try (FloodedBroker broker = FloodedBroker.start(directory, settings);
                HealthyClient healthy = new HealthyClient(broker.port())) {
            long beginNanos = System.nanoTime();
            AtomicInteger numbers = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                Thread thread = new Thread(() -> sendAll(broker.port(), numbers, requests, request), "attack-" + i);
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            Map<String, Double> metrics = broker.metrics();
            System.out.println(what + ": seconds=" + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beginNanos)
                    + " outcomes=" + outcomes + " heapBytes=" + FloodedBroker.heapBytes(metrics));
            broker.assertHealthy(what);
            assertThat(failures).as("failures of %s", what).isEmpty();
            healthy.stopAndAssertServed(what, MAX_MEDIAN_ROUND_MS, MAX_ROUND_MS);
            return metrics;
        }
    }

    private void sendAll(int port, AtomicInteger numbers, int requests, Request request) {
        try (WireClient client = new WireClient(port)) {
            client.socket.setSoTimeout(REQUEST_TIMEOUT_MS);
            for (int number = numbers.getAndIncrement(); number < requests; number = numbers.getAndIncrement()) {
                ErrorCode outcome = request.send(client, number);
                outcomes.computeIfAbsent(outcome, first -> new AtomicInteger()).incrementAndGet();
            }
        } catch (IOException | RuntimeException failure) {
            synchronized (failures) {
                failures.add(failure);
            }
        }
    }
}
