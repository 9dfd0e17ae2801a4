package io.journalq.server.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Free ports of loopback addresses. They are below the range from which systems take the ports of outgoing connections,
 * so that a port stays free while its broker is down. Any thread.
 */
public final class LoopbackPorts {
    private static final int FIRST = 21_000;
    private static final int COUNT = 1_000;

    /** Processes that run at the same time begin at different ports. */
    private static final AtomicInteger NEXT =
            new AtomicInteger((int) (ProcessHandle.current().pid() * 50 % COUNT));

    private LoopbackPorts() {}

    /**
     * Returns a port that no process listens on.
     *
     * @throws UncheckedIOException if there is none
     */
    public static int next() {
        for (int attempt = 0; attempt < COUNT; attempt++) {
            int port = FIRST + NEXT.getAndIncrement() % COUNT;
            try (ServerSocket free = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return free.getLocalPort();
            } catch (IOException inUse) {
                // The next one may be free.
            }
        }
        throw new UncheckedIOException(new IOException("no free port between " + FIRST + " and " + (FIRST + COUNT)));
    }
}
