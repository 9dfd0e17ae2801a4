package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.BYTES;
import static io.journalq.server.broker.GatewayClient.NDJSON;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.server.api.Handler;
import io.journalq.server.api.RequestContext;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Records as server-sent events, read by Java's client and by stuck sockets. */
@Timeout(120)
class GatewayEventsTest {
    private static final Pattern RECORD =
            Pattern.compile("\\{\"partition\":(\\d+),\"offset\":(\\d+),.*\"value\":\"(.*)\"}");
    private static final int SMALL_BUFFER_BYTES = 16 * 1024;
    private static final int LOOPS = 2;
    private static final int MANY_STREAMS = 64;

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;
    private static int topics;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("admin.listener", "127.0.0.1:0")
                .with("shards", String.valueOf(LOOPS))
                .start();
        gateway = new GatewayClient(broker.gatewayPort());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String topic(int partitions) throws Exception {
        topics++;
        broker.createTopic("e" + topics, partitions, Map.of());
        return "e" + topics;
    }

    private static String events(String topic) {
        return "/v1/topics/" + topic + "/events";
    }

    private static String records(String topic) {
        return "/v1/topics/" + topic + "/records";
    }

    private static void append(String topic, int partition, String value) throws Exception {
        assertThat(gateway.post(records(topic), BYTES, value, "JQ-Partition", String.valueOf(partition))
                        .statusCode())
                .isEqualTo(200);
    }

    private static void deleteBefore(String topic, long offset) throws Exception {
        try (Admin admin = broker.admin()) {
            admin.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(offset)))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldSayWhichRecordCannotBeReadWhenItsHeadersAreDamaged() throws Exception {
        String topic = topic(1);
        append(topic, 0, "sound");
        append(topic, 0, "damaged record");
        damageBehind("damaged record");

        try (EventReader reader = EventReader.open(gateway, events(topic) + "?from=start", null)) {
            assertThat(reader.next().id()).isEqualTo("0:0");
            assertThat(reader.next().data()).contains("\"value\":\"sound\"");
            // then a reader that connects again does not pass it
            EventReader.Event problem = reader.next();
            assertThat(problem.name()).isEqualTo("problem");
            assertThat(problem.id()).isEqualTo("0:1");
            assertThat(problem.data()).contains("at offset 1");
        }
    }

