package io.journalq.chaos.cluster;

import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntToLongFunction;
import java.util.stream.Stream;

/**
 * TCP proxies in front of the listeners of all brokers. Brokers and clients know only the addresses of the proxies, so
 * all connections pass them. A link carries what one broker sends to another one, or to the clients, in all connections
 * between the two, whichever of them has opened a connection. It can be cut or slow. A cut link keeps what was sent: it
 * arrives when the link is healed, unless the connection was closed. Where a link is cut in any direction, nothing passes
 * through a new connection.
 *
 * <p>A proxy finds out which broker has opened a connection from the files of the process that holds the other end, on
 * Linux only. Any thread.
 */
public final class NetworkProxies implements AutoCloseable {
    /** The end of all connections that no broker has opened. */
    public static final int CLIENTS = 0;

    private static final int BACKLOG = 50;
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int CONNECT_TIMEOUT_MS = 5_000;
    private static final int STACK_BYTES = 128 << 10;

    /** The connections of this machine. Those of brokers are in the first one. */
    private static final List<Path> TABLES = List.of(Path.of("/proc/net/tcp6"), Path.of("/proc/net/tcp"));

    private volatile IntToLongFunction pidOf = broker -> 0;
    private final List<ServerSocket> proxies = new ArrayList<>();
    private final Map<Long, Link> links = new ConcurrentHashMap<>();
    private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
    private final Set<Integer> brokers = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** What passes from one end to another one. */
    private static final class Link {
        private boolean cut;
        private int delayMs;

        synchronized void set(boolean isCut, int delay) {
            cut = isCut;
            delayMs = delay;
            notifyAll();
        }

        synchronized void awaitHealed() throws InterruptedException {
            while (cut) {
                wait();
            }
        }

        /** Waits until bytes may pass. */
        void pass() throws InterruptedException {
            int delay;
            synchronized (this) {
                awaitHealed();
                delay = delayMs;
            }
            if (delay > 0) {
                Thread.sleep(delay);
                awaitHealed();
            }
        }
    }

    /** A connection through a proxy. */
    private record Connection(int from, int to, Socket accepted, Socket forwarded) {
        boolean touches(int broker) {
            return from == broker || to == broker;
        }

        /** Closes both ends; a peer gets a reset if bytes are on their way to it. */
        void reset() {
            for (Socket socket : List.of(accepted, forwarded)) {
                try {
                    socket.setSoLinger(true, 0);
                    socket.close();
                } catch (IOException alreadyClosed) {
                    // There is nothing left to close.
                }
            }
        }
    }

    /**
     * Says which process is which broker.
     *
     * @param processes id of the process of a broker; 0 while there is none
     */
    public void watch(IntToLongFunction processes) {
        pidOf = processes;
    }

    /** Opens a proxy for a port at which a broker will listen. Returns the port of the proxy. */
    public synchronized int open(int broker, int port) throws IOException {
        brokers.add(broker);
        ServerSocket proxy = new ServerSocket(LoopbackPorts.next(), BACKLOG, InetAddress.getLoopbackAddress());
        proxies.add(proxy);
        begin("proxy of broker " + broker, () -> accept(proxy, broker, () -> port));
        return proxy.getLocalPort();
    }

    /**
     * Opens a port that leads to another one, which may change, as with a host name that operators keep up to date. It is
     * for clients. Faults do not affect it.
     *
     * @param port the port now
     */
    synchronized int openName(CurrentPort port) throws IOException {
        ServerSocket proxy = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
        proxies.add(proxy);
        begin("name of a broker", () -> accept(proxy, CLIENTS, port));
        return proxy.getLocalPort();
    }

    /** The port to which a new connection leads. */
    interface CurrentPort {
        int get() throws IOException;
    }

    /** Cuts or slows down what one end sends to another one. Heals it with {@code false} and 0. */
    public void set(int from, int to, boolean cut, int delayMs) {
        link(from, to).set(cut, delayMs);
    }

    /** Heals all links. */
    void heal() {
        links.values().forEach(link -> link.set(false, 0));
    }

