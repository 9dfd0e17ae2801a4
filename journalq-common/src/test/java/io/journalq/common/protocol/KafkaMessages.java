package io.journalq.common.protocol;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCounted;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.types.Schema;

/** The oracle: every message in every version, as kafka-clients and as this project read and write it. */
final class KafkaMessages {
    private static final String KAFKA_PACKAGE = "org.apache.kafka.common.message.";
    private static final String OUR_PACKAGE = "io.journalq.common.protocol.message.";

    /** Schemas that belong to no API; after each the name of kafka-clients' class. */
    private static final String[][] OTHERS = {
        {"RequestHeader", "RequestHeaderData"},
        {"ResponseHeader", "ResponseHeaderData"},
        {"ConsumerProtocolAssignment", "ConsumerProtocolAssignment"},
        {"ConsumerProtocolSubscription", "ConsumerProtocolSubscription"},
        {"ControlRecordTypeSchema", "ControlRecordTypeSchema"},
        {"DefaultPrincipalData", "DefaultPrincipalData"},
        {"EndTxnMarker", "EndTxnMarker"},
        {"KRaftVersionRecord", "KRaftVersionRecord"},
        {"LeaderChangeMessage", "LeaderChangeMessage"},
        {"SnapshotFooterRecord", "SnapshotFooterRecord"},
        {"SnapshotHeaderRecord", "SnapshotHeaderRecord"},
        {"VotersRecord", "VotersRecord"},
    };

    private KafkaMessages() {}

    /** Every message that kafka-clients has. */
    static List<Oracle> all() {
        List<Oracle> all = new ArrayList<>();
        for (ApiMessageType type : apis()) {
            all.add(oracle(type.name + "Request", type.newRequest().getClass().getName()));
            all.add(oracle(type.name + "Response", type.newResponse().getClass().getName()));
        }
        for (String[] other : OTHERS) {
            all.add(oracle(other[0], KAFKA_PACKAGE + other[1]));
        }
        return all;
    }

    /** The APIs that have a valid version. Four former APIs between brokers and controllers have none. */
    static List<ApiMessageType> apis() {
        return Arrays.stream(ApiMessageType.values())
                .filter(type -> type.lowestSupportedVersion() <= type.highestSupportedVersion(true))
                .toList();
    }

    static Oracle oracle(String name) {
        return all().stream()
                .filter(oracle -> oracle.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Oracle oracle(String name, String kafkaClass) {
        try {
            Class<?> theirs = Class.forName(kafkaClass);
            Class<?> ours = Class.forName(OUR_PACKAGE + name);
            MethodHandles.Lookup lookup = MethodHandles.publicLookup();
            return new Oracle(
                    name,
                    Arrays.asList((Schema[]) theirs.getField("SCHEMAS").get(null)),
                    lookup.findConstructor(theirs, MethodType.methodType(void.class)),
                    lookup.findConstructor(ours, MethodType.methodType(void.class)),
                    lookup.findStatic(ours, "read", MethodType.methodType(ours, MessageReader.class, short.class)),
                    theirs.getField("LOWEST_SUPPORTED_VERSION").getShort(null),
                    theirs.getField("HIGHEST_SUPPORTED_VERSION").getShort(null));
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(name, e);
        }
    }

    /**
     * One message in both implementations.
     *
     * @param schemas kafka-clients' description of the layout, by version
     */
    record Oracle(
            String name,
            List<Schema> schemas,
            MethodHandle newTheirs,
            MethodHandle newOurs,
            MethodHandle readOurs,
            short lowestVersion,
            short highestVersion) {

        org.apache.kafka.common.protocol.Message emptyTheirs() {
            try {
                return (org.apache.kafka.common.protocol.Message) newTheirs.invoke();
            } catch (Throwable e) {
                throw new AssertionError(name, e);
            }
        }

        Message emptyOurs() {
            try {
                return (Message) newOurs.invoke();
            } catch (Throwable e) {
                throw new AssertionError(name, e);
            }
        }

        org.apache.kafka.common.protocol.Message readTheirs(byte[] bytes, short version) {
            org.apache.kafka.common.protocol.Message message = emptyTheirs();
            message.read(new ByteBufferAccessor(ByteBuffer.wrap(bytes)), version);
            return message;
        }

        byte[] writeTheirs(org.apache.kafka.common.protocol.Message message, short version) {
            ByteBuffer buffer =
                    MessageUtil.toByteBufferAccessor(message, version).buffer();
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            return bytes;
        }

        /** Reads as a frame would be: failures come out as they are, and no byte may be left. May be written often. */
        Message readOurs(byte[] bytes, short version) {
            MessageReader in = new MessageReader(Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(bytes)));
            Message message = read(in, version);
            in.expectEnd();
            return message;
        }

        Message read(MessageReader in, short version) {
            try {
                return (Message) readOurs.invoke(in, version);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError(name, e);
            }
        }

        byte[] writeOurs(Message message, short version) {
            MessageWriter out = new MessageWriter(Unpooled.buffer().alloc());
            try {
                message.write(out, version);
            } catch (RuntimeException e) {
                out.release();
                throw e;
            }
            return bytes(out.finish());
        }
    }

    /** The bytes of all parts, which are released. */
    static byte[] bytes(List<ReferenceCounted> parts) {
        ByteBuf all = Unpooled.buffer();
        for (ReferenceCounted part : parts) {
            all.writeBytes((ByteBuf) part);
            part.release();
        }
        return ByteBufUtil.getBytes(all);
    }
}
