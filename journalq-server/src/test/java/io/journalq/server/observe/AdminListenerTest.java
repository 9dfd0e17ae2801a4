package io.journalq.server.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.server.loop.EventLoops;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.NetworkCounters;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.prometheus.metrics.model.registry.Collector;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AdminListenerTest {
    private final HttpClient client = HttpClient.newHttpClient();
    private final BrokerMetrics metrics = new BrokerMetrics();
    private final AtomicReference<Health> health = new AtomicReference<>(new Health(true, 0, List.of(), Map.of()));
    private AdminListener listener;

    @BeforeEach
    void start() throws IOException {
        listener = AdminListener.start("localhost", 0, metrics.registry(), health::get);
    }

    @AfterEach
    void close() {
        listener.close();
        metrics.close();
    }

    @Test
    void shouldSayUpWhenTheBrokerIsHealthy() throws Exception {
        HttpResponse<String> answer = get("/health");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("{\"status\":\"up\"}");
        assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
    }

    @Test
    void shouldAnswerUnavailableWhenTheBrokerIsNotHealthy() throws Exception {
        health.set(new Health(false, 0, List.of(), Map.of()));

        HttpResponse<String> answer = get("/health");

        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).isEqualTo("{\"status\":\"down\"}");
    }

    @Test
    void shouldNameThePartitionsThatAreNotServedWhenTheRestIs() throws Exception {
        health.set(new Health(true, 2, List.of("orders-0", "orders-7"), Map.of()));

        HttpResponse<String> answer = get("/health");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body())
                .isEqualTo("{\"status\":\"degraded\",\"offlinePartitionCount\":2,"
                        + "\"offlinePartitions\":[\"orders-0\",\"orders-7\"]}");
    }

    @Test
    void shouldShowTheProcessWhenMetricsAreRead() throws Exception {
        HttpResponse<String> answer = get("/metrics");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).contains("text/plain; version=0.0.4; charset=utf-8");
        assertThat(answer.body())
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
            metrics.bindLoops(loops.cycles());
            LoopCycle second = loops.cycles().get(1);
            CompletableFuture.runAsync(second::begin, second.loop()::execute).get(5, TimeUnit.SECONDS);
            // The iteration that began is over when the next task of the loop runs in a later one.
            CompletableFuture<Void> later = new CompletableFuture<>();
            second.loop().schedule(() -> later.complete(null), 50);
            later.get(5, TimeUnit.SECONDS);

            // when
            String page = get("/metrics").body();

            // then
            assertThat(page)
                    .contains("# TYPE journalq_loop_iteration_seconds histogram")
                    .contains("journalq_loop_iteration_seconds_bucket{loop=\"0\",le=\"+Inf\"} 0")
                    .contains("journalq_loop_iteration_seconds_bucket{loop=\"1\",le=\"+Inf\"} 1");
        }
    }

    @Test
    void shouldRefuseWhenPathOrMethodIsNotServed() throws Exception {
        assertThat(get("/metricsandmore").statusCode()).isEqualTo(404);
        HttpRequest post = HttpRequest.newBuilder(uri("/health"))
                .POST(BodyPublishers.ofString("x"))
                .build();
        HttpResponse<String> answer = client.send(post, BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains("GET, HEAD");
    }

    @Test
    void shouldAnswerServerErrorAndGoOnWhenAMeterFails() throws Exception {
        metrics.registry().getPrometheusRegistry().register((Collector) () -> {
            throw new IllegalStateException("provoked");
        });

        assertThat(get("/metrics").statusCode()).isEqualTo(500);
        assertThat(get("/health").statusCode()).isEqualTo(200);
    }

    @Test
    void shouldNameAddressAndSettingWhenThePortIsTaken() {
        int port = listener.port();

        assertThatThrownBy(() -> AdminListener.start("localhost", port, metrics.registry(), health::get))
                .isInstanceOf(BindException.class)
                .hasMessageStartingWith("admin.listener: cannot bind localhost:" + port + ": ");
    }

    @Test
    void shouldNameTheHostWhenItIsUnknown() {
        InetSocketAddress unknown = InetSocketAddress.createUnresolved("nowhere.invalid", 0);

        assertThatThrownBy(() -> AdminListener.start(unknown, metrics.registry(), health::get))
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
        try (AdminListener again = AdminListener.start("localhost", port, metrics.registry(), health::get)) {
            assertThat(again.port()).isEqualTo(port);
        }
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("http://localhost:" + listener.port() + path);
    }
}
