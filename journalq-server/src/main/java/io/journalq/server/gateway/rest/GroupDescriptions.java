package io.journalq.server.gateway.rest;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupDescribeRequest;
import io.journalq.common.protocol.message.ConsumerGroupDescribeResponse;
import io.journalq.common.protocol.message.DescribeGroupsRequest;
import io.journalq.common.protocol.message.DescribeGroupsResponse;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** Describes groups of both protocols, classic ones and those of KIP-848. Stateless. */
final class GroupDescriptions {
    private static final int MAX_NAME_BYTES = 1_000;

    private GroupDescriptions() {}

    /**
     * A group.
     *
     * @param type {@code classic} or {@code consumer}
     * @param assignor how partitions are assigned; may be empty
     */
    record Described(String state, String type, String assignor, List<Member> members) {}

    /**
     * A member of a group.
     *
     * @param instanceId its static identity; may be null
     * @param assigned its partitions, by topic
     */
    record Member(String id, String instanceId, String clientId, String host, Map<String, List<Integer>> assigned) {}

    /**
     * What was found.
     *
     * @param groups those that exist and that the client may describe, by name
     * @param errors why others are not described, by name
     */
    record Found(Map<String, Described> groups, Map<String, ErrorCode> errors) {}

    /** Describes groups. */
    static void find(RestRequest request, List<String> groups, Consumer<Found> next) {
        Found found = new Found(new HashMap<>(), new HashMap<>());
        if (groups.isEmpty()) {
            next.accept(found);
            return;
        }
        ConsumerGroupDescribeRequest message = new ConsumerGroupDescribeRequest().setGroupIds(groups);
        request.call(ApiKey.CONSUMER_GROUP_DESCRIBE, 1, message, ConsumerGroupDescribeResponse.class, response -> {
            List<String> others = new ArrayList<>();
            for (ConsumerGroupDescribeResponse.DescribedGroup group : response.groups()) {
                ErrorCode error = ErrorCode.of(group.errorCode());
                if (error == ErrorCode.NONE) {
                    found.groups.put(group.groupId(), consumer(group));
                } else if (error == ErrorCode.GROUP_ID_NOT_FOUND || error == ErrorCode.UNSUPPORTED_VERSION) {
                    others.add(group.groupId());
                } else {
                    found.errors.put(group.groupId(), error);
                }
            }
            findClassic(request, others, found, next);
        });
    }

    private static void findClassic(RestRequest request, List<String> groups, Found found, Consumer<Found> next) {
        if (groups.isEmpty()) {
            next.accept(found);
            return;
        }
        DescribeGroupsRequest message = new DescribeGroupsRequest().setGroups(groups);
        request.call(ApiKey.DESCRIBE_GROUPS, 6, message, DescribeGroupsResponse.class, response -> {
            for (DescribeGroupsResponse.DescribedGroup group : response.groups()) {
                ErrorCode error = ErrorCode.of(group.errorCode());
                if (error == ErrorCode.NONE) {
                    found.groups.put(group.groupId(), classic(group));
                } else {
                    found.errors.put(group.groupId(), error);
                }
            }
            next.accept(found);
        });
    }

    private static Described consumer(ConsumerGroupDescribeResponse.DescribedGroup group) {
        List<Member> members = new ArrayList<>();
        for (ConsumerGroupDescribeResponse.Member member : group.members()) {
            Map<String, List<Integer>> assigned = new TreeMap<>();
            member.assignment().topicPartitions().forEach(topic -> assigned.put(topic.topicName(), topic.partitions()));
            members.add(new Member(
                    member.memberId(), member.instanceId(), member.clientId(), member.clientHost(), assigned));
        }
        return new Described(group.groupState(), "consumer", group.assignorName(), members);
    }

    private static Described classic(DescribeGroupsResponse.DescribedGroup group) {
        List<Member> members = new ArrayList<>();
        for (DescribeGroupsResponse.DescribedGroupMember member : group.members()) {
            members.add(new Member(
                    member.memberId(),
                    member.groupInstanceId(),
                    member.clientId(),
                    member.clientHost(),
                    assignment(member.memberAssignment())));
        }
        return new Described(group.groupState(), "classic", group.protocolData(), members);
    }

    /** Reads the assignment of a consumer. What is in another format, such as that of Kafka Connect, is left out. */
    private static Map<String, List<Integer>> assignment(ByteBuf bytes) {
        Map<String, List<Integer>> assigned = new TreeMap<>();
        try {
            ByteBuf in = bytes.duplicate();
            if (in.readableBytes() < Short.BYTES + Integer.BYTES || in.readShort() < 0) {
                return Map.of();
            }
            for (int topics = in.readInt(); topics > 0; topics--) {
                int length = in.readShort();
                if (length < 0 || length > MAX_NAME_BYTES) {
                    return Map.of();
                }
                String topic =
                        in.readCharSequence(length, StandardCharsets.UTF_8).toString();
                List<Integer> partitions = new ArrayList<>();
                for (int count = in.readInt(); count > 0; count--) {
                    partitions.add(in.readInt());
                }
                assigned.put(topic, partitions);
            }
        } catch (IndexOutOfBoundsException otherFormat) {
            return Map.of();
        }
        return assigned;
    }
}
