package io.journalq.server.group.consumer.assignor;

import io.journalq.common.id.Uuid;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * Assigns the partitions of topics to the members that subscribe to them. Each partition with subscribers is assigned
 * to exactly one of them. A pure function; any thread.
 */
public interface Assignor {
    /** The name by which clients request this assignor. */
    String assignorName();

    /**
     * Computes a target.
     *
     * @param members by member id, ascending
     * @param partitionCountByTopic all topics that members subscribe to; may contain others
     * @return the target of every member, by member id
     */
    SortedMap<String, Assignment> assign(List<Subscriber> members, Map<Uuid, Integer> partitionCountByTopic);

    /**
     * A member, as input to an assignor.
     *
     * @param memberId identifies the member
     * @param instanceId the group instance id of a static member; null for a dynamic one
     * @param topicIds the topics of its subscription that exist
     * @param target its previous target
     */
    record Subscriber(String memberId, String instanceId, SortedSet<Uuid> topicIds, Assignment target) {}
}
