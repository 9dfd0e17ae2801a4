package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.group.consumer.assignor.Assignment;
import io.journalq.server.group.consumer.assignor.Assignor;
import io.journalq.server.group.consumer.assignor.Assignor.Subscriber;
import io.journalq.server.group.consumer.assignor.RangeAssignor;
import io.journalq.server.group.consumer.assignor.UniformAssignor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** To run one seed: {@code mvn test -Dtest=AssignorTest -Dassignor.seed=SEED}. */
class AssignorTest {
    private static final int SEEDS = 300;

    static Stream<Arguments> seeds() {
        Long one = Long.getLong("assignor.seed");
        LongStream seeds = one == null ? LongStream.range(0, SEEDS) : LongStream.of(one);
        return seeds.boxed()
                .flatMap(seed ->
                        Stream.of(Arguments.of(new UniformAssignor(), seed), Arguments.of(new RangeAssignor(), seed)));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldGiveEachPartitionToOneSubscriberWhenMembersAndTopicsChange(Assignor assignor, long seed) {
        Random random = new Random(seed);
        SortedMap<Uuid, Integer> topics = new TreeMap<>();
        List<Subscriber> members = new ArrayList<>();
        boolean alike = random.nextBoolean();

        for (int step = 0; step < 20; step++) {
            // given
            change(random, topics, members, alike);

            // when
            SortedMap<String, Assignment> targets = assignor.assign(members, topics);

            // then
            String trace = "mvn test -Dtest=AssignorTest -Dassignor.seed=" + seed + ", step " + step;
            assertComplete(trace, members, topics, targets);
            if (assignor instanceof UniformAssignor) {
                assertBalanced(trace, members, targets);
                assertThat(assignor.assign(withTargets(members, targets), topics))
                        .as("nothing moves when nothing changed; " + trace)
                        .isEqualTo(targets);
            }
            members = withTargets(members, targets);
        }
    }

    @Test
    void shouldMoveNoMoreThanTheShareOfANewMemberWhenSubscriptionsAreEqual() {
        // given
        SortedMap<Uuid, Integer> topics = topics(10, 12);
        List<Subscriber> members = new ArrayList<>();
        SortedMap<String, Assignment> before = new TreeMap<>();
        for (int count = 1; count <= 30; count++) {
            // when
            members.add(new Subscriber(memberId(count), null, new TreeSet<>(topics.keySet()), Assignment.EMPTY));
            SortedMap<String, Assignment> after = new UniformAssignor().assign(members, topics);

            // then
            int moved = 0;
            for (Map.Entry<String, Assignment> entry : before.entrySet()) {
                moved += entry.getValue().minus(after.get(entry.getKey())).size();
            }
            assertThat(moved).isLessThanOrEqualTo(120 / count);
            before = after;
            members = withTargets(members, after);
        }
    }

    @Test
    void shouldMoveOnlyWhatALeavingMemberHadWhenSubscriptionsAreEqual() {
        // given
        SortedMap<Uuid, Integer> topics = topics(3, 10);
        List<Subscriber> members = members(6, topics);
        members = withTargets(members, new UniformAssignor().assign(members, topics));

        // when
        List<Subscriber> rest = new ArrayList<>(members.subList(1, 6));
        SortedMap<String, Assignment> after = new UniformAssignor().assign(rest, topics);

        // then
        for (Subscriber member : rest) {
            assertThat(member.target().minus(after.get(member.memberId())).isEmpty())
                    .isTrue();
        }
    }

    @Test
    void shouldGiveNeighboursOfEveryTopicToTheSameMemberWhenRanging() {
        // given
        SortedMap<Uuid, Integer> topics = topics(2, 5);
        List<Subscriber> members = members(2, topics);

        // when
        SortedMap<String, Assignment> targets = new RangeAssignor().assign(members, topics);

        // then
        for (Uuid topic : topics.keySet()) {
            assertThat(targets.get(memberId(0)).partitions(topic)).containsExactly(0, 1, 2);
            assertThat(targets.get(memberId(1)).partitions(topic)).containsExactly(3, 4);
        }
    }

    @Test
    void shouldKeepRangesWhenStaticMembersComeBackUnderOtherIds() {
        // given
        SortedMap<Uuid, Integer> topics = topics(1, 4);
        SortedSet<Uuid> subscribed = new TreeSet<>(topics.keySet());
        Subscriber a = new Subscriber("m-z", "a", subscribed, Assignment.EMPTY);
        Subscriber b = new Subscriber("m-c", "b", subscribed, Assignment.EMPTY);
        Subscriber aAgain = new Subscriber("m-d", "a", subscribed, Assignment.EMPTY);

        // when
        Assignment before = new RangeAssignor().assign(List.of(b, a), topics).get("m-z");
        Assignment after =
                new RangeAssignor().assign(List.of(b, aAgain), topics).get("m-d");

        // then
        assertThat(after).isEqualTo(before);
        assertThat(before.partitions(topics.keySet().iterator().next())).containsExactly(0, 1);
    }

    @Test
    void shouldAssignTenThousandPartitionsToTwoThousandMembersWhenSubscriptionsAreEqualOrNot() {
        // given
        SortedMap<Uuid, Integer> topics = topics(100, 100);
        List<Uuid> ids = new ArrayList<>(topics.keySet());
        Random random = new Random(1);
        List<Subscriber> differing = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            SortedSet<Uuid> some = new TreeSet<>();
            for (int n = 0; n < 5; n++) {
                some.add(ids.get(random.nextInt(ids.size())));
            }
            differing.add(new Subscriber(memberId(i), null, some, Assignment.EMPTY));
        }

        // when, then
        for (List<Subscriber> members : List.of(members(2_000, topics), differing)) {
            SortedMap<String, Assignment> targets = new UniformAssignor().assign(members, topics);
            assertComplete("2,000 members", members, topics, targets);
            assertBalanced("2,000 members", members, targets);
        }
    }

