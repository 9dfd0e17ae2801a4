package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A server on a port of its own that responds as a key management service does. Faults are taken from a queue, one for each
 * request.
 */
abstract class FakeKeyService implements AutoCloseable {
    static final int OK = 200;
    static final int BAD_REQUEST = 400;

    /** What happens to the next requests instead of a response. */
    final Queue<Fault> faults = new ConcurrentLinkedQueue<>();

    /** The requests that have arrived, as {@link #name} shows them. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;
    private final CountDownLatch closed = new CountDownLatch(1);

    /** What the server does instead of responding. */
    interface Fault {
        void happen(HttpExchange exchange) throws IOException;
    }

    FakeKeyService() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::take);
    }

    /** Begins to take requests. */
    void start() {
        server.start();
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    private void take(HttpExchange exchange) throws IOException {
        requests.add(name(exchange));
        String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
        Fault fault = faults.poll();
        try (exchange) {
            if (fault == null) {
                serve(exchange, body);
            } else {
                fault.happen(exchange);
            }
        }
    }

    /** How a request is shown in {@link #requests}. */
    abstract String name(HttpExchange exchange);

    /** Responds to a request. */
    abstract void serve(HttpExchange exchange, String body) throws IOException;

    /** The connection is closed in the middle of the response. */
    static Fault lost(String begin) {
        return exchange -> {
            exchange.sendResponseHeaders(OK, 1_000);
            exchange.getResponseBody().write(begin.getBytes(UTF_8));
            exchange.getResponseBody().flush();
            throw new IOException("planted");
        };
    }

    /** A part of the response is sent, and no more until the server is closed. */
    Fault slow() {
        return exchange -> {
            exchange.sendResponseHeaders(OK, 1_000);
            exchange.getResponseBody().write('{');
            exchange.getResponseBody().flush();
            try {
                closed.await();
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        };
    }

    /** A response of many bytes. */
    static Fault huge() {
        return exchange -> {
            exchange.sendResponseHeaders(OK, 0);
            try (OutputStream out = exchange.getResponseBody()) {
                byte[] piece = new byte[64 * 1024];
                for (int i = 0; i < 64; i++) {
                    out.write(piece);
                }
            }
        };
    }

    /** A redirect to another server. */
    static Fault redirect() {
        return exchange -> {
            exchange.getResponseHeaders().set("Location", "http://127.0.0.1:1/");
            exchange.sendResponseHeaders(307, -1);
        };
    }

    /** A response with a body. */
    static Fault response(int code, String body) {
        return exchange -> {
            byte[] bytes = body.getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(code, bytes.length);
            exchange.getResponseBody().write(bytes);
        };
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
