package io.journalq.server.observe;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves {@code GET /metrics} (Prometheus text) and {@code GET /health} over HTTP, on a few threads of its own, so that
 * a page is answered however busy the event loops are. Any thread.
 */
public final class AdminListener implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(AdminListener.class);

    private static final int THREADS = 2;
    private static final int MAX_QUEUED_REQUESTS = 64;
    private static final int MAX_QUEUED_CONNECTIONS = 64;
    private static final int MAX_REQUEST_SECONDS = 10;

    /** Seconds that a close waits for answers under way. */
    private static final int CLOSE_DELAY_SECONDS = 0;

    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int INTERNAL_ERROR = 500;
    private static final int UNAVAILABLE = 503;
    private static final int NO_BODY = -1;

    private static final String PLAIN = "text/plain; charset=utf-8";
    private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";
    private static final String JSON = "application/json";

    private final HttpServer server;
    private final ThreadPoolExecutor threads;
    private final PrometheusMeterRegistry registry;
    private final Supplier<Health> health;

    private AdminListener(
            HttpServer server, ThreadPoolExecutor threads, PrometheusMeterRegistry registry, Supplier<Health> health) {
        this.server = server;
        this.threads = threads;
        this.registry = registry;
        this.health = health;
    }

    /**
     * Binds and serves.
     *
     * @param host name or address; empty for every interface
     * @param port 0 for any free one
     * @param health says how the broker is
     * @throws IOException when the address is unknown or taken; the message names it and the setting
     */
    public static AdminListener start(String host, int port, PrometheusMeterRegistry registry, Supplier<Health> health)
            throws IOException {
        return start(
                host.isEmpty() ? new InetSocketAddress(port) : new InetSocketAddress(host, port), registry, health);
    }

    /** As {@link #start(String, int, PrometheusMeterRegistry, Supplier)}. */
    public static AdminListener start(
            InetSocketAddress address, PrometheusMeterRegistry registry, Supplier<Health> health) throws IOException {
        if (address.isUnresolved()) {
            throw new UnknownHostException("admin.listener: unknown host " + address.getHostString());
        }
        boundSlowClients();
        HttpServer server = bind(address);
        ThreadPoolExecutor threads = newThreads();
        AdminListener listener = new AdminListener(server, threads, registry, health);
        server.setExecutor(threads);
        server.createContext("/", listener::answer);
        server.start();
        return listener;
    }

    /** The port that is bound. */
    public int port() {
        return server.getAddress().getPort();
    }

    /** Stops serving and ends the threads. Closing twice is harmless. */
    @Override
    public void close() {
        server.stop(CLOSE_DELAY_SECONDS);
        threads.shutdownNow();
    }

    private static HttpServer bind(InetSocketAddress address) throws IOException {
        try {
            return HttpServer.create(address, MAX_QUEUED_CONNECTIONS);
        } catch (BindException taken) {
            BindException precise = new BindException("admin.listener: cannot bind " + address.getHostString() + ":"
                    + address.getPort() + ": " + taken.getMessage());
            precise.initCause(taken);
            throw precise;
        }
    }

    /** Without these limits of the JDK's server, a client that never finishes its request keeps a thread for ever. */
    private static void boundSlowClients() {
        setIfAbsent("sun.net.httpserver.maxReqTime");
        setIfAbsent("sun.net.httpserver.maxRspTime");
    }

    private static void setIfAbsent(String property) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, String.valueOf(MAX_REQUEST_SECONDS));
        }
    }

    private static ThreadPoolExecutor newThreads() {
        AtomicInteger count = new AtomicInteger();
        ThreadPoolExecutor threads = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                0,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MAX_QUEUED_REQUESTS),
                work -> {
                    Thread thread = new Thread(work, "admin-listener-" + count.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                },
                // The accepting thread answers itself, and meanwhile accepts no more.
                new ThreadPoolExecutor.CallerRunsPolicy());
        return threads;
    }

    private void answer(HttpExchange exchange) {
        try (exchange) {
            String method = exchange.getRequestMethod();
            boolean head = method.equals("HEAD");
            if (!head && !method.equals("GET")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                send(exchange, METHOD_NOT_ALLOWED, PLAIN, "only GET is served\n", false);
                return;
            }
            answer(exchange, head);
        } catch (IOException gone) {
            log.debug("admin client {} went away: {}", exchange.getRemoteAddress(), gone.getMessage());
        }
    }

    private void answer(HttpExchange exchange, boolean head) throws IOException {
        switch (exchange.getRequestURI().getPath()) {
            case "/metrics" -> sendMetrics(exchange, head);
            case "/health" -> {
                Health now = health.get();
                send(exchange, now.serving() ? OK : UNAVAILABLE, JSON, now.toJson(), head);
            }
            default -> send(exchange, NOT_FOUND, PLAIN, "/metrics and /health are served here\n", head);
        }
    }

    private void sendMetrics(HttpExchange exchange, boolean head) throws IOException {
        String page;
        try {
            page = registry.scrape();
        } catch (RuntimeException failure) {
            log.error("a meter could not be read", failure);
            send(exchange, INTERNAL_ERROR, PLAIN, "a meter could not be read; see the log\n", head);
            return;
        }
        send(exchange, OK, PROMETHEUS, page, head);
    }

    private static void send(HttpExchange exchange, int status, String contentType, String text, boolean head)
            throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", contentType);
        exchange.sendResponseHeaders(status, head ? NO_BODY : body.length);
        if (!head) {
            exchange.getResponseBody().write(body);
        }
    }
}
