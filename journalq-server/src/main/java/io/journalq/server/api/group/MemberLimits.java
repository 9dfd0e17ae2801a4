package io.journalq.server.api.group;

import io.journalq.common.protocol.MessageReader;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.server.api.RequestContext;
import io.journalq.server.group.model.Group.Origin;
import io.netty.buffer.ByteBufUtil;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * Limits on the data that a group stores for a member, in memory and in its log. They are far above the usual size: the
 * subscription of a member with 10,000 partitions has about 100 KiB. Stateless.
 */
final class MemberLimits {
    /** Maximum length of a group instance id or a rack, in characters. */
    static final int MAX_ID_LENGTH = 1_024;

    /**
     * Maximum size of a member's data: its subscriptions in all protocols that it supports, or the names of its topics.
     */
    static final int MAX_METADATA_BYTES = 1 << 20;

    /** Maximum size of the assignments that a leader sends for all members. */
    static final int MAX_ASSIGNMENTS_BYTES = 32 << 20;

    /** Maximum length of a client id that is kept, in characters. */
    private static final int MAX_CLIENT_ID_LENGTH = 256;

    private MemberLimits() {}

    static boolean isWithin(JoinGroupRequest request) {
        long sizeBytes = request.protocols().stream()
                .mapToLong(protocol ->
                        protocol.name().length() + (long) protocol.metadata().readableBytes())
                .sum();
        return sizeBytes <= MAX_METADATA_BYTES
                && isShort(request.groupInstanceId())
                && isStorable(request.memberId())
                && isStorable(request.protocolType())
                && request.protocols().stream().allMatch(protocol -> isStorable(protocol.name()));
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
                && (request.subscribedTopicNames() == null
                        || request.subscribedTopicNames().stream().allMatch(MemberLimits::isStorable))
                && isShort(request.memberId())
                && isShort(request.instanceId())
                && isShort(request.rackId());
    }

    private static boolean isShort(String id) {
        return id == null || id.length() <= MAX_ID_LENGTH;
    }

    /**
     * Whether a record can have the text. A text of a request can be longer, because each byte of malformed UTF-8 is
     * decoded to a character of three bytes.
     */
    private static boolean isStorable(String text) {
        return ByteBufUtil.utf8Bytes(text) <= MessageReader.MAX_STRING_SIZE_BYTES;
    }

    /** The client id and the address of a client, as its group stores them. */
    static Origin originOf(RequestContext context) {
        SocketAddress remote = context.remoteAddress();
        String host = remote instanceof InetSocketAddress internet
                ? internet.getAddress().toString()
                : String.valueOf(remote);
        String clientId = context.clientId() == null ? "" : context.clientId();
        return new Origin(clientId.substring(0, Math.min(MAX_CLIENT_ID_LENGTH, clientId.length())), host);
    }
}
