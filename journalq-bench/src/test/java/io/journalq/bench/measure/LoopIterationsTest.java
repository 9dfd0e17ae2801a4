package io.journalq.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The quantiles of iterations between two pages of metrics. */
class LoopIterationsTest {
    private static final String BUCKET = "journalq_loop_iteration_seconds_bucket{shard=\"%d\",le=\"%s\"} %d\n";

    private HttpServer server;
    private volatile String page = "";

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/metrics", exchange -> {
            byte[] body = page.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void shouldCountTheIterationsOfAllLoopsThatEndedInTheInterval() {
        // given 5,000 iterations of before, all of them long
        page = loop(0, 0, 0, 5_000) + loop(1, 0, 0, 0);
        LoopIterations iterations = LoopIterations.start(address());

        // when 2,000 more end: 1,998 within 65.5 µs, one within 131 µs, and one later
        page = loop(0, 999, 1_000, 6_000) + loop(1, 999, 999, 1_000);

        // then
        assertThat(iterations.upperBoundUs(0.999)).isEqualTo(65.536);
        assertThat(iterations.upperBoundUs(0.9995)).isEqualTo(131.072);
        assertThat(iterations.upperBoundUs(1)).isInfinite();
    }

    @Test
    void shouldKnowNothingWhenNoIterationEndedOrThereIsNoPage() {
        page = loop(0, 1, 1, 1);
        LoopIterations idle = LoopIterations.start(address());
        assertThat(idle.upperBoundUs(0.999)).isEqualTo(-1);

        server.removeContext("/metrics");
        assertThat(LoopIterations.start(address()).upperBoundUs(0.999)).isEqualTo(-1);
    }

    /** How many iterations of a loop took at most 65.5 µs, at most 131 µs, and any time. */
    private static String loop(int shard, long first, long second, long all) {
        return BUCKET.formatted(shard, "6.5536E-5", first)
                + BUCKET.formatted(shard, "1.31072E-4", second)
                + BUCKET.formatted(shard, "+Inf", all);
    }

    private String address() {
        return "localhost:" + server.getAddress().getPort();
    }
}
