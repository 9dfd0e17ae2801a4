package io.journalq.dist;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker as its script starts it, with the memory that the script gives it, under clients that want more than that. */
@Tag("long")
class MemoryFloodTest {
    private static final int MAX_SECONDS = 120;
    private static final int SOCKET_TIMEOUT_MS = 60_000;
    private static final int CHECK_INTERVAL_MS = 50;
    private static final int BYTES_PER_MIB = 1024 * 1024;

    private static final int FLOODS = 8;
    private static final int FLOOD_REQUEST_BYTES = 77 * BYTES_PER_MIB;

    private static final int FETCHERS = 20;
    private static final int PARTITIONS = 10_000;
    private static final int FETCHES = 5;
    private static final int RECORD_BYTES = 4_000;

    private static final int MEMBERS = 40;
    private static final int MEMBER_METADATA_BYTES = 900_000;
    /** What pools and caches may hold afterwards. */
    private static final long MAX_KEPT_BYTES = 64L * BYTES_PER_MIB;

    private static final short NO_TRANSACTION = -1;
    private static final short ALL_REPLICAS = -1;
    private static final short PRODUCE = 0;
    private static final short FETCH = 1;
    private static final short JOIN_GROUP = 11;
    private static final short API_VERSIONS = 18;
    private static final short CREATE_TOPICS = 19;

    @TempDir
    private Path directory;

    private Process broker;
    private int port;
    private int adminPort;

    @BeforeEach
    void start() throws Exception {
        Path home;
        try (Stream<Path> built = Files.list(Path.of("target").toAbsolutePath())) {
            home = built.filter(path -> Files.isRegularFile(path.resolve("bin/journalq-server")))
                    .findFirst()
                    .orElseThrow();
        }
        List<String> command =
                new ArrayList<>(List.of(home.resolve("bin/journalq-server").toString(), "start", "--foreground"));
        for (String setting : List.of(
                "listeners=PLAINTEXT://127.0.0.1:0",
                "admin.listener=127.0.0.1:0",
                "gateway.listener=",
                "group.initial.rebalance.delay.ms=5000",
                "data.directories=" + directory.resolve("data"))) {
            command.addAll(List.of("--set", setting));
        }
        broker = ScriptRun.prepare(directory, Map.of("JAVA_HOME", System.getProperty("java.home")), command)
                .redirectErrorStream(true)
                .redirectOutput(log().toFile())
                .start();
        List<String> status = List.of(
                home.resolve("bin/journalq-server").toString(),
                "status",
                "--output",
                "json",
                "--set",
                "data.directories=" + directory.resolve("data"));
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
        ScriptRun run = ScriptRun.of(directory, Map.of(), status);
        while (run.exitCode() != 0) {
            assertThat(System.nanoTime()).as(Files.readString(log())).isLessThan(deadlineNanos);
            Thread.sleep(CHECK_INTERVAL_MS);
            run = ScriptRun.of(directory, Map.of(), status);
        }
        port = port(run, "address");
        adminPort = port(run, "adminAddress");
    }

    @AfterEach
    void stop() throws InterruptedException {
        broker.destroy();
        if (!broker.waitFor(MAX_SECONDS, TimeUnit.SECONDS)) {
            broker.destroyForcibly();
        }
    }

    @Test
    void shouldServeEveryClientAndReleaseMemoryWhenRequestsAndResponsesExceedTheBudget() throws Exception {
        // given
        long beforeBytes = directBytes();
        createTopic("many", PARTITIONS);
        fillTopic("many", PARTITIONS);
        AtomicBoolean flooding = new AtomicBoolean(true);
        AtomicInteger healthyResponses = new AtomicInteger();
        ExecutorService clients = Executors.newCachedThreadPool();
        try {
            Future<?> healthy = clients.submit(() -> {
                try (Client client = new Client()) {
                    while (flooding.get()) {
                        client.send(API_VERSIONS, 0, ByteBuffer.allocate(0));
                        client.receive();
                        client.send(PRODUCE, 3, produce(1_000));
                        client.receive();
                        healthyResponses.incrementAndGet();
                    }
                }
                return null;
            });

            // when large requests come at once
            all(clients, FLOODS, number -> {
                try (Client client = new Client()) {
                    client.send(PRODUCE, 3, produce(FLOOD_REQUEST_BYTES));
                    client.receive();
                }
            });
            // when many ask for many partitions, again and again, before they read
            all(clients, FETCHERS, number -> {
                try (Client client = new Client()) {
                    for (int i = 0; i < FETCHES; i++) {
                        client.send(FETCH, 7, fetchAll());
                    }
                    for (int i = 0; i < FETCHES; i++) {
                        client.receive();
                    }
                }
            });
            // when groups have members whose leaders are told what all said of themselves
            all(clients, MEMBERS, number -> {
                try (Client client = new Client()) {
                    client.send(JOIN_GROUP, 1, join("group-" + number % 4));
                    client.receive();
                }
            });

            // then nobody was disconnected, the healthy client least of all
            flooding.set(false);
            healthy.get(MAX_SECONDS, TimeUnit.SECONDS);
            assertThat(healthyResponses).hasPositiveValue();
        } finally {
            clients.shutdownNow();
        }
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
        while (directBytes() > beforeBytes + MAX_KEPT_BYTES) {
            assertThat(System.nanoTime()).as("memory is given back").isLessThan(deadlineNanos);
            Thread.sleep(CHECK_INTERVAL_MS);
        }
        assertThat(Files.readString(log()))
                .doesNotContain("Cannot reserve")
                .doesNotContain("level=ERROR")
                .doesNotContain("\tat ");
    }

