package io.journalq.chaos.hostile;

import io.journalq.common.record.CompressionCodec;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.CRC32C;

/**
 * Kinds of hostile load, and one to compare them with. Each runs until its process ends. Connections that the broker
 * closes are opened again.
 */
public enum HostileLoad {
    /**
     * A program that computes all the time and sends nothing to the broker. It shows the effect of scheduling on a
     * client, which each load adds that keeps a processor busy.
     */
    BUSY_PROCESSOR(1, "hashes") {
        @Override
        void run(int port, int threads) {
            inThreads(threads, () -> {
                CRC32C hash = new CRC32C();
                byte[] bytes = new byte[HASHED_BYTES];
                while (true) {
                    hash.update(bytes);
                    DONE.increment();
                }
            });
        }
    },

    /** Connections that never send a byte. */
    IDLE(10_000, "connections") {
        @Override
        void run(int port, int connections) throws IOException {
            List<Socket> held = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                held.add(connect(port));
            }
            DONE.add(held.size());
            sleepForever();
        }
    },

    /** Connections that announce a request of the largest size, send its beginning, and nothing more. */
    HALF_OPEN(1_000, "connections") {
        @Override
        void run(int port, int connections) throws IOException {
            byte[] beginning = ByteBuffer.allocate(1_024).putInt(0, 100 << 20).array();
            List<Socket> held = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                Socket socket = connect(port);
                socket.getOutputStream().write(beginning);
                held.add(socket);
            }
            DONE.add(held.size());
            sleepForever();
        }
    },

    /** Connections that are opened and closed without a pause. */
    FLOOD(4, "connections") {
        @Override
        void run(int port, int threads) throws IOException {
            inThreads(threads, () -> {
                while (true) {
                    try (Socket socket = connect(port)) {
                        // Closes with a reset, so that no port stays in TIME_WAIT.
                        socket.setSoLinger(true, 0);
                    }
                    DONE.increment();
                }
            });
        }
    },

    /** Requests that do not wait for the responses. The responses are read. */
    PIPELINING(20, "responses") {
        @Override
        void run(int port, int connections) throws IOException {
            byte[] requests = repeated(Requests.metadata(), 100);
            inThreads(connections, () -> pump(port, requests, 100, true));
        }
    },

    /** Produce requests that are sent byte by byte. */
    SLOW_SENDERS(500, "bytes") {
        @Override
        void run(int port, int connections) throws IOException {
            byte[] request = Requests.produce(Requests.HOSTILE_TOPIC, CompressionCodec.NONE, 1_000);
            List<Socket> sockets = new ArrayList<>();
            for (int i = 0; i < connections; i++) {
                sockets.add(connect(port));
            }
            for (int at = 0; ; at = (at + 1) % request.length) {
                for (Socket socket : sockets) {
                    socket.getOutputStream().write(request[at]);
                    DONE.increment();
                }
                pause(SLOW_PAUSE_MS);
            }
        }
    },

    /** Fetches of old records whose responses are never read. */
    NEVER_READING(50, "requests") {
        @Override
        void run(int port, int connections) throws IOException {
            byte[] requests = repeated(Requests.fetchFromTheBeginning(Requests.HOSTILE_TOPIC), 20);
            inThreads(connections, () -> pump(port, requests, 20, false));
        }
    },

    /** Small batches that decompress to nearly the largest size that the broker allows. */
    LARGE_DECOMPRESSED(4, "responses") {
        @Override
        void run(int port, int connections) throws IOException {
            byte[] request = Requests.produce(Requests.HOSTILE_TOPIC, CompressionCodec.ZSTD, 30 << 20);
            inThreads(connections, () -> pump(port, request, 1, true));
        }
    },

    /** Small batches that decompress to more than the broker allows. */
    BOMBS(4, "responses") {
        @Override
        void run(int port, int connections) throws IOException {
            byte[] request = Requests.produce(Requests.HOSTILE_TOPIC, CompressionCodec.ZSTD, 100 << 20);
            inThreads(connections, () -> pump(port, request, 1, true));
        }
    },

    /** Connections to an encrypted listener that are opened and closed without a pause. */
    TLS_FLOOD(4, "connections") {
        @Override
        void run(int port, int threads) throws IOException {
            FLOOD.run(port, threads);
        }

        @Override
        public HostileTarget target() {
            return HostileTarget.SASL_SSL;
        }
    },

    /** Half handshakes of TLS from many addresses, on more connections than the broker keeps without a login. */
    HALF_HANDSHAKES(1_500, "connections") {
        @Override
        void run(int port, int connections) {
            inThreads(1, () -> {
                ArrayDeque<Socket> held = new ArrayDeque<>();
                while (true) {
                    Socket socket = connectFromAnyAddress(port);
                    socket.getOutputStream().write(CLIENT_HELLO, 0, CLIENT_HELLO.length / 2);
                    held.add(socket);
                    DONE.increment();
                    if (held.size() > connections) {
                        held.remove().close();
                        pause(HALF_HANDSHAKE_PAUSE_MS);
                    }
                }
            });
        }

        @Override
        public HostileTarget target() {
            return HostileTarget.SASL_SSL;
        }
    },

    /** Complete handshakes from many addresses, without a login. */
    TLS_HANDSHAKES(4, "handshakes") {
        @Override
        void run(int port, int threads) {
            inThreads(threads, () -> {
                while (true) {
                    TlsSockets.encrypt(connectFromAnyAddress(port)).close();
                    DONE.increment();
                }
            });
        }

        @Override
        public HostileTarget target() {
            return HostileTarget.SASL_SSL;
        }
    },

    /** Messages of a login in disorder that do not wait for the responses, from many addresses. */
    PIPELINED_SASL(20, "responses") {
        @Override
        void run(int port, int connections) {
            byte[] requests = repeated(Requests.disorderedLogin(), 50);
            inThreads(connections, () -> {
                Socket socket = connectFromAnyAddress(port);
                // The broker stops reading. What is written after that stays here, and would only take processor time.
                socket.setSendBufferSize(SMALL_BUFFER_BYTES);
                pump(socket, requests, 50, true);
            });
        }

        @Override
        public HostileTarget target() {
            return HostileTarget.SASL_PLAINTEXT;
        }
    },

    /** Logins by SCRAM with a wrong password, from many addresses. */
    GUESSES(20, "guesses") {
        @Override
        void run(int port, int connections) {
            inThreads(connections, () -> {
                try (Socket socket = connectFromAnyAddress(port)) {
                    Requests.guess(socket.getOutputStream(), new DataInputStream(socket.getInputStream()));
                    DONE.increment();
                }
            });
        }

        @Override
        public HostileTarget target() {
            return HostileTarget.SASL_PLAINTEXT;
        }
    },

    /** Requests of the Kafka protocol to an encrypted listener. */
    PLAIN_BYTES_TO_TLS(20, "connections") {
        @Override
        void run(int port, int connections) {
            byte[] requests = repeated(Requests.metadata(), 100);
            inThreads(connections, () -> sendOnce(port, requests));
        }

        @Override
        public HostileTarget target() {
            return HostileTarget.SASL_SSL;
        }
    },

    /** The beginning of TLS to a listener that is not encrypted. */
    TLS_TO_PLAIN_BYTES(20, "connections") {
        @Override
        void run(int port, int connections) {
            inThreads(connections, () -> sendOnce(port, CLIENT_HELLO));
        }

        @Override
        public HostileTarget target() {
            return HostileTarget.SASL_PLAINTEXT;
        }
    },

    /** Batches as fast as the socket takes them, to a topic that fsyncs each batch before the acknowledgement. */
    FASTER_THAN_THE_DISK(8, "responses") {
        @Override
        void run(int port, int connections) throws IOException {
            byte[] request = Requests.produce(Requests.HOSTILE_TOPIC, CompressionCodec.NONE, 900 << 10);
            inThreads(connections, () -> pump(port, request, 1, true));
        }
    };

    /** Line that the process prints when the load has done as much as it has connections or threads. */
    static final String READY = "ready";

    /** Prefix of the lines with which the process reports its count. */
    static final String DID = "did ";

    /** A record of TLS whose handshake message is longer than the record. */
    private static final byte[] CLIENT_HELLO = clientHello();

    private static final int HALF_HANDSHAKE_PAUSE_MS = 5;
    private static final int LOOPBACK_ADDRESSES = 200;
    private static final int HASHED_BYTES = 1 << 20;
    private static final int SLOW_PAUSE_MS = 50;
    private static final int REPORT_MS = 100;
    private static final int READ_BUFFER_BYTES = 64 << 10;
    private static final int SMALL_BUFFER_BYTES = 16 << 10;
    private static final LongAdder DONE = new LongAdder();

    private final int usualCount;
    private final String unit;

    HostileLoad(int usualCount, String unit) {
        this.usualCount = usualCount;
        this.unit = unit;
    }

    /** What the process counts. */
    public String unit() {
        return unit;
    }

    /** The usual number of connections, or of threads if the connections are short. */
    public int usualCount() {
        return usualCount;
    }

    /** Which listener of the broker the load attacks. */
    public HostileTarget target() {
        return HostileTarget.PLAINTEXT;
    }

    /** Runs the load. Returns only with an exception. */
    abstract void run(int port, int count) throws IOException;

    private interface Work {
        void run() throws IOException;
    }

    private static void inThreads(int count, Work work) {
        for (int i = 0; i < count; i++) {
            new Thread(() -> repeat(work)).start();
        }
        sleepForever();
    }

    private static void repeat(Work work) {
        while (true) {
            try {
                work.run();
            } catch (IOException closed) {
                pause(20);
            }
        }
    }

    private static void pump(int port, byte[] requests, int count, boolean reads) throws IOException {
        pump(connect(port), requests, count, reads);
    }

    private static void pump(Socket connected, byte[] requests, int count, boolean reads) throws IOException {
        try (Socket socket = connected) {
            if (reads) {
                Thread reader = new Thread(() -> drain(socket));
                reader.setDaemon(true);
                reader.start();
            }
            while (true) {
                socket.getOutputStream().write(requests);
                if (!reads) {
                    DONE.add(count);
                }
            }
        }
    }

    private static void drain(Socket socket) {
        try {
            DataInputStream in =
                    new DataInputStream(new BufferedInputStream(socket.getInputStream(), READ_BUFFER_BYTES));
            while (true) {
                in.skipNBytes(in.readInt());
                DONE.increment();
            }
        } catch (IOException closed) {
            // The sender fails as well.
        }
    }

    private static Socket connect(int port) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    /** Another loopback address each time, so that limits for each address do not stop the load. */
    private static Socket connectFromAnyAddress(int port) throws IOException {
        int number = 2 + ThreadLocalRandom.current().nextInt(LOOPBACK_ADDRESSES);
        InetAddress from = InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) number});
        return new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port, from, 0);
    }

    /** Sends bytes, and waits until the broker closes the connection. */
    private static void sendOnce(int port, byte[] bytes) throws IOException {
        try (Socket socket = connectFromAnyAddress(port)) {
            socket.getOutputStream().write(bytes);
            DONE.increment();
            socket.getInputStream().readAllBytes();
        }
    }

    private static byte[] clientHello() {
        byte[] hello = new byte[200];
        byte[] beginning = {0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3};
        System.arraycopy(beginning, 0, hello, 0, beginning.length);
        return hello;
    }

    private static byte[] repeated(byte[] request, int count) {
        ByteBuffer all = ByteBuffer.allocate(request.length * count);
        for (int i = 0; i < count; i++) {
            all.put(request);
        }
        return all.array();
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private static void sleepForever() {
        while (true) {
            pause(60_000);
        }
    }

    private static void report(int count) {
        boolean ready = false;
        while (true) {
            long done = DONE.sum();
            System.out.println(DID + done);
            if (!ready && done >= count) {
                ready = true;
                System.out.println(READY);
            }
            pause(REPORT_MS);
        }
    }

    /** Runs one load until the process is killed. Arguments: {@code NAME PORT COUNT}. */
    public static void main(String[] arguments) throws IOException {
        // Before there are threads: what they log while logging is set up would be printed.
        System.getLogger(HostileLoad.class.getName());
        int count = Integer.parseInt(arguments[2]);
        Thread reporter = new Thread(() -> report(count));
        reporter.setDaemon(true);
        reporter.start();
        HostileLoad.valueOf(arguments[0]).run(Integer.parseInt(arguments[1]), count);
    }
}
