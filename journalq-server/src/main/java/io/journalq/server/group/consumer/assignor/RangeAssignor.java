package io.journalq.server.group.consumer.assignor;

import io.journalq.common.id.Uuid;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Assigns a range of neighbouring partitions to each subscriber of a topic. Topics with the same number of partitions
 * and the same subscribers are divided alike, so that a join of them finds equal keys at one member. Static members
 * come first, ordered by instance id, so that they keep their ranges when they return with another member id.
 */
public final class RangeAssignor implements Assignor {
    public static final String NAME = "range";

    private static final Comparator<Subscriber> ORDER = Comparator.comparing(
                    Subscriber::instanceId, Comparator.nullsLast(Comparator.naturalOrder()))
            .thenComparing(Subscriber::memberId);

    @Override
    public String assignorName() {
        return NAME;
    }

    @Override
    public SortedMap<String, Assignment> assign(List<Subscriber> members, Map<Uuid, Integer> partitionCountByTopic) {
        List<Subscriber> ordered = new ArrayList<>(members);
        ordered.sort(ORDER);
        SortedMap<Uuid, List<Subscriber>> subscribersByTopic = new TreeMap<>();
        SortedMap<String, Assignment.Builder> builders = new TreeMap<>();
        for (Subscriber member : ordered) {
            builders.put(member.memberId(), new Assignment.Builder());
            for (Uuid topicId : member.topicIds()) {
                subscribersByTopic
                        .computeIfAbsent(topicId, id -> new ArrayList<>())
                        .add(member);
            }
        }
        subscribersByTopic.forEach((topicId, subscribers) ->
                divide(topicId, partitionCountByTopic.getOrDefault(topicId, 0), subscribers, builders));
        SortedMap<String, Assignment> targets = new TreeMap<>();
        builders.forEach((memberId, builder) -> targets.put(memberId, builder.build()));
        return targets;
    }

    private static void divide(
            Uuid topicId,
            int partitionCount,
            List<Subscriber> subscribers,
            SortedMap<String, Assignment.Builder> builders) {
        int each = partitionCount / subscribers.size();
        int withOneMore = partitionCount % subscribers.size();
        int next = 0;
        for (int i = 0; next < partitionCount; i++) {
            int end = next + each + (i < withOneMore ? 1 : 0);
            Assignment.Builder builder = builders.get(subscribers.get(i).memberId());
            for (; next < end; next++) {
                builder.add(topicId, next);
            }
        }
    }
}
