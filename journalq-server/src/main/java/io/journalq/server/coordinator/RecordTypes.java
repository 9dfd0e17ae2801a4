package io.journalq.server.coordinator;

import io.journalq.common.check.Check;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.Message;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.List;

/**
 * The format of a coordinator's records in its journal. A key begins with the number of its type, and a value with the
 * version of its content. Both are 16 bits, as in the logs of Apache Kafka. The number of a type is never reused.
 * Immutable once built; any thread.
 */
public final class RecordTypes {
    private static final short KEY_VERSION = 0;

    private final List<Type> types;

    private RecordTypes(List<Type> types) {
        this.types = types;
    }

    /** Decodes a message of one version. */
    public interface Reader {
        Message read(MessageReader in, short version);
    }

    /**
     * One type of record.
     *
     * @param number permanent number of the type
     * @param keyClass class of its keys, which no other type shares
     * @param keyReader decodes a key
     * @param valueReader decodes a value
     * @param valueVersion newest version of values, in which they are written
     */
    public record Type(
            short number,
            Class<? extends Message> keyClass,
            Reader keyReader,
            Reader valueReader,
            short valueVersion) {}

    /** Types with distinct numbers. */
    public static RecordTypes of(Type... types) {
        List<Type> known = new ArrayList<>();
        for (Type type : types) {
            for (Type other : known) {
                Check.that(
                        other.number() != type.number() && other.keyClass() != type.keyClass(),
                        "record types must have distinct numbers");
            }
            known.add(type);
        }
        return new RecordTypes(List.copyOf(known));
    }

    /** Encodes a record's key; the caller releases the buffer. */
    public ByteBuf encodeKey(CoordinatorRecord record, ByteBufAllocator allocator) {
        Type type = typeOf(record.key());
        return encode(type.number(), KEY_VERSION, record.key(), allocator);
    }

    /** Encodes a record's value; the caller releases the buffer. Null for a tombstone. */
    public ByteBuf encodeValue(CoordinatorRecord record, ByteBufAllocator allocator) {
        if (record.value() == null) {
            return null;
        }
        short version = typeOf(record.key()).valueVersion();
        return encode(version, version, record.value(), allocator);
    }

    /**
     * Decodes a record. The messages may refer to the buffers without copying them: keep the buffers until the record
     * is replayed.
     *
     * @param value null for a tombstone
     * @throws BadFrameException if the bytes are not a record, or one of a newer release
     */
    public CoordinatorRecord decode(ByteBuf key, ByteBuf value) {
        MessageReader keyReader = new MessageReader(key);
        short number = keyReader.readShort();
        for (Type type : types) {
            if (type.number() == number) {
                return new CoordinatorRecord(
                        type.keyReader().read(keyReader, KEY_VERSION), value == null ? null : decodeValue(type, value));
            }
        }
        throw new BadFrameException("this release does not support coordinator records of type " + number);
    }

    private static Message decodeValue(Type type, ByteBuf value) {
        MessageReader reader = new MessageReader(value);
        short version = reader.readShort();
        if (version < 0 || version > type.valueVersion()) {
            throw new BadFrameException("this release does not support coordinator records of type " + type.number()
                    + " in version " + version);
        }
        return type.valueReader().read(reader, version);
    }

    private static ByteBuf encode(short prefix, short version, Message message, ByteBufAllocator allocator) {
        MessageWriter out = new MessageWriter(allocator);
        out.writeShort(prefix);
        message.write(out, version);
        return (ByteBuf) out.finish().get(0);
    }

    private Type typeOf(Message key) {
        for (Type type : types) {
            if (type.keyClass() == key.getClass()) {
                return type;
            }
        }
        throw new IllegalArgumentException("no record type has keys of class " + key.getClass());
    }
}
