package io.journalq.server.observe;

import io.journalq.server.loop.Loop;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renders the metrics page on its own thread, so that a page with many series does not delay {@code /health}. Clients
 * that request a page while one is rendered share the next one. On the listener's loop, except for the rendering.
 */
final class MetricsPages implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(MetricsPages.class);

    private static final long THREAD_KEEP_ALIVE_SECONDS = 60;
    private static final long HAND_OUT_INTERVAL_MS = 1;

    private final Loop loop;
    private final Supplier<PrometheusMeterRegistry> registry;
    /** At most one page is rendered at a time, so the queue never holds more than one. */
    private final ThreadPoolExecutor renderer = new ThreadPoolExecutor(
            0, 1, THREAD_KEEP_ALIVE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
                Thread thread = new Thread(work, "admin-metrics");
                thread.setDaemon(true);
                return thread;
            });

    private List<AdminConnection> waiting = new ArrayList<>();
    private boolean rendering;

    /** @param registry called by the rendering thread, for each page */
    MetricsPages(Loop loop, Supplier<PrometheusMeterRegistry> registry) {
        this.loop = loop;
        this.registry = registry;
    }

    /** Sends {@code connection} a page whose rendering starts after this call. */
    void request(AdminConnection connection) {
        waiting.add(connection);
        if (!rendering) {
            renderNext();
        }
    }

    private void renderNext() {
        List<AdminConnection> readers =
                waiting.stream().filter(AdminConnection::isOpen).toList();
        waiting = new ArrayList<>();
        rendering = !readers.isEmpty();
        if (rendering) {
            try {
                renderer.execute(() -> renderFor(readers));
            } catch (RejectedExecutionException | OutOfMemoryError noThread) {
                log.warn("cannot render a metrics page: {}", noThread.toString());
                renderer.getQueue().clear();
                rendering = false;
                readers.forEach(AdminConnection::close);
            }
        }
    }

    private void renderFor(List<AdminConnection> readers) {
        byte[] page;
        try {
            page = registry.get().scrape().getBytes(StandardCharsets.UTF_8);
        } catch (RuntimeException | Error failure) {
            // Also an error, such as a missing class: no page would be rendered any more.
            log.error("cannot read a metric", failure);
            page = null;
        }
        byte[] rendered = page;
        try {
            loop.execute(() -> handOut(rendered, readers.iterator()));
        } catch (RejectedExecutionException closed) {
            log.debug("the listener was closed while a page was rendered");
        }
    }

    /**
     * Sends a page to one reader, and to the next reader after other events of the loop. A socket may take megabytes of
     * a large page at once, and hundreds of readers may wait for the page.
     */
    private void handOut(byte[] page, Iterator<AdminConnection> readers) {
        AdminConnection reader = readers.next();
        try {
            reader.onPage(page);
        } catch (RuntimeException | OutOfMemoryError failure) {
            // Also a lack of direct memory: the others wait for the page.
            log.error("cannot send a metrics page", failure);
            reader.close();
        }
        if (readers.hasNext()) {
            loop.schedule(() -> handOut(page, readers), HAND_OUT_INTERVAL_MS);
        } else {
            renderNext();
        }
    }

    @Override
    public void close() {
        renderer.shutdownNow();
    }
}
