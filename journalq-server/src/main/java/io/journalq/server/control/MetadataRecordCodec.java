package io.journalq.server.control;

import io.journalq.common.protocol.Message;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.server.metadata.ClusterVersion;
import io.journalq.server.metadata.record.AclRecord;
import io.journalq.server.metadata.record.BrokerChangeRecord;
import io.journalq.server.metadata.record.BrokerRecord;
import io.journalq.server.metadata.record.ClientQuotaRecord;
import io.journalq.server.metadata.record.ClusterRecord;
import io.journalq.server.metadata.record.ConfigRecord;
import io.journalq.server.metadata.record.ControllerRecord;
import io.journalq.server.metadata.record.NodeStartedRecord;
import io.journalq.server.metadata.record.PartitionChangesRecord;
import io.journalq.server.metadata.record.PartitionsRecord;
import io.journalq.server.metadata.record.ProducerIdsRecord;
import io.journalq.server.metadata.record.RemoveAclRecord;
import io.journalq.server.metadata.record.RemoveBrokerRecord;
import io.journalq.server.metadata.record.RemoveScramRecord;
import io.journalq.server.metadata.record.RemoveTopicRecord;
import io.journalq.server.metadata.record.ResourceConfigRecord;
import io.journalq.server.metadata.record.ScramRecord;
import io.journalq.server.metadata.record.SnapshotEndRecord;
import io.journalq.server.metadata.record.TopicRecord;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.util.List;

/**
 * The format of a metadata record in the log: frame version, type, version of the type, content. The frame version and
 * the type numbers are permanent; a changed content is a new version of its type. A record is written in the newest
 * version that every broker of the cluster can read. Stateless.
 */
final class MetadataRecordCodec {
    private static final byte FRAME_VERSION = 1;
    private static final int HEADER_SIZE_BYTES = 3;

    /** Types by number; a number is never reused. */
    private static final List<Type> TYPES = List.of(
            new Type(ClusterRecord.class, ClusterRecord::read, ClusterVersion.FIRST),
            new Type(TopicRecord.class, TopicRecord::read, ClusterVersion.FIRST),
            new Type(PartitionsRecord.class, PartitionsRecord::read, ClusterVersion.FIRST),
            new Type(RemoveTopicRecord.class, RemoveTopicRecord::read, ClusterVersion.FIRST),
            new Type(ConfigRecord.class, ConfigRecord::read, ClusterVersion.FIRST),
            new Type(ProducerIdsRecord.class, ProducerIdsRecord::read, ClusterVersion.FIRST),
            new Type(NodeStartedRecord.class, NodeStartedRecord::read, ClusterVersion.FIRST),
            new Type(ClientQuotaRecord.class, ClientQuotaRecord::read, ClusterVersion.FIRST),
            new Type(SnapshotEndRecord.class, SnapshotEndRecord::read, ClusterVersion.FIRST),
            new Type(ResourceConfigRecord.class, ResourceConfigRecord::read, ClusterVersion.FIRST),
            new Type(BrokerRecord.class, BrokerRecord::read, ClusterVersion.FIRST),
            new Type(BrokerChangeRecord.class, BrokerChangeRecord::read, ClusterVersion.FIRST),
            new Type(ControllerRecord.class, ControllerRecord::read, ClusterVersion.FIRST),
            new Type(ScramRecord.class, ScramRecord::read, ClusterVersion.FIRST),
            new Type(RemoveScramRecord.class, RemoveScramRecord::read, ClusterVersion.FIRST),
            new Type(AclRecord.class, AclRecord::read, ClusterVersion.FIRST),
            new Type(RemoveAclRecord.class, RemoveAclRecord::read, ClusterVersion.FIRST),
            new Type(PartitionChangesRecord.class, PartitionChangesRecord::read, ClusterVersion.FIRST),
            new Type(RemoveBrokerRecord.class, RemoveBrokerRecord::read, ClusterVersion.FIRST));

    private MetadataRecordCodec() {}

    /** All types of records that a log may contain, in the order of their numbers. */
    static List<Type> types() {
        return TYPES;
    }

    /**
     * A type of record.
     *
     * @param levels for each version, the lowest level of {@link ClusterVersion} at which it is written, in ascending
     *     order
     */
    record Type(Class<? extends Message> recordClass, Reader reader, List<Integer> levels) {
        Type(Class<? extends Message> recordClass, Reader reader, Integer... levels) {
            this(recordClass, reader, List.of(levels));
        }

        int highestVersion() {
            return levels.size() - 1;
        }

        /** The version to write at {@code level}, which every broker can read. */
        short versionAt(int level) {
            int version = highestVersion();
            while (version > 0 && levels.get(version) > level) {
                version--;
            }
            return (short) version;
        }
    }

    /** Reads the content of a record. */
    interface Reader {
        Message read(MessageReader in, short version);
    }

    /** @param level the finalized level, see {@link ClusterVersion} */
    static ByteBuf encode(Message record, int level, ByteBufAllocator allocator) {
        int type = 0;
        while (TYPES.get(type).recordClass() != record.getClass()) {
            type++;
        }
        short version = TYPES.get(type).versionAt(level);
        MessageWriter out = new MessageWriter(allocator);
        out.writeByte(FRAME_VERSION);
        out.writeByte((byte) type);
        out.writeByte((byte) version);
        record.write(out, version);
        List<ReferenceCounted> parts = out.finish();
        return (ByteBuf) parts.get(0);
    }

    /** Whether a record is of this type, whatever its version. Does not change the indexes of {@code value}. */
    static boolean isTypeOf(ByteBuf value, Class<? extends Message> recordClass) {
        int type = value.readableBytes() < HEADER_SIZE_BYTES ? -1 : value.getUnsignedByte(value.readerIndex() + 1);
        return type >= 0 && type < TYPES.size() && TYPES.get(type).recordClass() == recordClass;
    }

    static Message decode(ByteBuf value) throws IOException {
        if (value.readableBytes() < HEADER_SIZE_BYTES) {
            throw new IOException("metadata record of " + value.readableBytes() + " bytes");
        }
        byte frameVersion = value.readByte();
        int type = value.readUnsignedByte();
        short version = value.readUnsignedByte();
        if (frameVersion != FRAME_VERSION
                || type >= TYPES.size()
                || version > TYPES.get(type).highestVersion()) {
            throw new IOException("the metadata log contains a record (format " + frameVersion + ", type " + type
                    + ", version " + version + ") of a newer release; start that release");
        }
        return TYPES.get(type).reader().read(new MessageReader(value), version);
    }
}
