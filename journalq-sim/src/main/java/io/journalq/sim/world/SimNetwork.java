package io.journalq.sim.world;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * The network between machines and clients. Messages of one connection and direction arrive in order, each after a
 * random delay. Messages of different connections overtake each other. A link can be slow or cut, each direction on
 * its own. A cut holds messages back until it is healed, as retransmissions do, or until the connection is reset.
 */
public final class SimNetwork {
    /** The place of all clients. */
    public static final int CLIENTS = -1;

    private static final long LONGEST_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long RETRANSMISSION_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Scheduler scheduler;
    private final Random random;
    private final TreeMap<Link, Long> slowMs = new TreeMap<>();
    private final List<Link> cut = new ArrayList<>();
    private final List<Connection> open = new ArrayList<>();

    /** The way from one place to another. */
    private record Link(int from, int to) implements Comparable<Link> {
        @Override
        public int compareTo(Link other) {
            int byFrom = Integer.compare(from, other.from);
            return byFrom != 0 ? byFrom : Integer.compare(to, other.to);
        }
    }

    public SimNetwork(Scheduler scheduler, Random random) {
        this.scheduler = scheduler;
        this.random = random;
    }

    /** A message on its way. */
    private record Message(long earliestNanos, Runnable arrival) {}

    /** One direction of a connection. */
    private final class Direction {
        private final Link link;
        private final ArrayDeque<Message> messages = new ArrayDeque<>();
        private boolean waiting;

        Direction(Link link) {
            this.link = link;
        }

        void send(Connection connection, Runnable arrival) {
            messages.add(new Message(scheduler.nowNanos() + delayNanos(link), arrival));
            deliverLater(connection);
        }

        private void deliverLater(Connection connection) {
            if (!waiting && !messages.isEmpty()) {
                waiting = true;
                long delayNanos = Math.max(0, messages.peek().earliestNanos() - scheduler.nowNanos());
                scheduler.after(delayNanos, () -> deliver(connection));
            }
        }

        private void deliver(Connection connection) {
            waiting = false;
            if (!connection.isOpen() || messages.isEmpty()) {
                return;
            }
            if (isCut(link.from(), link.to())) {
                waiting = true;
                scheduler.after(RETRANSMISSION_NANOS, () -> deliver(connection));
                return;
            }
            if (this == connection.there && connection.server.isFrozen()) {
                waiting = true;
                scheduler.after(connection.server.frozenNanos(), () -> deliver(connection));
                return;
            }
            Message next = messages.poll();
            if (!connection.isServed()) {
                connection.reset();
                return;
            }
            next.arrival().run();
            deliverLater(connection);
        }
    }

    /** A connection from a client or a machine to the process of a machine. */
    public final class Connection {
        private final Direction there;
        private final Direction back;
        private final SimProcess server;
        private final Runnable onReset;
        private boolean closed;

        private Connection(int from, int to, SimProcess server, Runnable onReset) {
            this.there = new Direction(new Link(from, to));
            this.back = new Direction(new Link(to, from));
            this.server = server;
            this.onReset = onReset;
        }

        /** Sends a message. {@code arrival} runs when it arrives, unless the connection is reset before. */
        public void send(Runnable arrival) {
            if (!closed) {
                there.send(this, arrival);
            }
        }

        /** Sends a message in the other direction. */
        public void respond(Runnable arrival) {
            if (!closed) {
                back.send(this, arrival);
            }
        }

        public boolean isOpen() {
            return !closed;
        }

        private boolean isServed() {
            return !server.isStopped();
        }

        /** Closes the connection. Messages on their way are lost. */
        public void close() {
            closed = true;
            open.remove(this);
        }

        /** Closes the connection, and informs the side that has opened it. */
        void reset() {
            if (!closed) {
                close();
                scheduler.after(delayNanos(back.link), onReset);
            }
        }
    }

    /**
     * Opens a connection.
     *
     * @param from the machine that opens it, or {@link #CLIENTS}
     * @param server the process that accepts it
     * @param onReset called if the connection is lost, some time later
     */
    public Connection connect(int from, int to, SimProcess server, Runnable onReset) {
        Connection connection = new Connection(from, to, server, onReset);
        open.add(connection);
        return connection;
    }

    private long delayNanos(Link link) {
        long longest = LONGEST_DELAY_NANOS + TimeUnit.MILLISECONDS.toNanos(slowMs.getOrDefault(link, 0L));
        return (long) (random.nextDouble() * longest);
    }

    /** Lets nothing pass in one direction. */
    public void cut(int from, int to) {
        cut.add(new Link(from, to));
    }

    /** Makes one direction slow. */
    public void slow(int from, int to, long longestMs) {
        slowMs.put(new Link(from, to), longestMs);
    }

    /** Ends all cuts, and makes all links fast. */
    public void heal() {
        cut.clear();
        slowMs.clear();
    }

    /** Whether nothing passes in this direction. */
    public boolean isCut(int from, int to) {
        return cut.contains(new Link(from, to));
    }

    /** Whether messages pass in both directions. */
    public boolean isConnected(int one, int other) {
        return !isCut(one, other) && !isCut(other, one);
    }

    /** Resets each open connection with a probability of 1 / odds. */
    public void resetSome(int odds) {
        for (Connection connection : List.copyOf(open)) {
            if (random.nextInt(odds) == 0) {
                connection.reset();
            }
        }
    }

    /** Resets the connections to a process that has ended. */
    void resetAll(SimProcess server) {
        for (Connection connection : List.copyOf(open)) {
            if (connection.server == server) {
                connection.reset();
            }
        }
    }
}
