package io.journalq.server.group.consumer.assignor;

import io.journalq.common.id.Uuid;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;

/**
 * Divides the partitions of topics among the members that subscribe to them: each partition that somebody subscribes to
 * goes to exactly one subscriber. A pure function; any thread.
 */
public interface Assignor {
    /** The name by which clients ask for it. */
    String assignorName();

    /**
     * Computes a target.
     *
     * @param members by member id, ascending
     * @param partitionCountByTopic every topic that a member subscribes to, and perhaps others
     * @return for every member, by member id
     */
    SortedMap<String, Assignment> assign(List<Subscriber> members, Map<Uuid, Integer> partitionCountByTopic);

    /**
     * A member as an assignor sees it.
     *
     * @param memberId names the member
     * @param instanceId the static member's name; null for a dynamic one
     * @param topicIds what it subscribes to, of topics that exist
     * @param target what it was to have until now
     */
    record Subscriber(String memberId, String instanceId, SortedSet<Uuid> topicIds, Assignment target) {}
}