    private static void change(
            Random random, SortedMap<Uuid, Integer> topics, List<Subscriber> members, boolean alike) {
        if (topics.size() < 2 || random.nextInt(4) == 0) {
            topics.put(new Uuid(random.nextInt(1_000), 1), random.nextInt(12));
        } else if (random.nextInt(8) == 0) {
            topics.remove(topics.keySet().iterator().next());
        }
        if (members.isEmpty() || random.nextInt(3) > 0) {
            String id = memberId(random.nextInt(10_000));
            members.removeIf(member -> member.memberId().equals(id));
            members.add(new Subscriber(id, null, new TreeSet<>(), Assignment.EMPTY));
        } else {
            members.remove(random.nextInt(members.size()));
        }
        members.replaceAll(member ->
                new Subscriber(member.memberId(), null, subscription(random, topics, member, alike), member.target()));
        members.sort((left, right) -> left.memberId().compareTo(right.memberId()));
    }

    private static SortedSet<Uuid> subscription(
            Random random, SortedMap<Uuid, Integer> topics, Subscriber member, boolean alike) {
        SortedSet<Uuid> subscribed = new TreeSet<>(alike ? topics.keySet() : member.topicIds());
        subscribed.retainAll(topics.keySet());
        if (!alike && (subscribed.isEmpty() || random.nextInt(10) == 0)) {
            topics.keySet().stream().filter(topic -> random.nextBoolean()).forEach(topic -> subscribed.add(topic));
        }
        return subscribed;
    }

    private static void assertComplete(
            String trace,
            List<Subscriber> members,
            SortedMap<Uuid, Integer> topics,
            SortedMap<String, Assignment> targets) {
        assertThat(targets.keySet()).as(trace).hasSize(members.size());
        Map<String, String> ownerByPartition = new TreeMap<>();
        SortedSet<Uuid> subscribed = new TreeSet<>();
        for (Subscriber member : members) {
            subscribed.addAll(member.topicIds());
            targets.get(member.memberId()).forEach((topicId, partition) -> {
                assertThat(member.topicIds()).as(trace).contains(topicId);
                assertThat(partition).as(trace).isLessThan(topics.get(topicId));
                assertThat(ownerByPartition.put(topicId + "-" + partition, member.memberId()))
                        .as("a second owner; " + trace)
                        .isNull();
            });
        }
        int expected = subscribed.stream().mapToInt(topic -> topics.get(topic)).sum();
        assertThat(ownerByPartition).as(trace).hasSize(expected);
    }

    /** Checks that no move of one partition would balance the loads of the two members better. */
    private static void assertBalanced(String trace, List<Subscriber> members, SortedMap<String, Assignment> targets) {
        SortedMap<Uuid, Integer> fewestByTopic = new TreeMap<>();
        for (Subscriber member : members) {
            int load = targets.get(member.memberId()).size();
            member.topicIds().forEach(topic -> fewestByTopic.merge(topic, load, Math::min));
        }
        for (Subscriber member : members) {
            Assignment target = targets.get(member.memberId());
            for (Uuid topic : target.topicIds()) {
                assertThat(target.size() - fewestByTopic.get(topic))
                        .as("loads differ by two where one could move; " + trace)
                        .isLessThan(2);
            }
        }
    }

    private static List<Subscriber> withTargets(List<Subscriber> members, SortedMap<String, Assignment> targets) {
        List<Subscriber> next = new ArrayList<>();
        members.forEach(member -> next.add(new Subscriber(
                member.memberId(), member.instanceId(), member.topicIds(), targets.get(member.memberId()))));
        return next;
    }

    private static List<Subscriber> members(int count, SortedMap<Uuid, Integer> topics) {
        List<Subscriber> members = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            members.add(new Subscriber(memberId(i), null, new TreeSet<>(topics.keySet()), Assignment.EMPTY));
        }
        return members;
    }

    private static SortedMap<Uuid, Integer> topics(int count, int partitionCount) {
        SortedMap<Uuid, Integer> topics = new TreeMap<>();
        for (int i = 1; i <= count; i++) {
            topics.put(new Uuid(0, i), partitionCount);
        }
        return topics;
    }

    private static String memberId(int number) {
        return String.format("member-%05d", number);
    }
}
