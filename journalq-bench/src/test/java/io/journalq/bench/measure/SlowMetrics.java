package io.journalq.bench.measure;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** The metrics of a broker that takes a fixed time to serve them. */
public final class SlowMetrics implements AutoCloseable {
    private static final int OK = 200;
    private static final int NO_BODY = -1;

    private final HttpServer server;

    public SlowMetrics(int delayMs) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/metrics", exchange -> {
            try (exchange) {
                TimeUnit.MILLISECONDS.sleep(delayMs);
                exchange.sendResponseHeaders(OK, NO_BODY);
            } catch (InterruptedException closed) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
    }

    /** The {@code host:port}. */
    public String address() {
        return "localhost:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