    @Test
    void shouldServeOthersWhenClientsNeverSendTheRestOfLargeRequests() throws Exception {
        List<Client> stalling = new ArrayList<>();
        try {
            for (int i = 0; i < FLOODS; i++) {
                Client client = new Client();
                stalling.add(client);
                client.out.writeInt(FLOOD_REQUEST_BYTES);
                client.out.write(new byte[2 * BYTES_PER_MIB]);
            }
            try (Client client = new Client()) {
                client.send(PRODUCE, 3, produce(FLOOD_REQUEST_BYTES));
                client.receive();
            }
        } finally {
            for (Client client : stalling) {
                client.close();
            }
        }
        assertThat(Files.readString(log())).contains("it holds memory that others wait for");
    }

    private interface Work {
        void run(int number) throws IOException;
    }

    private static void all(ExecutorService clients, int count, Work work) throws Exception {
        List<Future<Void>> done = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int number = i;
            Callable<Void> one = () -> {
                work.run(number);
                return null;
            };
            done.add(clients.submit(one));
        }
        for (Future<Void> one : done) {
            one.get(MAX_SECONDS, TimeUnit.SECONDS);
        }
    }

    private Path log() {
        return directory.resolve("broker.log");
    }

    private static int port(ScriptRun status, String field) {
        Matcher matcher =
                Pattern.compile("\"" + field + "\" : \"[^\"]*:(\\d+)\"").matcher(status.out());
        assertThat(matcher.find()).as(status.out()).isTrue();
        return Integer.parseInt(matcher.group(1));
    }

    private long directBytes() throws IOException, InterruptedException {
        String page = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort + "/metrics"))
                                .build(),
                        BodyHandlers.ofString())
                .body();
        Matcher matcher = Pattern.compile("journalq_buffers_direct_bytes\\{allocator=\"pooled\"} (\\S+)")
                .matcher(page);
        assertThat(matcher.find()).isTrue();
        return (long) Double.parseDouble(matcher.group(1));
    }

    private void createTopic(String name, int partitions) throws IOException {
        ByteBuffer body = ByteBuffer.allocate(100).putInt(1);
        text(body, name).putInt(partitions).putShort((short) 1).putInt(0).putInt(0);
        body.putInt(SOCKET_TIMEOUT_MS).put((byte) 0);
        try (Client client = new Client()) {
            client.send(CREATE_TOPICS, 2, body.flip());
            client.receive();
        }
    }

    /** Puts a record into every partition, so that a fetch of all has as much to copy as the topic holds. */
    private void fillTopic(String name, int partitions) throws IOException {
        ByteBuf built;
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(System.currentTimeMillis(), (byte[]) null, new byte[RECORD_BYTES], List.of());
            built = builder.build();
        }
        byte[] batch = ByteBufUtil.getBytes(built);
        built.release();
        ByteBuffer body = ByteBuffer.allocate(100 + partitions * (8 + batch.length));
        body.putShort(NO_TRANSACTION)
                .putShort(ALL_REPLICAS)
                .putInt(SOCKET_TIMEOUT_MS)
                .putInt(1);
        text(body, name).putInt(partitions);
        for (int partition = 0; partition < partitions; partition++) {
            body.putInt(partition).putInt(batch.length).put(batch);
        }
        try (Client client = new Client()) {
            client.send(PRODUCE, 3, body.flip());
            client.receive();
        }
    }

    /** To a topic that there is not: the memory is needed all the same. */
    private static ByteBuffer produce(int recordBytes) {
        ByteBuffer body = ByteBuffer.allocate(recordBytes + 100);
        body.putShort(NO_TRANSACTION)
                .putShort(ALL_REPLICAS)
                .putInt(SOCKET_TIMEOUT_MS)
                .putInt(1);
        text(body, "absent").putInt(1).putInt(0).putInt(recordBytes);
        return body.position(body.position() + recordBytes).flip();
    }

    private static ByteBuffer fetchAll() {
        ByteBuffer body = ByteBuffer.allocate(100 + 40 * PARTITIONS);
        body.putInt(-1).putInt(0).putInt(0).putInt(55 * BYTES_PER_MIB).put((byte) 0);
        body.putInt(0).putInt(-1).putInt(1);
        text(body, "many").putInt(PARTITIONS);
        for (int partition = 0; partition < PARTITIONS; partition++) {
            body.putInt(partition).putLong(0).putLong(-1).putInt(BYTES_PER_MIB);
        }
        return body.putInt(0).flip();
    }

    private static ByteBuffer join(String group) {
        ByteBuffer body = ByteBuffer.allocate(MEMBER_METADATA_BYTES + 200);
        text(body, group).putInt(30_000).putInt(60_000);
        text(body, "");
        text(body, "consumer").putInt(1);
        text(body, "range").putInt(MEMBER_METADATA_BYTES);
        return body.position(body.position() + MEMBER_METADATA_BYTES).flip();
    }

    private static ByteBuffer text(ByteBuffer to, String text) {
        byte[] bytes = text.getBytes(UTF_8);
        return to.putShort((short) bytes.length).put(bytes);
    }

    /** One plain socket. */
    private final class Client implements AutoCloseable {
        final Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        final DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        final DataInputStream in = new DataInputStream(socket.getInputStream());

        Client() throws IOException {
            socket.setSoTimeout(SOCKET_TIMEOUT_MS);
        }

        void send(short api, int version, ByteBuffer body) throws IOException {
            ByteBuffer head = ByteBuffer.allocate(15);
            head.putInt(11 + body.remaining())
                    .putShort(api)
                    .putShort((short) version)
                    .putInt(1);
            text(head, "x");
            out.write(head.array());
            Channels.newChannel(out).write(body);
        }

        void receive() throws IOException {
            int sizeBytes = in.readInt();
            if (in.readNBytes(sizeBytes).length != sizeBytes) {
                throw new EOFException("the response was cut short");
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
