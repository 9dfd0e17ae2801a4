package io.journalq.chaos.hostile;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Floods of valid requests that take memory of a broker, or leave state in it. Each flood is bounded in connections,
 * requests and time. The broker may refuse requests and close connections.
 */
public enum MemoryFlood {
    /** Metadata requests for topics that do not exist, which the broker creates. */
    NEW_TOPICS(4, 20) {
        @Override
        byte[] request(String name, int number) {
            return Requests.createByMetadata(IntStream.range(0, NAMES_IN_A_REQUEST)
                    .mapToObj(i -> name + "-" + number + "-" + i)
                    .toList());
        }
    },

    /** Members of new groups with 1 MB of metadata each, close to the limit for one member. */
    NEW_GROUPS(40, 13) {
        @Override
        byte[] request(String name, int number) {
            return Requests.joinGroup(name + "-" + number, MEMBER_BYTES);
        }
    },

    /**
     * One request of 60 MiB on each of eight connections at once. A heap of 256 MiB allows little more for one request.
     */
    LARGE_REQUESTS(8, 1) {
        @Override
        byte[] request(String name, int number) {
            return Requests.produceBytes(name, 60 << 20);
        }

        @Override
        boolean isSameForAll() {
            return true;
        }
    },

    /** Fetches of 10,000 partitions. Their responses are not read before all requests are sent. */
    WIDE_FETCHES(20, 20) {
        @Override
        byte[] request(String name, int number) {
            return Requests.fetchPartitions(name, 10_000);
        }

        @Override
        boolean isSameForAll() {
            return true;
        }
    };

    private static final int NAMES_IN_A_REQUEST = 25;
    private static final int MEMBER_BYTES = 1_000_000;
    private static final int PIECE_BYTES = 64 << 10;

    private final int connections;
    private final int requestsPerConnection;

    MemoryFlood(int connections, int requestsPerConnection) {
        this.connections = connections;
        this.requestsPerConnection = requestsPerConnection;
    }

    abstract byte[] request(String name, int number);

    /** Whether all requests are identical. */
    boolean isSameForAll() {
        return false;
    }

    /**
     * Floods a broker. Returns when everything is sent or {@code millis} have passed, with all connections closed.
     *
     * @param name prefix of the names of topics and groups
     */
    public void run(int port, String name, int millis) throws InterruptedException {
        byte[] same = isSameForAll() ? request(name, 0) : null;
        List<Socket> sockets = new ArrayList<>();
        CountDownLatch ended = new CountDownLatch(connections);
        try {
            for (int i = 0; i < connections; i++) {
                sockets.add(new Socket(InetAddress.getLoopbackAddress(), port));
            }
        } catch (IOException refused) {
            // The flood uses fewer connections.
        }
        for (int i = 0; i < sockets.size(); i++) {
            Socket socket = sockets.get(i);
            int first = i * requestsPerConnection;
            Thread thread = new Thread(
                    () -> {
                        try {
                            send(socket, first, name, same);
                        } catch (IOException closed) {
                            // The broker has closed the connection, or the time has passed.
                        } finally {
                            ended.countDown();
                        }
                    },
                    "memory-flood-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        for (int i = sockets.size(); i < connections; i++) {
            ended.countDown();
        }
        boolean unused = ended.await(millis, TimeUnit.MILLISECONDS);
        for (Socket socket : sockets) {
            try {
                socket.close();
            } catch (IOException closed) {
                // The connection is closed either way.
            }
        }
    }

    private void send(Socket socket, int first, String name, byte[] same) throws IOException {
        OutputStream out = socket.getOutputStream();
        for (int i = 0; i < requestsPerConnection; i++) {
            byte[] request = same != null ? same : request(name, first + i);
            for (int at = 0; at < request.length; at += PIECE_BYTES) {
                out.write(request, at, Math.min(PIECE_BYTES, request.length - at));
            }
        }
        DataInputStream in = new DataInputStream(socket.getInputStream());
        for (int i = 0; i < requestsPerConnection; i++) {
            in.skipNBytes(in.readInt());
        }
    }
}
