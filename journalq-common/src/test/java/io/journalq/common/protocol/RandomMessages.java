package io.journalq.common.protocol;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Field;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.Struct;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.kafka.common.record.internal.MemoryRecords;

/** Random messages from one seed, encoded by kafka-clients' own description of the layout. */
final class RandomMessages {
    private static final int MAX_ELEMENTS = 3;
    private static final int MAX_SIZE_BYTES = 200;
    private static final int FIRST_UNKNOWN_TAG = 5_000;
    private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz-._0123456789";
    private static final String WIDE_LETTERS = "aé߀漢字\uD83D\uDE00";

    private final Random random;
    private final Random unknownTags;

    /** The same values come out with and without unknown tags. */
    RandomMessages(long seed, boolean withUnknownTags) {
        this.random = new Random(seed);
        this.unknownTags = withUnknownTags ? new Random(~seed) : null;
    }

    byte[] encode(Schema schema) {
        Struct struct = struct(schema);
        ByteBuffer buffer = ByteBuffer.allocate(schema.sizeOf(struct));
        schema.write(buffer, struct);
        return buffer.array();
    }

    private Struct struct(Schema schema) {
        Struct struct = new Struct(schema);
        for (BoundField field : schema.fields()) {
            struct.set(field, value(field.def.type));
        }
        return struct;
    }

    private Object value(Type type) {
        if (type.isNullable() && random.nextInt(4) == 0) {
            return null;
        }
        if (type.isArray()) {
            Object[] elements = new Object[random.nextInt(MAX_ELEMENTS + 1)];
            Type elementType = type.arrayElementType().orElseThrow();
            for (int i = 0; i < elements.length; i++) {
                elements[i] = value(elementType);
            }
            return elements;
        }
        if (type instanceof Schema schema) {
            return struct(schema);
        }
        if (type instanceof TaggedFields tagged) {
            return taggedFields(tagged);
        }
        return primitive(type.toString().replaceAll("COMPACT_|NULLABLE_", ""));
    }

    private Object primitive(String type) {
        return switch (type) {
            case "BOOLEAN" -> random.nextBoolean();
            case "INT8" -> (byte) number();
            case "INT16" -> (short) number();
            case "UINT16" -> (int) number() & 0xFFFF;
            case "INT32" -> (int) number();
            case "UINT32" -> number() & 0xFFFF_FFFFL;
            case "INT64" -> number();
            case "FLOAT64" -> random.nextGaussian();
            case "UUID" -> random.nextInt(4) == 0 ? Uuid.ZERO_UUID : new Uuid(random.nextLong(), random.nextLong());
            case "STRING" -> text();
            case "BYTES" -> ByteBuffer.wrap(bytes());
            case "RECORDS" -> MemoryRecords.readableRecords(ByteBuffer.wrap(bytes()));
            default -> throw new AssertionError("no random value for " + type);
        };
    }

    /** Often one of those that are defaults or limits. */
    private long number() {
        return switch (random.nextInt(5)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> random.nextInt(10);
            case 3 -> random.nextBoolean() ? Long.MAX_VALUE : Long.MIN_VALUE;
            default -> random.nextLong();
        };
    }

    private String text() {
        String letters = random.nextInt(4) == 0 ? WIDE_LETTERS : LETTERS;
        int[] codePoints = letters.codePoints().toArray();
        StringBuilder text = new StringBuilder();
        for (int left = random.nextInt(3) == 0 ? 0 : random.nextInt(MAX_SIZE_BYTES); left > 0; left--) {
            text.appendCodePoint(codePoints[random.nextInt(codePoints.length)]);
        }
        return text.toString();
    }

    private byte[] bytes() {
        byte[] bytes = new byte[random.nextInt(3) == 0 ? 0 : random.nextInt(MAX_SIZE_BYTES)];
        random.nextBytes(bytes);
        return bytes;
    }

    private Map<Integer, Object> taggedFields(TaggedFields type) {
        TreeMap<Integer, Object> fields = new TreeMap<>();
        for (Map.Entry<Integer, Field> known : new TreeMap<>(type.fields()).entrySet()) {
            if (random.nextBoolean()) {
                fields.put(known.getKey(), value(known.getValue().type));
            }
        }
        if (unknownTags != null) {
            for (int left = unknownTags.nextInt(3); left > 0; left--) {
                int tag = FIRST_UNKNOWN_TAG + unknownTags.nextInt(1 << 20);
                byte[] data = new byte[unknownTags.nextInt(MAX_SIZE_BYTES)];
                unknownTags.nextBytes(data);
                fields.put(tag, new RawTaggedField(tag, data));
            }
        }
        return fields;
    }

    /** All seeds of a test, from one that a system property may set to replay a failure. */
    static List<Long> seeds(int count) {
        List<Long> seeds = new ArrayList<>();
        String replay = System.getProperty("journalq.seed");
        if (replay != null) {
            return List.of(Long.parseLong(replay));
        }
        for (long seed = 1; seed <= count; seed++) {
            seeds.add(seed);
        }
        return seeds;
    }
}
