package io.journalq.server.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/**
 * Free ports of loopback addresses. They are below the range from which systems take the ports of outgoing connections,
 * so that a port stays free while its broker is down. Each process has a block of its own, so that no other one takes a
 * port between this call and the start of the broker. Any thread.
 */
public final class LoopbackPorts {
    private static final int FIRST = 21_000;
    private static final int BLOCK_SIZE = 250;
    private static final int BLOCKS = 40;

    /** Listens on the first port of the block until the process ends, which keeps other processes from taking it. */
    private static ServerSocket block;

    private static int taken;

    private LoopbackPorts() {}

    /**
     * Returns a port that no process listens on. The ports of a process repeat after some hundred calls.
     *
     * @throws UncheckedIOException if there is none
     */
    public static synchronized int next() {
        if (block == null) {
            block = takeBlock();
        }
        int ports = BLOCK_SIZE - 1;
        for (int attempt = 0; attempt < ports; attempt++) {
            int port = block.getLocalPort() + 1 + taken++ % ports;
            try (ServerSocket free = listen(port)) {
                return free.getLocalPort();
            } catch (IOException inUse) {
                // The next one may be free.
            }
        }
        throw none();
    }

    private static ServerSocket takeBlock() {
        for (int number = 0; number < BLOCKS; number++) {
            try {
                return listen(FIRST + number * BLOCK_SIZE);
            } catch (IOException ofAnotherProcess) {
                // The next one may be free.
            }
        }
        throw none();
    }

    private static ServerSocket listen(int port) throws IOException {
        return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
    }

    private static UncheckedIOException none() {
        return new UncheckedIOException(
                new IOException("no free port between " + FIRST + " and " + (FIRST + BLOCKS * BLOCK_SIZE)));
    }
}
