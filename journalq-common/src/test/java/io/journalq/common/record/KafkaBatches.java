package io.journalq.common.record;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** The Kafka client's own record classes as the oracle, and the messages that both sides write and read. */
final class KafkaBatches {
    static final long BASE_MS = 1_700_000_000_000L;

    /** One message. Equal if all fields are, those of the headers included. */
    static final class Message {
        private final long timestampMs;
        private final byte[] key;
        private final byte[] value;
        private final List<Header> headers;

        Message(long timestampMs, byte[] key, byte[] value, List<Header> headers) {
            this.timestampMs = timestampMs;
            this.key = key;
            this.value = value;
            this.headers = headers;
        }

        long timestampMs() {
            return timestampMs;
        }

        byte[] key() {
            return key;
        }

        byte[] value() {
            return value;
        }

        List<Header> headers() {
            return headers;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Message message
                    && timestampMs == message.timestampMs
                    && Arrays.equals(key, message.key)
                    && Arrays.equals(value, message.value)
                    && headers.equals(message.headers);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(timestampMs);
        }

        @Override
        public String toString() {
            return timestampMs + " " + Arrays.toString(key) + "=" + Arrays.toString(value) + " " + headers;
        }
    }

    private KafkaBatches() {}

    /** Messages with every shape that a record can have: nulls, empties, headers, dates before the first. */
    static List<Message> messages(int count) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] key = i % 3 == 0 ? null : bytes("key-" + i);
            byte[] value =
                    i % 7 == 3 ? null : i % 7 == 4 ? new byte[0] : bytes("some text that repeats ".repeat(i % 50));
            List<Header> headers = i % 4 == 0
                    ? List.of()
                    : List.of(
                            new Header("trace-ü", bytes("id" + i)), new Header("", null), new Header("x", new byte[0]));
            messages.add(new Message(BASE_MS + (i * 37L) % 101 - 50, key, value, headers));
        }
        return messages;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    static byte[] random(int sizeBytes, long seed) {
        byte[] bytes = new byte[sizeBytes];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    static Compression compression(CompressionCodec codec) {
        return Compression.of(CompressionType.forId(codec.id())).build();
    }

    static ByteBuf writtenByKafka(CompressionCodec codec, List<Message> messages) {
        SimpleRecord[] records = messages.stream().map(KafkaBatches::toKafka).toArray(SimpleRecord[]::new);
        return copy(MemoryRecords.withRecords(compression(codec), records));
    }

    static SimpleRecord toKafka(Message message) {
        RecordHeader[] headers = message.headers().stream()
                .map(header -> new RecordHeader(header.key(), header.value()))
                .toArray(RecordHeader[]::new);
        return new SimpleRecord(message.timestampMs(), message.key(), message.value(), headers);
    }

    static ByteBuf copy(MemoryRecords records) {
        return Unpooled.copiedBuffer(records.buffer().duplicate());
    }

    static MemoryRecords readByKafka(ByteBuf batches) {
        ByteBuffer copy = ByteBuffer.allocate(batches.readableBytes());
        batches.getBytes(batches.readerIndex(), copy);
        copy.flip();
        return MemoryRecords.readableRecords(copy);
    }
}
