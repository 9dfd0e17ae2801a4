package io.journalq.server.group.consumer;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.BadFrameException;
import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.MessageWriter;
import io.journalq.common.protocol.message.ConsumerProtocolAssignment;
import io.journalq.common.protocol.message.ConsumerProtocolSubscription;
import io.journalq.server.group.consumer.assignor.Assignment;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The messages that consumers of the classic protocol exchange through the coordinator: subscriptions and assignments,
 * each preceded by its version. The coordinator decodes them only when it has to. Pure functions.
 */
public final class EmbeddedProtocol {
    /** The protocol type of consumers. */
    public static final String TYPE = "consumer";

    private EmbeddedProtocol() {}

    /** The subscription in a consumer's metadata; empty if the bytes are not a subscription. */
    public static Optional<ConsumerProtocolSubscription> subscription(byte[] metadata) {
        try {
            MessageReader in = new MessageReader(Unpooled.wrappedBuffer(metadata));
            short version = in.readShort();
            if (version < 0) {
                return Optional.empty();
            }
            // Later versions only add fields behind the known ones.
            short known = (short) Math.min(version, ConsumerProtocolSubscription.HIGHEST_VERSION);
            return Optional.of(ConsumerProtocolSubscription.read(in, known));
        } catch (BadFrameException notASubscription) {
            return Optional.empty();
        }
    }

    /** The partitions of an assignment that exist; none if the bytes are not an assignment. */
    static Assignment assignment(byte[] bytes, Topics topics) {
        Assignment.Builder assignment = new Assignment.Builder();
        try {
            MessageReader in = new MessageReader(Unpooled.wrappedBuffer(bytes));
            short version = in.readShort();
            if (version < 0) {
                return Assignment.EMPTY;
            }
            short known = (short) Math.min(version, ConsumerProtocolAssignment.HIGHEST_VERSION);
            for (var topic : ConsumerProtocolAssignment.read(in, known).assignedPartitions()) {
                addExisting(assignment, topics.byName(topic.topic()), topic.partitions());
            }
        } catch (BadFrameException notAnAssignment) {
            return Assignment.EMPTY;
        }
        return assignment.build();
    }

    /** The partitions that a consumer reports as owned, as far as they exist. */
    static Assignment owned(ConsumerProtocolSubscription subscription, Topics topics) {
        Assignment.Builder owned = new Assignment.Builder();
        for (var topic : subscription.ownedPartitions()) {
            addExisting(owned, topics.byName(topic.topic()), topic.partitions());
        }
        return owned.build();
    }

    private static void addExisting(Assignment.Builder assignment, Topics.Topic topic, List<Integer> partitions) {
        if (topic != null) {
            for (int partition : partitions) {
                if (partition >= 0 && partition < topic.partitionCount()) {
                    assignment.add(topic.id(), partition);
                }
            }
        }
    }

    /**
     * Encodes an assignment in the format that consumers read.
     *
     * @param metadata the consumer's metadata: the assignment is encoded in the same version
     */
    static byte[] bytes(Assignment assignment, Topics topics, byte[] metadata) {
        List<ConsumerProtocolAssignment.TopicPartition> partitions = new ArrayList<>();
        for (Uuid topicId : assignment.topicIds()) {
            Topics.Topic topic = topics.byId(topicId);
            if (topic != null) {
                partitions.add(new ConsumerProtocolAssignment.TopicPartition()
                        .setTopic(topic.name())
                        .setPartitions(assignment.partitions(topicId)));
            }
        }
        short told = metadata.length < Short.BYTES
                ? ConsumerProtocolAssignment.LOWEST_VERSION
                : Unpooled.wrappedBuffer(metadata).getShort(0);
        short version = (short) Math.max(
                ConsumerProtocolAssignment.LOWEST_VERSION, Math.min(told, ConsumerProtocolAssignment.HIGHEST_VERSION));
        MessageWriter out = new MessageWriter(UnpooledByteBufAllocator.DEFAULT);
        out.writeShort(version);
        new ConsumerProtocolAssignment().setAssignedPartitions(partitions).write(out, version);
        ByteBuf written = (ByteBuf) out.finish().get(0);
        byte[] bytes = ByteBufUtil.getBytes(written);
        written.release();
        return bytes;
    }
}