    /** Closes all connections of a broker. Returns how many there were. */
    int reset(int broker) {
        List<Connection> all =
                connections.stream().filter(each -> each.touches(broker)).toList();
        all.forEach(Connection::reset);
        return all.size();
    }

    private Link link(int from, int to) {
        return links.computeIfAbsent((long) from << Integer.SIZE | to, unused -> new Link());
    }

    private static void begin(String name, Work work) {
        Thread thread = new Thread(
                null,
                () -> {
                    try {
                        work.run();
                    } catch (InterruptedException | IOException ended) {
                        // The connection or the proxy is closed.
                    }
                },
                name,
                STACK_BYTES);
        thread.setDaemon(true);
        thread.start();
    }

    /** Work of one thread. */
    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    private void accept(ServerSocket proxy, int to, CurrentPort port) throws IOException {
        while (!closed) {
            Socket accepted = proxy.accept();
            begin("connection to broker " + to, () -> connect(accepted, to, port));
        }
    }

    private void connect(Socket accepted, int to, CurrentPort port) throws IOException, InterruptedException {
        Socket forwarded = new Socket();
        int from;
        try {
            forwarded.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port.get()), CONNECT_TIMEOUT_MS);
            accepted.setTcpNoDelay(true);
            forwarded.setTcpNoDelay(true);
            from = opener(accepted);
        } catch (IOException refused) {
            // This happens often while a broker is down, and to look for the opener takes milliseconds.
            new Connection(CLIENTS, to, accepted, forwarded).reset();
            return;
        }
        link(from, to).awaitHealed();
        link(to, from).awaitHealed();
        Connection connection = new Connection(from, to, accepted, forwarded);
        connections.add(connection);
        begin("from broker " + to, () -> pump(connection, forwarded, accepted, link(to, from)));
        pump(connection, accepted, forwarded, link(from, to));
    }

    private void pump(Connection connection, Socket in, Socket out, Link link) throws InterruptedException {
        byte[] buffer = new byte[BUFFER_BYTES];
        try {
            InputStream from = in.getInputStream();
            OutputStream to = out.getOutputStream();
            for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
                link.pass();
                to.write(buffer, 0, count);
            }
            link.pass();
            out.shutdownOutput();
            if (!in.isOutputShutdown()) {
                return;
            }
        } catch (IOException broken) {
            // The other direction ends, too.
        }
        connections.remove(connection);
        connection.reset();
    }

    /** The broker that has opened a connection; {@link #CLIENTS} if it is none. */
    private int opener(Socket accepted) throws IOException {
        String inode = inode(accepted);
        for (int broker : inode == null ? List.<Integer>of() : List.copyOf(brokers)) {
            long pid = pidOf.applyAsLong(broker);
            if (pid != 0 && holds(pid, "socket:[" + inode + "]")) {
                return broker;
            }
        }
        return CLIENTS;
    }

    /** The number by which the system knows the other end of a connection on this machine. */
    private static String inode(Socket accepted) throws IOException {
        String ends = String.format("%04X", accepted.getPort());
        String peer = String.format("%04X", accepted.getLocalPort());
        for (Path table : TABLES) {
            for (String line : Files.exists(table) ? Files.readAllLines(table) : List.<String>of()) {
                String[] fields = line.strip().split("\\s+", -1);
                if (fields.length > 9 && fields[1].endsWith(":" + ends) && fields[2].endsWith(":" + peer)) {
                    return fields[9];
                }
            }
        }
        return null;
    }

    private static boolean holds(long pid, String socket) {
        try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
            return files.anyMatch(file -> {
                try {
                    return Files.readSymbolicLink(file).toString().equals(socket);
                } catch (IOException closedMeanwhile) {
                    return false;
                }
            });
        } catch (IOException ended) {
            return false;
        }
    }

    @Override
    public synchronized void close() throws IOException {
        closed = true;
        heal();
        for (ServerSocket proxy : proxies) {
            proxy.close();
        }
        connections.forEach(Connection::reset);
    }
}
