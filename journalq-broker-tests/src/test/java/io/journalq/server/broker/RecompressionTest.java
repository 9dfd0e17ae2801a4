package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.common.record.RecordBatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Topics with their own compression type, with Kafka's own producers and consumers. */
class RecompressionTest {
    private static final int RECORDS = 30;

    @TempDir
    Path dataDirectory;

    private TestBroker broker;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory).start();
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"uncompressed", "gzip", "snappy", "lz4", "zstd"})
    void shouldKeepBatchesInTheTopicsCompressionWhateverTheProducers(String kept) throws Exception {
        // given
        broker.createTopic("orders", 1, Map.of("compression.type", kept));

        // when producers of every codec send
        List<String> sent = new ArrayList<>();
        List<Long> offsets = new ArrayList<>();
        for (CompressionCodec codec : CompressionCodec.values()) {
            String ofProducer = codec.name().toLowerCase(Locale.ROOT);
            produce(ofProducer, sent, offsets);
        }

        // then consumers read all of it, at the offsets that the producers received
        List<ConsumerRecord<byte[], byte[]>> read =
                broker.readAll(List.of(new TopicPartition("orders", 0)), sent.size());
        assertThat(read).extracting(record -> text(record.value())).containsExactlyElementsOf(sent);
        assertThat(read).extracting(ConsumerRecord::offset).containsExactlyElementsOf(offsets);
        assertThat(read).allSatisfy(record -> assertThat(
                        text(record.headers().lastHeader("codec").value()))
                .isEqualTo(text(record.key())));

        // and the batches of the topic have its codec
        String expected = kept.equals("uncompressed") ? "NONE" : kept.toUpperCase(Locale.ROOT);
        assertThat(codecs("orders"))
                .hasSizeGreaterThanOrEqualTo(CompressionCodec.values().length)
                .containsOnly(CompressionCodec.valueOf(expected));
    }

    private void produce(String codec, List<String> sent, List<Long> offsets) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                broker.producer(Map.of("compression.type", codec, "linger.ms", 50))) {
            List<Future<RecordMetadata>> responses = new ArrayList<>();
            for (int i = 0; i < RECORDS; i++) {
                sent.add(codec + " " + i + " and text that can be compressed, compressed, compressed");
                ProducerRecord<byte[], byte[]> record =
                        new ProducerRecord<>("orders", 0, bytes(codec), bytes(sent.get(sent.size() - 1)));
                record.headers().add("codec", bytes(codec));
                responses.add(producer.send(record));
            }
            for (Future<RecordMetadata> response : responses) {
                offsets.add(response.get(30, TimeUnit.SECONDS).offset());
            }
        }
    }

    @Test
    void shouldDateRecompressedRecordsWhenTheTopicKeepsTheBrokersTime() throws Exception {
        // given
        broker.createTopic("orders", 1, Map.of("compression.type", "zstd", "message.timestamp.type", "LogAppendTime"));
        List<String> sent = new ArrayList<>();
        List<Long> offsets = new ArrayList<>();
        long beforeMs = System.currentTimeMillis();

        // when
        produce("gzip", sent, offsets);

        // then
        long afterMs = System.currentTimeMillis();
        List<ConsumerRecord<byte[], byte[]>> read =
                broker.readAll(List.of(new TopicPartition("orders", 0)), sent.size());
        assertThat(read).hasSize(RECORDS).allSatisfy(record -> {
            assertThat(record.timestampType()).isEqualTo(TimestampType.LOG_APPEND_TIME);
            assertThat(record.timestamp()).isBetween(beforeMs, afterMs);
        });
        assertThat(codecs("orders")).containsOnly(CompressionCodec.ZSTD);
    }

    @Test
    void shouldRefuseABatchThatIsTooLargeWithoutItsCompression() throws Exception {
        // given
        broker.createTopic("orders", 1, Map.of("compression.type", "uncompressed", "max.message.bytes", "2000"));

        // when
        try (WireClient client = new WireClient(broker.port())) {
            short fits = client.produce("orders", 0, compressed(1_500)).errorCode();
            short tooLarge = client.produce("orders", 0, compressed(3_000)).errorCode();

            // then
            assertThat(fits).isZero();
            assertThat(tooLarge).isEqualTo((short) 10); // MESSAGE_TOO_LARGE
        }
    }

    private static ByteBuf compressed(int size) {
        try (BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.LZ4)) {
            builder.append(System.currentTimeMillis(), (byte[]) null, new byte[size], List.of());
            return builder.build();
        }
    }

    /** Codecs of the batches of a topic's first partition. */
    private List<CompressionCodec> codecs(String topic) throws Exception {
        List<CompressionCodec> codecs = new ArrayList<>();
        try (WireClient client = new WireClient(broker.port())) {
            FetchRequest request = new FetchRequest()
                    .setMaxBytes(10_000_000)
                    .setSessionEpoch(-1)
                    .setTopics(List.of(new FetchRequest.FetchTopic()
                            .setTopic(topic)
                            .setPartitions(List.of(new FetchRequest.FetchPartition()
                                    .setPartition(0)
                                    .setFetchOffset(0)
                                    .setPartitionMaxBytes(10_000_000)))));
            FetchResponse response = client.call(FetchResponse.class, request, 12);
            ByteBuf batches =
                    response.responses().get(0).partitions().get(0).records().buffer();
            for (int at = batches.readerIndex(); at < batches.writerIndex(); at += RecordBatch.sizeBytes(batches, at)) {
                codecs.add(CompressionCodec.of(RecordBatch.compressionId(batches, at)));
            }
        }
        return codecs;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
