package io.journalq.server.observe;

import io.journalq.server.loop.Loop;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Bounds the resources that slow clients of the admin listener can hold: the number of connections, the number of pages
 * that wait for their readers, and the time for a request and its response. At a bound, the connection without progress
 * for the longest time is closed, so that a new client is always served. On the listener's loop.
 */
final class AdminConnections {
    static final int MAX_CONNECTIONS = 256;

    /** Connections that hold a metrics page which their client has not read. */
    static final int MAX_UNREAD_PAGES = 16;

    private static final long SWEEP_INTERVAL_MS = 1_000;
    /**
     * Maximum time from the accept to the end of the first request's head, and from there to the end of the response.
     */
    private static final long MAX_REQUEST_NANOS = TimeUnit.SECONDS.toNanos(10);
    /**
     * Maximum time from a response to the end of the next request's head. Longer than the usual scrape interval of 15
     * s.
     */
    private static final long MAX_IDLE_NANOS = TimeUnit.SECONDS.toNanos(75);

    private final Loop loop;
    /** Ordered by progress: the connection without progress for the longest time comes first. */
    private final Set<AdminConnection> connections = new LinkedHashSet<>();

    private final Set<AdminConnection> unreadPages = new LinkedHashSet<>();

    AdminConnections(Loop loop) {
        this.loop = loop;
        loop.schedule(this::sweep, SWEEP_INTERVAL_MS);
    }

    long nanoTime() {
        return loop.nanoTime();
    }

    /** A connection was accepted, or reached the end of a request's head or of a response. */
    void onProgress(AdminConnection connection) {
        connections.remove(connection);
        connections.add(connection);
        if (connections.size() > MAX_CONNECTIONS) {
            closeFirst(connections);
        }
    }

    /** A connection is about to send a page that is kept in memory until it is read. */
    void onPage(AdminConnection connection) {
        unreadPages.add(connection);
        if (unreadPages.size() > MAX_UNREAD_PAGES) {
            closeFirst(unreadPages);
        }
    }

    void onPageSent(AdminConnection connection) {
        unreadPages.remove(connection);
    }

    void remove(AdminConnection connection) {
        connections.remove(connection);
        unreadPages.remove(connection);
    }

    private static void closeFirst(Set<AdminConnection> set) {
        Iterator<AdminConnection> oldest = set.iterator();
        AdminConnection first = oldest.next();
        oldest.remove();
        first.close();
    }

    /** Also after a failure, such as a lack of memory, it is called again. */
    private void sweep() {
        try {
            closeLate();
        } finally {
            loop.schedule(this::sweep, SWEEP_INTERVAL_MS);
        }
    }

    private void closeLate() {
        long nowNanos = loop.nanoTime();
        List<AdminConnection> late = new ArrayList<>();
        for (AdminConnection connection : connections) {
            long limitNanos = connection.isBetweenRequests() ? MAX_IDLE_NANOS : MAX_REQUEST_NANOS;
            if (nowNanos - connection.progressNanos() >= limitNanos) {
                late.add(connection);
            }
        }
        late.forEach(AdminConnection::close);
    }
}
