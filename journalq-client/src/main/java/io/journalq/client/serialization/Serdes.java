package io.journalq.client.serialization;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.function.Function;

/** Serializers and deserializers of common types. They use the same formats as those of Kafka's Java client. */
public final class Serdes {
    private static final int UUID_TEXT_LENGTH = 36;
    private static final char REPLACEMENT = '\uFFFD';

    private static final Serde<byte[]> BYTES = new Plain<>(value -> value, Serdes::copy);
    private static final Serde<String> UTF_8 =
            new Plain<>(value -> value.getBytes(StandardCharsets.UTF_8), Serdes::text);
    private static final Serde<Long> LONGS =
            new Plain<>(value -> ByteBuffer.allocate(Long.BYTES).putLong(value).array(), Serdes::number);
    private static final Serde<UUID> UUIDS =
            new Plain<>(value -> value.toString().getBytes(StandardCharsets.US_ASCII), Serdes::uuid);

    private Serdes() {}

    /** Leaves bytes as they are. A serialized array is not copied. */
    public static Serde<byte[]> bytes() {
        return BYTES;
    }

    /** Text in UTF-8. Bytes that are not valid UTF-8 cannot be deserialized. */
    public static Serde<String> utf8() {
        return UTF_8;
    }

    /** A 64-bit integer as 8 bytes, the most significant one first. */
    public static Serde<Long> longs() {
        return LONGS;
    }

    /** A UUID as text of 36 characters, such as {@code 123e4567-e89b-12d3-a456-426614174000}. */
    public static Serde<UUID> uuids() {
        return UUIDS;
    }

    private static byte[] copy(ByteBuffer data) {
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        return bytes;
    }

    private static String text(ByteBuffer data) {
        byte[] bytes = copy(data);
        String text = new String(bytes, StandardCharsets.UTF_8);
        // The constructor replaces what is malformed. The character can also be a part of the text.
        return text.indexOf(REPLACEMENT) < 0 ? text : strictText(bytes);
    }

    private static String strictText(byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(bytes.length + " bytes are not valid UTF-8", e);
        }
    }

    private static Long number(ByteBuffer data) {
        if (data.remaining() != Long.BYTES) {
            throw new IllegalArgumentException(data.remaining() + " bytes are not a long, which has 8 bytes");
        }
        return data.getLong();
    }

    private static UUID uuid(ByteBuffer data) {
        if (data.remaining() != UUID_TEXT_LENGTH) {
            throw new IllegalArgumentException(
                    data.remaining() + " bytes are not a UUID, which is text of 36 characters");
        }
        return UUID.fromString(text(data));
    }

    private static final class Plain<T> implements Serde<T> {
        private final Function<T, byte[]> write;
        private final Function<ByteBuffer, T> read;

        private Plain(Function<T, byte[]> write, Function<ByteBuffer, T> read) {
            this.write = write;
            this.read = read;
        }

        @Override
        public byte[] serialize(String topic, T value) {
            return write.apply(value);
        }

        @Override
        public T deserialize(String topic, ByteBuffer data) {
            return read.apply(data);
        }
    }
}
