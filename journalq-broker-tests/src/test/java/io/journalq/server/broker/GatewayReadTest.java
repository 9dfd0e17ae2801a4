package io.journalq.server.broker;

import static io.journalq.server.broker.GatewayClient.BYTES;
import static io.journalq.server.broker.GatewayClient.NDJSON;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reading over HTTP what Kafka's producer and the gateway have written. */
@Timeout(120)
class GatewayReadTest {
    private static final Pattern CURSOR = Pattern.compile("\\{\"cursor\":\"([^\"]*)\",\"atEnd\":(true|false)}\n$");

    private static final int SMALL_BUFFER_BYTES = 16 * 1024;

    @TempDir
    private static Path directory;

    private static TestBroker broker;
    private static GatewayClient gateway;
    private static int topics;

    @BeforeAll
    static void start() throws Exception {
        broker = new TestBroker(directory)
                .with("gateway.listener", "127.0.0.1:0")
                .with("shards", "2")
                .start();
        gateway = new GatewayClient(broker.gatewayPort());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    private static String topic(int partitions) throws Exception {
        topics++;
        broker.createTopic("t" + topics, partitions, Map.of());
        return "t" + topics;
    }

    private static String records(String topic) {
        return "/v1/topics/" + topic + "/records";
    }

    private static void produce(String topic, int partition, int first, int count, String codec) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("compression.type", codec))) {
            for (int i = first; i < first + count; i++) {
                var unused = producer.send(new ProducerRecord<>(
                        topic, partition, 1_000L + i, ("k" + i).getBytes(UTF_8), ("v" + i).getBytes(UTF_8)));
            }
        }
    }

    private static Matcher end(String body) {
        Matcher cursor = CURSOR.matcher(body);
        assertThat(cursor.find()).as(body).isTrue();
        return cursor;
    }

    private static long lines(String body) {
        return body.lines().filter(line -> line.startsWith("{\"partition\"")).count();
    }

    @Test
    void shouldReadRecordsFromTheStartWhenNothingElseIsWanted() throws Exception {
        String topic = topic(1);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of())) {
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(topic, 0, 5L, "k\"1\n".getBytes(UTF_8), new byte[] {(byte) 0xff});
            record.headers().add("h", "é".getBytes(UTF_8));
            var unused = producer.send(record);
            var unusedToo =
                    producer.send(new ProducerRecord<byte[], byte[]>(topic, 0, 6L, (byte[]) null, (byte[]) null));
        }

        HttpResponse<String> response = gateway.get(records(topic));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/x-ndjson");
        assertThat(response.body())
                .isEqualTo(
                        "{\"partition\":0,\"offset\":0,\"timestamp\":5,\"key\":\"k\\\"1\\n\",\"valueBase64\":\"/w==\","
                                + "\"headers\":[{\"name\":\"h\",\"value\":\"é\"}]}\n"
                                + "{\"partition\":0,\"offset\":1,\"timestamp\":6,\"key\":null,\"value\":null}\n"
                                + "{\"cursor\":\"0:2\",\"atEnd\":true}\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "gzip", "zstd", "lz4"})
    void shouldReadEachRecordOnceWhenTheCursorIsFollowed(String codec) throws Exception {
        // given
        String topic = topic(3);
        for (int partition = 0; partition < 3; partition++) {
            produce(topic, partition, 0, 2_000, codec);
        }

        // when
        List<String> read = new ArrayList<>();
        String position = "";
        boolean atEnd = false;
        while (!atEnd) {
            String body = gateway.get(records(topic) + "?limit=700" + position).body();
            body.lines().filter(line -> line.startsWith("{\"partition\"")).forEach(read::add);
            Matcher end = end(body);
            position = "&cursor=" + end.group(1);
            atEnd = end.group(2).equals("true");
        }

        // then
        assertThat(read).hasSize(6_000).doesNotHaveDuplicates();
        for (int partition = 0; partition < 3; partition++) {
            String prefix = "{\"partition\":" + partition + ",";
            List<String> ofPartition =
                    read.stream().filter(line -> line.startsWith(prefix)).toList();
            for (int i = 0; i < 2_000; i++) {
                assertThat(ofPartition.get(i)).contains("\"offset\":" + i + ",").contains("\"value\":\"v" + i + "\"");
            }
        }
    }

    @Test
    void shouldReadAddedPartitionsWhenTheCursorIsOfTheWholeTopic() throws Exception {
        // given
        String topic = topic(1);
        produce(topic, 0, 0, 2, "none");
        String whole = end(gateway.get(records(topic)).body()).group(1);
        String single = end(gateway.get(records(topic) + "?partition=0").body()).group(1);
        String searched = end(gateway.get("/v1/topics/" + topic + "/search?text=v&partition=0")
                        .body())
                .group(1);
        try (Admin admin = broker.admin()) {
            admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(3)))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }
        produce(topic, 2, 0, 3, "none");

        // when
        String news = gateway.get(records(topic) + "?cursor=" + whole).body();
        String found = gateway.get("/v1/topics/" + topic + "/search?text=v&cursor=" + whole)
                .body();

        // then
        assertThat(lines(news)).isEqualTo(3);
        assertThat(news).endsWith("{\"cursor\":\"0:2,1:0,2:3\",\"atEnd\":true}\n");
        assertThat(lines(found)).isEqualTo(3);
        assertThat(single).isEqualTo(searched).isEqualTo("0:2,only");
        assertThat(gateway.get(records(topic) + "?cursor=" + single).body())
                .isEqualTo("{\"cursor\":\"0:2,only\",\"atEnd\":true}\n");
        assertThat(gateway.get(records(topic) + "?cursor=1:0,only").body())
                .isEqualTo("{\"cursor\":\"1:0,only\",\"atEnd\":true}\n");
        assertThat(gateway.get(records(topic) + "?cursor=1:0").body())
                .as("what a cursor does not have is read from its start")
                .startsWith("{\"partition\":0,\"offset\":0,")
                .endsWith("{\"cursor\":\"0:2,1:0,2:3\",\"atEnd\":true}\n");
    }

    @Test
    void shouldBeginInTheMiddleWhenAnOffsetOrATimeIsGiven() throws Exception {
        String topic = topic(2);
        produce(topic, 1, 0, 10, "none");

        assertThat(gateway.get(records(topic) + "?partition=1&offset=7").body())
                .startsWith("{\"partition\":1,\"offset\":7,")
                .contains("\"cursor\":\"1:10,only\"");
        assertThat(gateway.get(records(topic) + "?time=1004").body()).startsWith("{\"partition\":1,\"offset\":4,");
        assertThat(gateway.get(records(topic) + "?time=1970-01-01T00:00:01.004Z")
                        .body())
                .startsWith("{\"partition\":1,\"offset\":4,");
        assertThat(gateway.get(records(topic) + "?from=end").body())
                .isEqualTo("{\"cursor\":\"0:0,1:10\",\"atEnd\":true}\n");
    }

    @Test
    void shouldWaitForARecordWhenThereIsNone() throws Exception {
        String topic = topic(2);
        CompletableFuture<HttpResponse<String>> waiting = CompletableFuture.supplyAsync(() -> {
            try {
                return gateway.get(records(topic) + "?from=end&wait=20000");
            } catch (Exception failure) {
                throw new AssertionError(failure);
            }
        });
        Thread.sleep(300);
        assertThat(waiting).isNotDone();

        gateway.post(records(topic), BYTES, "news", "JQ-Partition", "1");

        String body = waiting.get(15, TimeUnit.SECONDS).body();
        assertThat(body).contains("\"value\":\"news\"").contains("\"cursor\":\"0:0,1:1\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "offset=1",
                "partition=0&offset=-1",
                "partition=x",
                "from=middle",
                "from=start&time=5",
                "time=yesterday",
                "cursor=",
                "cursor=0:1,0:2",
                "cursor=0:1&partition=0",
                "cursor=only",
                "cursor=,only",
                "cursor=only,0:1",
                "cursor=0:1,only,only",
                "limit=100001",
                "limit=1&limit=2",
                "form=end",
                "from=%zz"
            })
    void shouldNameTheParameterWhenItIsInvalid(String query) throws Exception {
        String topic = topic(1);

        String response = gateway.exchange(
                "GET " + records(topic) + "?" + query + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

        assertThat(response).startsWith("HTTP/1.1 400 ").contains("invalid-parameter");
    }

    @Test
    void shouldSayThatAnOffsetDoesNotExistWhenItIsBehindTheEnd() throws Exception {
        String topic = topic(1);

        HttpResponse<String> response = gateway.get(records(topic) + "?partition=0&offset=1");

        assertThat(response.statusCode()).isEqualTo(416);
        assertThat(gateway.get(records(topic) + "?partition=1").statusCode()).isEqualTo(404);
        assertThat(gateway.get(records("nothing")).statusCode()).isEqualTo(404);
    }

    @Test
    void shouldReportAGapWhenTheRecordsAtTheCursorWereDeleted() throws Exception {
        // given
        String topic = topic(1);
        produce(topic, 0, 0, 10, "none");
        try (Admin admin = broker.admin()) {
            admin.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(6)))
                    .all()
                    .get(20, TimeUnit.SECONDS);
        }

        // when
        String body = gateway.get(records(topic) + "?cursor=0:2").body();

        // then
        assertThat(body).startsWith("{\"gap\":{\"partition\":0,\"from\":2,\"to\":6}}\n{\"partition\":0,\"offset\":6,");
        assertThat(lines(body)).isEqualTo(4);
        assertThat(gateway.get(records(topic) + "?partition=0&offset=2").statusCode())
                .isEqualTo(416);
    }

    @Test
    void shouldReadOnlyCommittedRecordsWhenATransactionWasAborted() throws Exception {
        String topic = topic(1);
        try (KafkaProducer<byte[], byte[]> producer = broker.producer(Map.of("transactional.id", topic))) {
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
        }

        awaitMarkers(topic);

        String body = gateway.get(records(topic)).body();

        assertThat(body).contains("kept-1", "kept-2").doesNotContain("\"aborted\"");
        assertThat(end(body).group(2)).isEqualTo("true");
    }

    /** A commit is acknowledged before its marker is in the log. Readers get the records after that. */
    private static void awaitMarkers(String topic) throws InterruptedException {
        TopicPartition partition = new TopicPartition(topic, 0);
        ListOffsetsOptions committed = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED);
        try (Admin admin = broker.admin()) {
            broker.await(() -> {
                try {
                    return admin.listOffsets(Map.of(partition, OffsetSpec.latest()), committed)
                                    .partitionResult(partition)
                                    .get(20, TimeUnit.SECONDS)
                                    .offset()
                            == 6;
                } catch (InterruptedException | ExecutionException | TimeoutException failed) {
                    throw new AssertionError(failed);
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"?cursor=0:11", "?cursor=0:5,1:1", "?partition=0&offset=11"})
    void shouldRefuseAPositionWhenTheLogEndsBeforeIt(String position) throws Exception {
        String topic = topic(2);
        produce(topic, 0, 0, 10, "none");

        HttpResponse<String> response = gateway.get(records(topic) + position);

        assertThat(response.statusCode()).as(response.body()).isEqualTo(416);
        assertThat(response.body()).contains("offset-out-of-range").contains("which ends at");
    }

    @Test
    void shouldHoldLittleMemoryWhenAReaderStops() throws Exception {
        stopReading(10, 8);
    }

    @Test
    @Tag("long")
    void shouldHoldLittleMemoryWhenManyReadersStop() throws Exception {
        stopReading(100, 15);
    }

    /** Readers stop before their sockets have all records. Each may then hold 128 KiB, and others are served. */
    private static void stopReading(int count, int thousands) throws Exception {
        // given records of about 1 kB
        String topic = topic(1);
        String line = "{\"value\":\"" + "x".repeat(1_000) + "\"}\n";
        for (int i = 0; i < thousands; i++) {
            assertThat(gateway.post(records(topic), NDJSON, line.repeat(1_000)).statusCode())
                    .isEqualTo(200);
        }
        long beforeBytes = pinnedBytes();

        // when clients ask for all of them and read nothing
        List<Socket> readers = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                Socket reader = gateway.connect(SMALL_BUFFER_BYTES);
                readers.add(reader);
                reader.getOutputStream()
                        .write(("GET " + records(topic) + "?limit=100000 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                                .getBytes(ISO_8859_1));
            }

            // then each holds less than 128 KiB soon, and another reader is served
            broker.await(() -> isStuck(readers));
            broker.await(() -> (pinnedBytes() - beforeBytes) / count < 128 * 1024);
            assertThat(lines(gateway.get(records(topic) + "?limit=100000").body()))
                    .isEqualTo(1_000L * thousands);

            // and a reader that goes on gets everything
            Socket reader = readers.get(0);
            reader.getOutputStream()
                    .write("GET /end HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".getBytes(ISO_8859_1));
            int end = 1_000 * thousands;
            assertThat(GatewayClient.readAll(reader))
                    .contains("\"offset\":" + (end - 1) + ",")
                    .contains("\"cursor\":\"0:" + end + "\",\"atEnd\":true");
        } finally {
            for (Socket reader : readers) {
                reader.close();
            }
        }
    }

    /** Whether the sockets of all readers are full. */
    private static boolean isStuck(List<Socket> readers) {
        try {
            for (Socket reader : readers) {
                if (reader.getInputStream().available() == 0) {
                    return false;
                }
            }
            return true;
        } catch (IOException failure) {
            throw new AssertionError(failure);
        }
    }

    /** Memory of buffers that are in use. */
    private static long pinnedBytes() {
        return PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
    }

    @Test
    void shouldCloseTheConnectionAtTheEndWhenTheClientSpeaksHttp10() throws Exception {
        String topic = topic(1);
        gateway.post(records(topic), BYTES, "x");

        String response = gateway.exchange("GET " + records(topic) + " HTTP/1.0\r\n\r\n");

        assertThat(response)
                .contains("\"value\":\"x\"")
                .endsWith("\"atEnd\":true}\n")
                .doesNotContain("chunked");
    }
}