    /** Changes the number of headers of an uncompressed record, which is behind its value. */
    private static void damageBehind(String value) throws Exception {
        try (Stream<Path> directories = Files.list(directory)) {
            for (Path log : directories
                    .map(each -> each.resolve("0".repeat(20) + ".log"))
                    .filter(Files::exists)
                    .toList()) {
                try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
                    byte[] begin = new byte[(int) Math.min(file.length(), 64 * 1024)];
                    file.readFully(begin);
                    int at = new String(begin, ISO_8859_1).indexOf(value);
                    if (at >= 0) {
                        file.seek(at + value.length());
                        file.write(0x55);
                        return;
                    }
                }
            }
        }
        throw new AssertionError("no journal has the record");
    }

    @Test
    void shouldSendWhatIsAppendedWhenAReaderFollowsTheTopic() throws Exception {
        String topic = topic(2);
        append(topic, 0, "old");

        try (EventReader reader = EventReader.open(gateway, events(topic), null)) {
            assertThat(reader.response().headers().firstValue("Content-Type")).contains("text/event-stream");
            assertThat(reader.next()).isEqualTo(new EventReader.Event(null, "0:1,1:0", null));
            append(topic, 1, "first");
            EventReader.Event first = reader.next();
            append(topic, 0, "second");
            EventReader.Event second = reader.next();

            assertThat(first.id()).isEqualTo("0:1,1:1");
            assertThat(first.name()).isNull();
            assertThat(first.data()).contains("\"partition\":1,\"offset\":0,").contains("\"value\":\"first\"");
            assertThat(second.id()).isEqualTo("0:2,1:1");
            assertThat(second.data()).contains("\"partition\":0,\"offset\":1,").contains("\"value\":\"second\"");
        }
        broker.await(() -> metric("journalq_gateway_streams ").startsWith("0"));
    }

    @Test
    void shouldEndTheStreamOfACompressedRequestWhenTheBrokerStops(@TempDir Path other) throws Exception {
        TestBroker stopping = new TestBroker(other)
                .with("gateway.listener", "127.0.0.1:0")
                .with("shutdown.timeout.ms", "30000")
                .start();
        stopping.createTopic("t", 1, Map.of());
        ByteArrayOutputStream nothing = new ByteArrayOutputStream();
        new GZIPOutputStream(nothing).close();
        try (Socket socket = new GatewayClient(stopping.gatewayPort()).connect()) {
            socket.getOutputStream()
                    .write(("GET /v1/topics/t/events HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\n"
                                    + "Content-Length: " + nothing.size() + "\r\n\r\n")
                            .getBytes(ISO_8859_1));
            nothing.writeTo(socket.getOutputStream());
            assertThat(GatewayClient.readHead(socket)).startsWith("HTTP/1.1 200 ");

            long begunNanos = System.nanoTime();
            stopping.close();

            assertThat(System.nanoTime() - begunNanos).isLessThan(TimeUnit.SECONDS.toNanos(20));
        }
    }

    @Test
    void shouldEndAStreamWhosePositionIsNotKnownYetWhenTheBrokerStops(@TempDir Path other) throws Exception {
        TestBroker stopping = new TestBroker(other)
                .with("gateway.listener", "127.0.0.1:0")
                .with("shutdown.timeout.ms", "30000")
                .start();
        stopping.createTopic("t", 1, Map.of());
        AtomicInteger lookups = new AtomicInteger();
        stopping.handlers().replace(ApiKey.LIST_OFFSETS, before -> new ChangingLeader(before.api(), lookups));
        try (Socket socket = new GatewayClient(stopping.gatewayPort()).connect()) {
            socket.getOutputStream()
                    .write("GET /v1/topics/t/events HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(ISO_8859_1));
            stopping.await(() -> lookups.get() > 0);

            long begunNanos = System.nanoTime();
            stopping.close();

            assertThat(System.nanoTime() - begunNanos).isLessThan(TimeUnit.SECONDS.toNanos(10));
            assertThat(GatewayClient.readAll(socket))
                    .startsWith("HTTP/1.1 200 ")
                    .contains("retry: 1000")
                    .doesNotContain("id: ");
        }
    }

    /** The partition has no leader yet. */
    private record ChangingLeader(ServedApi api, AtomicInteger lookups) implements Handler<ListOffsetsRequest> {
        @Override
        public void handle(RequestContext context, ListOffsetsRequest request) {
            lookups.incrementAndGet();
            context.respond(new ListOffsetsResponse()
                    .setTopics(List.of(new ListOffsetsResponse.ListOffsetsTopicResponse()
                            .setName("t")
                            .setPartitions(List.of(new ListOffsetsResponse.ListOffsetsPartitionResponse()
                                    .setErrorCode(ErrorCode.LEADER_NOT_AVAILABLE.code()))))));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'', '', later",
        "?from=start, '', 0",
        "?from=end, '', later",
        "?partition=0&offset=3, '', 3",
        "?time=1004, '', 4",
        "?cursor=0:5, '', 5",
        "'?cursor=0:5,only', '', 5",
        "'', 0:6, 6",
        "?from=start, 0:7, 7"
    })
    void shouldBeginWhereTheRequestSaysWhenItNamesAPosition(String parameters, String lastEventId, String first)
            throws Exception {
        String topic = topic(1);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            for (int i = 0; i < 10; i++) {
                var unused = producer.send(new ProducerRecord<>(
                        topic, 0, 1_000L + i, null, String.valueOf(i).getBytes(UTF_8)));
            }
        }

        try (EventReader reader = EventReader.open(gateway, events(topic) + parameters, lastEventId)) {
            reader.next();
            append(topic, 0, "later");
            assertThat(reader.next().data()).endsWith("\"value\":\"" + first + "\"}");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "lz4", "zstd"})
    void shouldLoseAndRepeatNothingWhenAReaderReconnectsAtAnyEvent(String codec) throws Exception {
        // given a producer of three partitions that does not wait for the reader
        String topic = topic(3);
        int count = 9_000;
        CompletableFuture<Void> produced = CompletableFuture.runAsync(() -> {
            try (KafkaProducer<byte[], byte[]> producer =
                    broker.producer(Map.of("compression.type", codec, "linger.ms", "2"))) {
                for (int i = 0; i < count; i++) {
                    var unused = producer.send(new ProducerRecord<>(
                            topic, i % 3, null, String.valueOf(i).getBytes(UTF_8)));
                    if (i % 500 == 0) {
                        Thread.sleep(5);
                    }
                }
            } catch (InterruptedException interrupted) {
                throw new AssertionError(interrupted);
            }
        });

        // when the reader leaves after random events, and comes back with the id of the last one
        Random random = new Random(7);
        List<List<String>> values = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        String id = "0:0,1:0,2:0";
        int read = 0;
        int connections = 0;
        while (read < count) {
            connections++;
            try (EventReader reader = EventReader.open(gateway, events(topic), id)) {
                int stop = Math.min(count, read + 1 + random.nextInt(600));
                while (read < stop) {
                    EventReader.Event event = reader.next();
                    id = event.id();
                    if (event.data() != null) {
                        Matcher record = RECORD.matcher(event.data());
                        assertThat(record.matches()).as(event.data()).isTrue();
                        values.get(Integer.parseInt(record.group(1))).add(record.group(3));
                        read++;
                    }
                }
            }
        }

        // then every record was read once, in the order of its partition
        produced.get(20, TimeUnit.SECONDS);
        assertThat(connections).isGreaterThan(10);
        for (int partition = 0; partition < 3; partition++) {
            List<String> expected = new ArrayList<>();
            for (int i = partition; i < count; i += 3) {
                expected.add(String.valueOf(i));
            }
            assertThat(values.get(partition)).isEqualTo(expected);
        }
    }

    @Test
    void shouldReportAGapWhenRetentionHasOvertakenTheReader() throws Exception {
        String topic = topic(1);
        gateway.post(records(topic), NDJSON, "{\"value\":\"x\"}\n".repeat(10));
        deleteBefore(topic, 6);

        try (EventReader reader = EventReader.open(gateway, events(topic), "0:2")) {
            reader.next();
            assertThat(reader.next())
                    .isEqualTo(new EventReader.Event("gap", "0:6", "{\"partition\":0,\"from\":2,\"to\":6}"));
            assertThat(reader.next().id()).isEqualTo("0:7");
        }
        assertThat(gateway.get(events(topic) + "?partition=0&offset=2").statusCode())
                .isEqualTo(416);
    }

    @ParameterizedTest
    @CsvSource({
        "0:11, 416, offset-out-of-range",
        "nonsense, 400, invalid-parameter",
        "'0:1,0:2', 400, invalid-parameter",
        "1:0, 404, unknown-partition"
    })
    void shouldRefuseAPositionThatTheTopicDoesNotHaveWhenAReaderComesBack(String id, int status, String problem)
            throws Exception {
        String topic = topic(1);
        gateway.post(records(topic), NDJSON, "{\"value\":\"x\"}\n".repeat(10));

        HttpResponse<String> response =
                gateway.send(gateway.request(events(topic)).header("Last-Event-ID", id));

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.body()).contains(problem);
    }

    @Test
    void shouldSendOnlyCommittedRecordsAndMovePastTheRestWhenTransactionsEnd() throws Exception {
        String topic = topic(1);
        try (EventReader reader = EventReader.open(gateway, events(topic), null);
                KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", topic))) {
            producer.initTransactions();
            for (String value : List.of("kept-1", "aborted", "kept-2")) {
                producer.beginTransaction();
                var unused = producer.send(new ProducerRecord<>(topic, value.getBytes(UTF_8)));
                if (value.equals("aborted")) {
                    producer.flush();
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }

            assertThat(reader.nextRecord().data()).contains("kept-1");
            EventReader.Event last = reader.nextRecord();
            assertThat(last.data()).contains("kept-2");
            assertThat(last.id()).isEqualTo("0:5");
        }
    }

    @Test
    void shouldSendTheRecordsOfNewPartitionsWhenTheTopicGrows() throws Exception {
        String topic = topic(1);
        String id;
        try (EventReader reader = EventReader.open(gateway, events(topic), null)) {
            id = reader.next().id();
            try (Admin admin = broker.admin()) {
                admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(2)))
                        .all()
                        .get(20, TimeUnit.SECONDS);
            }
            append(topic, 1, "in the new partition");
            append(topic, 0, "in the old one");

            assertThat(List.of(reader.nextRecord().data(), reader.nextRecord().data())
                            .toString())
                    .contains("in the new partition", "in the old one");
        }
        try (EventReader again = EventReader.open(gateway, events(topic), id)) {
            assertThat(List.of(again.nextRecord().data(), again.nextRecord().data())
                            .toString())
                    .contains("in the new partition", "in the old one");
        }
    }

    @Test
    void shouldEndTheStreamWithAProblemWhenTheTopicIsDeleted() throws Exception {
        String topic = topic(1);
        try (EventReader reader = EventReader.open(gateway, events(topic), null)) {
            reader.next();
            try (Admin admin = broker.admin()) {
                admin.deleteTopics(List.of(topic)).all().get(20, TimeUnit.SECONDS);
            }

            EventReader.Event event = reader.nextRecord();
            assertThat(event.name()).isEqualTo("problem");
            assertThat(event.data()).contains("unknown-topic");
            assertThat(reader.next()).isNull();
        }
    }

    @Test
    void shouldContinueAfterARestartOfTheBrokerWhenTheReaderReconnects(@TempDir Path other) throws Exception {
        try (TestBroker restarted =
                new TestBroker(other).with("gateway.listener", "127.0.0.1:0").start()) {
            restarted.createTopic("t", 1, Map.of());
            GatewayClient before = new GatewayClient(restarted.gatewayPort());
            String id;
            try (EventReader reader = EventReader.open(before, events("t"), null)) {
                reader.next();
                before.post(records("t"), BYTES, "first");
                id = reader.next().id();

                // when the broker stops, then the stream ends without waiting for the next record
                long beginNanos = System.nanoTime();
                restarted.stop();
                assertThat(reader.next()).isNull();
                assertThat(System.nanoTime() - beginNanos).isLessThan(TimeUnit.SECONDS.toNanos(10));
            }
            restarted.start();
            GatewayClient after = new GatewayClient(restarted.gatewayPort());
            after.post(records("t"), BYTES, "second");
            try (EventReader reader = EventReader.open(after, events("t"), id)) {
                assertThat(reader.nextRecord().data()).contains("second");
            }
        }
    }

    @Test
    void shouldSendEachEverythingOnceWhenManyReadersShareWhatIsFetched() throws Exception {
        // given
        String topic = topic(2);
        List<CheckedReader> readers = new ArrayList<>();
        try {
            for (int i = 0; i < 40; i++) {
                readers.add(new CheckedReader(topic, null));
            }

            // when
            for (int i = 1; i <= 20; i++) {
                append(topic, i % 2, "value " + i);
                int count = i;
                broker.await(() -> readers.stream().allMatch(reader -> reader.count.get() >= count));
            }

            // then the records of a shared fetch count for each of the readers
            broker.await(() -> metric("journalq_topic_fetched_records_total{topic=\"" + topic + "\"} ")
                    .startsWith("800"));

            // when a burst comes, which is more than what readers share, and readers leave and come back
            String line = "{\"value\":\"" + "x".repeat(1_000) + "\"}\n";
            gateway.post(records(topic), NDJSON, line.repeat(200));
            for (int i = 0; i < 10; i++) {
                CheckedReader left = readers.remove(0);
                left.close();
                readers.add(new CheckedReader(topic, left.lastId));
            }
            for (int i = 1; i <= 20; i++) {
                append(topic, i % 2, "value " + i);
            }

            // then each has everything once and in order
            broker.await(() -> readers.stream().allMatch(reader -> reader.isAt(240)));
        } finally {
            for (CheckedReader reader : readers) {
                reader.close();
            }
        }
        broker.await(() -> metric("journalq_gateway_streams ").startsWith("0"));
    }

    @Test
    void shouldFetchARecordOnceForEachLoopWhenManyReadersWaitForIt() throws Exception {
        String topic = topic(2);
        List<CheckedReader> readers = new ArrayList<>();
        try {
            for (int i = 0; i < 40; i++) {
                readers.add(new CheckedReader(topic, null));
            }
            // given readers that wait together, because all of them have got a record
            append(topic, 0, "first");
            broker.await(() -> readers.stream().allMatch(reader -> reader.isAt(1)));
            long before = fetchesOfReadersThatWait();

            // when
            for (int i = 2; i <= 11; i++) {
                append(topic, i % 2, "value " + i);
                int count = i;
                broker.await(() -> readers.stream().allMatch(reader -> reader.isAt(count)));
                fetchesOfReadersThatWait();
            }

            // then each loop has fetched each record once, and waits again; a reader or two may have come too late
            assertThat(fetchesOfReadersThatWait() - before).isBetween(10L, 10L * LOOPS + 4);
        } finally {
            for (CheckedReader reader : readers) {
                reader.close();
            }
        }
    }

    /** The number of fetches when no more are made. */
    private static long fetchesOfReadersThatWait() throws InterruptedException {
        long fetches = -1;
        long before;
        do {
            before = fetches;
            Thread.sleep(100);
            fetches = Long.parseLong(metric("journalq_gateway_fetches_total ").replaceAll("\\..*", ""));
        } while (fetches != before);
        return fetches;
    }

    /** Reads events of two partitions in its own thread, and checks the number and the id of each. */
    private static final class CheckedReader implements AutoCloseable {
        private final EventReader events;
        private final long[] next = new long[2];
        private final AtomicInteger count = new AtomicInteger();
        private volatile String lastId;
        private volatile String wrong;
        private volatile boolean closed;

        CheckedReader(String topic, String id) throws Exception {
            events = EventReader.open(gateway, events(topic), id);
            lastId = events.next().id();
            Matcher position = Pattern.compile("0:(\\d+),1:(\\d+)").matcher(lastId);
            assertThat(position.matches()).isTrue();
            next[0] = Long.parseLong(position.group(1));
            next[1] = Long.parseLong(position.group(2));
            Thread thread = new Thread(this::read, "checked-reader");
            thread.setDaemon(true);
            thread.start();
        }

        private void read() {
            try {
                while (wrong == null) {
                    EventReader.Event event = events.nextRecord();
                    if (event == null) {
                        return;
                    }
                    Matcher record = RECORD.matcher(event.data());
                    int partition = record.matches() ? Integer.parseInt(record.group(1)) : 0;
                    boolean expected = record.matches() && Long.parseLong(record.group(2)) == next[partition];
                    next[partition]++;
                    if (!expected || !event.id().equals("0:" + next[0] + ",1:" + next[1])) {
                        wrong = event.toString();
                    }
                    lastId = event.id();
                    count.incrementAndGet();
                }
            } catch (IOException failure) {
                wrong = closed ? null : failure.toString();
            }
        }

        /** Whether it has got this number of records since the topic was created. */
        boolean isAt(long records) {
            assertThat(wrong).isNull();
            Matcher position = Pattern.compile("0:(\\d+),1:(\\d+)").matcher(lastId);
            return position.matches()
                    && Long.parseLong(position.group(1)) + Long.parseLong(position.group(2)) == records;
        }

        @Override
        public void close() throws IOException {
            closed = true;
            events.response().body().close(); // unlike its reader, it can be closed while the thread reads
        }
    }

    @Test
    void shouldHoldLittleMemoryAndLoseNothingWhenAReaderStops() throws Exception {
        stopReading(10, 8);
    }

    @Test
    @Tag("long")
    void shouldHoldLittleMemoryAndLoseNothingWhenManyReadersStop() throws Exception {
        stopReading(200, 10);
    }

    @Test
    void shouldReadLittleForAReaderThatStopsWhenManyStreamsAreOpen() throws Exception {
        String topic = topic(1);
        String empty = topic(1);
        String line = "{\"value\":\"" + "x".repeat(1_000) + "\"}\n";
        for (int i = 0; i < 8; i++) {
            gateway.post(records(topic), NDJSON, line.repeat(1_000));
        }
        List<Socket> readers = new ArrayList<>();
        try {
            for (int i = 0; i < MANY_STREAMS; i++) {
                readers.add(open(empty));
            }
            broker.await(() -> readers.stream().allMatch(GatewayEventsTest::hasData));
            long readBefore = recordsRead();

            // The kernel would take about 3,300 of them, of 1 KiB each.
            readers.add(open(topic));
            assertThat(settledRecordsRead() - readBefore).isBetween(1L, 640L);
        } finally {
            for (Socket reader : readers) {
                reader.close();
            }
        }
    }

    /** Opens a stream from the start, which is not read. */
    private static Socket open(String topic) throws IOException {
        Socket reader = gateway.connect(SMALL_BUFFER_BYTES);
        reader.getOutputStream()
                .write(("GET " + events(topic) + "?from=start HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        .getBytes(ISO_8859_1));
        return reader;
    }

    /** Readers stop before their sockets have all events. Each may then hold one part, and others are served. */
    private static void stopReading(int count, int thousands) throws Exception {
        // given
        String topic = topic(1);
        String line = "{\"value\":\"" + "x".repeat(1_000) + "\"}\n";
        for (int i = 0; i < thousands; i++) {
            gateway.post(records(topic), NDJSON, line.repeat(1_000));
        }
        long beforeBytes = PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
        List<Socket> readers = new ArrayList<>();
        try {
            // when
            for (int i = 0; i < count; i++) {
                readers.add(open(topic));
            }
            broker.await(() -> readers.stream().allMatch(GatewayEventsTest::hasData));

            // then
            broker.await(() -> (PooledByteBufAllocator.DEFAULT.pinnedDirectMemory() - beforeBytes) / count < 32 * 1024);
            try (EventReader other = EventReader.open(gateway, events(topic), null)) {
                other.next();
                append(topic, 0, "for all");
                assertThat(other.next().data()).contains("for all");
            }
            int end = 1_000 * thousands;
            int next = 0;
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(readers.get(0).getInputStream(), UTF_8));
            while (next <= end) {
                String text = in.readLine();
                if (text.startsWith("data: ")) {
                    assertThat(text).startsWith("data: {\"partition\":0,\"offset\":" + next + ",");
                    next++;
                }
            }
        } finally {
            for (Socket reader : readers) {
                reader.close();
            }
        }

        // and nothing counts as held when all have left
        broker.await(() ->
                metric("journalq_network_memory_bytes{part=\"responses\"} ").startsWith("0"));
    }

    private static long recordsRead() {
        return Long.parseLong(metric("journalq_gateway_read_records_total ").replaceAll("\\..*", ""));
    }

    /** The records read so far, when no more were read for two seconds. */
    private static long settledRecordsRead() throws InterruptedException {
        long[] last = {-1};
        long[] sinceNanos = {System.nanoTime()};
        broker.await(() -> {
            long now = recordsRead();
            if (now != last[0]) {
                last[0] = now;
                sinceNanos[0] = System.nanoTime();
            }
            return System.nanoTime() - sinceNanos[0] > TimeUnit.SECONDS.toNanos(2);
        });
        return last[0];
    }

    private static boolean hasData(Socket socket) {
        try {
            return socket.getInputStream().available() > 0;
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    private static String metric(String name) {
        try {
            String page = broker.page("/metrics").body();
            int start = page.indexOf("\n" + name) + 1;
            return start == 0 ? "" : page.substring(start + name.length(), page.indexOf('\n', start));
        } catch (IOException | InterruptedException failure) {
            throw new AssertionError(failure);
        }
    }
}
