package io.journalq.server.api.group;

import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.SyncGroupRequest;

/**
 * How much a member may have its group remember, in memory and in the log of groups. Far beyond what clients send: the
 * subscription of one that owns 10,000 partitions takes some 100 KiB. Stateless.
 */
final class MemberLimits {
    /** Of an instance's id, or a rack's, in characters. */
    static final int MAX_ID_LENGTH = 1_024;

    /** Of what one member says of itself: its subscription in every protocol that it offers, or the names of its topics. */
    static final int MAX_METADATA_BYTES = 1 << 20;

    /** Of what a leader says of all members. */
    static final int MAX_ASSIGNMENTS_BYTES = 32 << 20;

    private MemberLimits() {}

    static boolean isWithin(JoinGroupRequest request) {
        long sizeBytes = request.protocols().stream()
                .mapToLong(protocol ->
                        protocol.name().length() + (long) protocol.metadata().readableBytes())
                .sum();
        return sizeBytes <= MAX_METADATA_BYTES && isShort(request.groupInstanceId());
    }

    static boolean isWithin(SyncGroupRequest request) {
        long sizeBytes = request.assignments().stream()
                .mapToLong(assignment -> assignment.assignment().readableBytes())
                .sum();
        return sizeBytes <= MAX_ASSIGNMENTS_BYTES;
    }

    static boolean isWithin(ConsumerGroupHeartbeatRequest request) {
        long length = request.subscribedTopicNames() == null
                ? 0
                : request.subscribedTopicNames().stream()
                        .mapToLong(String::length)
                        .sum();
        return length <= MAX_METADATA_BYTES
                && isShort(request.memberId())
                && isShort(request.instanceId())
                && isShort(request.rackId());
    }

    private static boolean isShort(String id) {
        return id == null || id.length() <= MAX_ID_LENGTH;
    }
}
