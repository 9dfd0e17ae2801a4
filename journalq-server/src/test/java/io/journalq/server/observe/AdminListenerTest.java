package io.journalq.server.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.memory.MemoryBudget;
import io.journalq.server.network.AllowedHosts;
import io.journalq.server.network.NetworkCounters;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdminListenerTest {
    private static final AllowedHosts HOSTS = new AllowedHosts(List.of("broker-1.example.com"));
    private static final int SLOW_CLIENTS = 1_000;
    private static final int PROBES = 21;
    /**
     * Maximum latency that slow clients may add to the median. The median without them is subtracted, because a busy
     * machine makes everything slower.
     */
    private static final long MAX_ADDED_MS = 100;

    private static final int TIMEOUT_MS = 60_000;

    private final HttpClient client = HttpClient.newHttpClient();
    private final BrokerMetrics metrics = new BrokerMetrics();
    private final AtomicReference<Health> health = new AtomicReference<>(new Health(true, 0, List.of(), Map.of()));
    private AdminListener listener;

    @BeforeEach
    void start() throws IOException {
        listener = start(0);
    }

    private AdminListener start(int port) throws IOException {
        return AdminListener.start(
                new InetSocketAddress("localhost", port),
                metrics::registry,
                health::get,
                HOSTS,
                AdminAccess.OF_THIS_MACHINE);
    }

    @AfterEach
    void close() {
        listener.close();
        metrics.close();
    }

    @Test
    void shouldSayUpWhenTheBrokerIsHealthy() throws Exception {
        HttpResponse<String> response = get("/health");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo("{\"status\":\"up\"}");
        assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
    }

    @Test
    void shouldRespondUnavailableWhenTheBrokerIsNotHealthy() throws Exception {
        health.set(new Health(false, 0, List.of(), Map.of()));

        HttpResponse<String> response = get("/health");

        assertThat(response.statusCode()).isEqualTo(503);
        assertThat(response.body()).isEqualTo("{\"status\":\"down\"}");
    }

    @Test
    void shouldNameThePartitionsThatAreNotServedWhenTheRestIs() throws Exception {
        health.set(new Health(true, 2, List.of("orders-0", "orders-7"), Map.of()));

        HttpResponse<String> response = get("/health");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body())
                .isEqualTo("{\"status\":\"degraded\",\"offlinePartitionCount\":2,"
                        + "\"offlinePartitions\":[\"orders-0\",\"orders-7\"]}");
    }

    @Test
    void shouldShowTheProcessWhenMetricsAreRead() throws Exception {
        HttpResponse<String> response = get("/metrics");

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).contains("text/plain; version=0.0.4; charset=utf-8");
        assertThat(response.body())
                .contains("# TYPE jvm_memory_used_bytes gauge")
                .contains("jvm_threads_live_threads ")
                .contains("process_files_open_files ")
                .contains("process_uptime_seconds ");
    }

    @Test
    void shouldReadSuppliersAtEachScrapeWhenTheyAreHeldByNobodyElse() throws Exception {
        // given
        AtomicLong messages = new AtomicLong(41);
        metrics.shardCounter(3, "journalq.messages.in", "Messages appended.", () -> messages.get());
        metrics.shardGauge(3, "journalq.partitions", "Partitions hosted.", () -> messages.get() * 2);
        System.gc();

        // when
        messages.incrementAndGet();
        String page = get("/metrics").body();

        // then
        assertThat(page)
                .contains("journalq_messages_in_total{shard=\"3\"} 42.0")
                .contains("journalq_partitions{shard=\"3\"} 84.0");
    }

    @Test
    void shouldShowNetworkAndBuffersWhenTheyAreBound() throws Exception {
        // given
        PooledByteBufAllocator allocator = new PooledByteBufAllocator(true);
        metrics.bindNetwork(new NetworkCounters());
        metrics.bindAllocator("pooled", allocator.metric());
        ByteBuf buffer = allocator.directBuffer(1 << 10);

        // when
        String page = get("/metrics").body();
        buffer.release();

        // then
        assertThat(page)
                .contains("journalq_network_connections 0.0")
                .contains("journalq_network_requests_total 0.0")
                .contains("journalq_network_received_bytes_total 0.0")
                .containsPattern("journalq_buffers_direct_bytes\\{allocator=\"pooled\"} [1-9]");
    }

    @Test
    void shouldShowAHistogramForEachLoopWhenLoopsAreBound() throws Exception {
        try (EventLoops loops = new EventLoops(2)) {
            // given
            metrics.bindLoops(loops.cycles(), MemoryBudget.of(1 << 20, part -> 0));
            LoopCycle second = loops.cycles().get(1);
            CompletableFuture.runAsync(second::begin, second.loop()::execute).get(30, TimeUnit.SECONDS);
            // The current iteration has ended when the loop runs its next task.
            CompletableFuture<Void> later = new CompletableFuture<>();
            second.loop().schedule(() -> later.complete(null), 50);
            later.get(30, TimeUnit.SECONDS);

            // when
            String page = get("/metrics").body();

            // then
            assertThat(page)
                    .contains("# TYPE journalq_loop_iteration_seconds histogram")
                    .contains("journalq_loop_iteration_seconds_bucket{shard=\"0\",le=\"+Inf\"} 0")
                    .contains("journalq_loop_iteration_seconds_bucket{shard=\"1\",le=\"+Inf\"} 1");
        }
    }

    @Test
    void shouldRefuseWhenPathOrMethodIsNotServed() throws Exception {
        assertThat(get("/metricsandmore").statusCode()).isEqualTo(404);
        HttpRequest post = HttpRequest.newBuilder(uri("/health"))
                .POST(BodyPublishers.ofString("x"))
                .build();
        HttpResponse<String> response = client.send(post, BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Allow")).contains("GET, HEAD");
    }

    @Test
    void shouldRespondServerErrorAndGoOnWhenAMeterFails() throws Exception {
        metrics.registry().getPrometheusRegistry().register((Collector) () -> {
            throw new IllegalStateException("provoked");
        });

        assertThat(get("/metrics").statusCode()).isEqualTo(500);
        assertThat(get("/health").statusCode()).isEqualTo(200);
    }

    @Test
    void shouldServeMetricsAgainAfterAnErrorOfAMeter() throws Exception {
        AtomicBoolean broken = new AtomicBoolean(true);
        metrics.gauges("journalq.provoked", "Fails once.", List.of("part"), () -> {
            if (broken.getAndSet(false)) {
                throw new NoClassDefFoundError("provoked");
            }
            return List.of(new BrokerMetrics.Series(List.of("a"), 1));
        });

        assertThat(get("/metrics").statusCode()).isEqualTo(500);
        assertThat(get("/metrics").body()).contains("journalq_provoked{part=\"a\"} 1.0");
    }

    @Test
    void shouldNameAddressAndSettingWhenThePortIsTaken() {
        int port = listener.port();

        assertThatThrownBy(() -> start(port))
                .isInstanceOf(BindException.class)
                .hasMessageStartingWith("admin.listener: cannot bind localhost:" + port + ": ");
    }

    @Test
    void shouldNameTheHostWhenItIsUnknown() {
        InetSocketAddress unknown = InetSocketAddress.createUnresolved("nowhere.invalid", 0);

        assertThatThrownBy(() -> AdminListener.start(
                        unknown, metrics::registry, health::get, HOSTS, AdminAccess.OF_THIS_MACHINE))
                .isInstanceOf(UnknownHostException.class)
                .hasMessage("admin.listener: unknown host nowhere.invalid");
    }

    @Test
    void shouldFreeThePortWhenClosed() throws Exception {
        // given
        int port = listener.port();
        get("/health");

        // when
        listener.close();

        // then
        try (AdminListener again = start(port)) {
            assertThat(again.port()).isEqualTo(port);
        }
    }

    @Test
    void shouldRespondInTimeWhenAThousandClientsAreSlow() throws Exception {
        // given
        registerLargePage();
        long medianAloneMs = medianHealthMs();
        List<Socket> slow = new ArrayList<>();
        try {
            for (int i = 0; i < SLOW_CLIENTS; i++) {
                slow.add(send(
                        switch (i % 4) {
                            case 0 -> "";
                            case 1 -> "GET /health HTTP/1.1\r\nHost: local";
                            case 2 -> "POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n";
                            default -> "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
                        }));
            }

            // when all of them are accepted
            askForHealth();
            long medianMs = medianHealthMs();

            // then
            assertThat(medianMs).isLessThan(medianAloneMs + MAX_ADDED_MS);
            assertThat(exchange("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 ")
                    .contains("jvm_threads_live_threads ");
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    private long medianHealthMs() throws IOException {
        List<Long> healthMs = new ArrayList<>();
        for (int i = 0; i < PROBES; i++) {
            long begunNanos = System.nanoTime();
            askForHealth();
            healthMs.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos));
        }
        Collections.sort(healthMs);
        return healthMs.get(PROBES / 2);
    }

    private void askForHealth() throws IOException {
        assertThat(exchange("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ");
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 1_000, 2_000, 4_000, 8_000})
    void shouldServeAPageAgainWhenItIsSentInParts(int series) throws Exception {
        MetricSnapshot page = largeSnapshot(series);
        metrics.registry().getPrometheusRegistry().register((Collector) () -> page);

        for (int i = 0; i < 3; i++) {
            assertThat(get("/metrics").body()).contains("x" + (series - 1) + "\"}");
        }
    }

    @Test
    void shouldServeHealthWhileAPageIsRendered() throws Exception {
        // given
        CountDownLatch rendering = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        metrics.registry().getPrometheusRegistry().register((Collector) () -> {
            rendering.countDown();
            awaitQuietly(mayGoOn);
            return largeSnapshot(1);
        });
        CompletableFuture<HttpResponse<String>> page =
                client.sendAsync(HttpRequest.newBuilder(uri("/metrics")).build(), BodyHandlers.ofString());
        assertThat(rendering.await(30, TimeUnit.SECONDS)).isTrue();

        // when
        HttpResponse<String> response = get("/health");

        // then
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(page).isNotDone();
        mayGoOn.countDown();
        assertThat(page.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "LOCALHOST:9644",
                "127.0.0.1:9644",
                "10.1.2.3",
                "[::1]:9644",
                "broker-1.example.com",
                "Broker-1.example.com.:80"
            })
    void shouldServeWhenTheHostIsAnAddressOrAKnownName(String host) throws IOException {
        assertThat(exchange("GET /health HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "attacker.example.com",
                "localhost.attacker.com",
                "127.0.0.1.attacker.com:9644",
                "localhost:80@attacker.com",
                "[attacker.com]",
                ""
            })
    void shouldRefuseWhenTheHostIsAnotherName(String host) throws IOException {
        assertThat(exchange("GET /metrics HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 421 ")
                .contains("admin.allowed.hosts")
                .doesNotContain("jvm_");
    }

    @Test
    void shouldWantAHostWhenHttpDoes() throws IOException {
        assertThat(exchange("GET /health HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.1 200 ");
        assertThat(exchange("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ");
        assertThat(exchange("GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "-1", "1, 2", "99999999999999999999"})
    void shouldRefuseALengthThatIsNoNumber(String length) throws IOException {
        assertThat(exchange("GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length + "\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ");
    }

    @Test
    void shouldRefuseAHeadThatIsTooLarge() throws IOException {
        String header = "X: " + "x".repeat(1_000) + "\r\n";

        assertThat(exchange("GET /health HTTP/1.1\r\nHost: localhost\r\n" + header.repeat(20) + "\r\n"))
                .startsWith("HTTP/1.1 431 ");
    }

    @Test
    void shouldRespondToSeveralRequestsOnOneConnection() throws IOException {
        String request = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

        try (Socket socket = send(request)) {
            byte[] first = socket.getInputStream().readNBytes(15);
            socket.getOutputStream()
                    .write("HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            String rest = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);

            assertThat(new String(first, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 200 OK");
            assertThat(rest)
                    .contains("{\"status\":\"up\"}")
                    .contains("HTTP/1.1 200 OK")
                    .endsWith("\r\n\r\n");
        }
    }

    /** Registers a page that is too large for the buffers of a socket. */
    private void registerLargePage() {
        MetricSnapshot large = largeSnapshot(40_000);
        metrics.registry().getPrometheusRegistry().register((Collector) () -> large);
    }

    private static MetricSnapshot largeSnapshot(int series) {
        GaugeSnapshot.Builder snapshot = GaugeSnapshot.builder().name("large");
        for (int i = 0; i < series; i++) {
            snapshot.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                    .value(i)
                    .labels(Labels.of("series", "x".repeat(60) + i))
                    .build());
        }
        return snapshot.build();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Socket send(String text) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port());
        socket.setSoTimeout(TIMEOUT_MS);
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private String exchange(String text) throws IOException {
        try (Socket socket = send(text)) {
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("http://localhost:" + listener.port() + path);
    }
}
