package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatResponse;
import io.journalq.server.group.consumer.assignor.Assignment;
import io.journalq.server.group.consumer.assignor.Assignor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Members join, leave and fall silent. Heartbeats are lost, repeated or late, and their responses may be lost. Topics
 * are created, deleted and extended. The coordinator crashes, also between the records of one append. To run one seed:
 * {@code mvn test -Dtest=ConsumerGroupsPropertyTest -Dgroups.seed=SEED}.
 */
class ConsumerGroupsPropertyTest {
    private static final int SEEDS = 80;
    private static final int STEPS = 250;
    private static final String GROUP = "group";

    static LongStream seeds() {
        Long one = Long.getLong("groups.seed");
        return one == null ? LongStream.range(0, Integer.getInteger("groups.seeds", SEEDS)) : LongStream.of(one);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldKeepOneOwnerAndSettleWhenAnythingHappens(long seed) {
        World world = new World(seed);
        for (int step = 0; step < STEPS; step++) {
            world.step();
            world.assertInvariants(step);
        }
        world.assertSettles();
    }

    private static final class World {
        private final Random random;
        private final String trace;
        private final TestCoordinator coordinator;
        private final List<SimulatedMember> members = new ArrayList<>();
        /** Members that left or fell silent, and may return unchanged. */
        private final List<SimulatedMember> gone = new ArrayList<>();

        private final Map<String, Integer> epochByMember = new TreeMap<>();
        private ConsumerGroupHeartbeatRequest late;
        private long nowMs = 1_000_000;
        private int made;
        private int groupEpoch;

        World(long seed) {
            random = new Random(seed);
            trace = "mvn test -Dtest=ConsumerGroupsPropertyTest -Dgroups.seed=" + seed;
            coordinator = new TestCoordinator(TestTopics.of(TestTopics.topic(1, "a-1", 4)));
        }

        void step() {
            int choice = random.nextInt(100);
            if (choice < 8 && members.size() < 8) {
                members.add(new SimulatedMember(random, "m" + made++, random.nextInt(3)));
            } else if (choice < 12 && !members.isEmpty()) {
                gone.add(members.remove(random.nextInt(members.size())));
                leave(gone.get(gone.size() - 1));
            } else if (choice < 14 && !members.isEmpty()) {
                gone.add(members.remove(random.nextInt(members.size())));
            } else if (choice < 19) {
                changeTopics();
            } else if (choice < 22) {
                coordinator.crash(random, 0, nowMs);
            } else if (choice < 26) {
                nowMs += random.nextInt(TestCoordinator.SESSION_TIMEOUT_MS);
                coordinator.groups.onTick(nowMs);
            } else if (choice < 28 && !members.isEmpty()) {
                members.get(random.nextInt(members.size())).subscribe(random.nextInt(4));
            } else if (choice < 32 && late != null) {
                coordinator.heartbeat(late, nowMs);
            } else if (!members.isEmpty()) {
                heartbeat(members.get(random.nextInt(members.size())));
            }
            nowMs += random.nextInt(2_000);
        }

        private void leave(SimulatedMember member) {
            if (random.nextBoolean()) {
                coordinator.heartbeat(member.leaving(), nowMs);
            }
        }

        private void heartbeat(SimulatedMember member) {
            ConsumerGroupHeartbeatRequest request = member.heartbeat();
            int fate = random.nextInt(20);
            if (fate == 0) {
                // Requests with partitions use one connection, so that later requests do not overtake them.
                late = request.topicPartitions() == null ? request : late;
                member.onNoResponse();
                return;
            }
            int journalSize = coordinator.journalSize();
            ConsumerGroupHeartbeatResponse response = coordinator.heartbeat(request, nowMs);
            if (fate == 1) {
                response = coordinator.heartbeat(request, nowMs);
            }
            if (fate == 2) {
                member.onNoResponse();
            } else if (fate == 3) {
                // No client received what is lost: responses wait until their records are safe.
                coordinator.crash(random, random.nextInt(coordinator.journalSize() - journalSize + 1), nowMs);
                member.onNoResponse();
                ConsumerGroup group = coordinator.groups.group(GROUP);
                groupEpoch = group == null ? 0 : group.epoch();
                epochByMember.clear();
            } else {
                member.onResponse(response);
            }
        }

        private void changeTopics() {
            TestTopics topics = (TestTopics) coordinator.topics();
            int number = 1 + random.nextInt(5);
            String name = "a-" + number;
            Topics.Topic topic = topics.byName(name);
            if (topic == null) {
                topics = topics.with(TestTopics.topic(100 * made + number, name, 1 + random.nextInt(6)));
            } else if (random.nextInt(3) == 0) {
                topics = topics.without(name);
            } else {
                topics = topics.with(new Topics.Topic(topic.id(), name, topic.partitionCount() + random.nextInt(3)));
            }
            coordinator.topics(topics);
        }

        void assertInvariants(int step) {
            ConsumerGroup group = coordinator.groups.group(GROUP);
            if (group == null) {
                return;
            }
            String as = trace + ", step " + step;
            assertThat(group.epoch()).as(as).isGreaterThanOrEqualTo(groupEpoch);
            assertThat(group.assignmentEpoch()).as(as).isLessThanOrEqualTo(group.epoch());
            groupEpoch = group.epoch();
            Map<String, String> ownerByPartition = new TreeMap<>();
            epochByMember.keySet().retainAll(group.members().keySet());
            for (String memberId : group.members().keySet()) {
                CurrentAssignment current = group.current(memberId);
                current.owned().forEach((topicId, partition) -> assertThat(
                                ownerByPartition.put(topicId + "-" + partition, memberId))
                        .as("a second owner; " + as)
                        .isNull());
                assertThat(current.memberEpoch()).as(as).isLessThanOrEqualTo(group.assignmentEpoch());
                Integer before = epochByMember.put(memberId, current.memberEpoch());
                if (before != null) {
                    assertThat(current.memberEpoch()).as(as).isGreaterThanOrEqualTo(before);
                }
            }
            assertNoFencedMemberCommits(group, as);
            for (SimulatedMember member : members) {
                if (member.knowsItsEpoch(group)) {
                    assertThat(member.owned()
                                    .minus(group.current(member.id()).owned())
                                    .isEmpty())
                            .as("a member uses what is not its own; " + as)
                            .isTrue();
                }
            }
        }

        /**
         * Checks that a client that may commit is a member with the newest epoch, and that it owns the partitions that
         * it has read.
         */
        private void assertNoFencedMemberCommits(ConsumerGroup group, String as) {
            Stream.concat(members.stream(), gone.stream())
                    .filter(member -> group.checkCommit(member.id(), null, member.epoch(), nowMs) == ErrorCode.NONE)
                    .forEach(member -> assertThat(member.knowsItsEpoch(group))
                            .as("a fenced member commits; " + as)
                            .isTrue());
        }

        void assertSettles() {
            for (int round = 0; round < 12; round++) {
                nowMs += TestCoordinator.SESSION_TIMEOUT_MS / 5;
                for (SimulatedMember member : members) {
                    member.onResponse(coordinator.heartbeat(member.heartbeat(), nowMs));
                }
                coordinator.groups.onTick(nowMs);
                assertInvariants(STEPS + round);
            }
            ConsumerGroup group = coordinator.groups.group(GROUP);
            assertThat(group == null ? 0 : group.memberCount()).as(trace).isEqualTo(members.size());
            if (group == null || members.isEmpty()) {
                return;
            }
            assertThat(group.stateName()).as(trace).isEqualTo("Stable");
            Assignment.Builder all = new Assignment.Builder();
            Assignment.Builder expected = new Assignment.Builder();
            for (Assignor.Subscriber subscriber : group.subscribers(coordinator.topics())) {
                all.addAll(group.current(subscriber.memberId()).assigned());
                for (var topicId : subscriber.topicIds()) {
                    int count = coordinator.topics().byId(topicId).partitionCount();
                    for (int partition = 0; partition < count; partition++) {
                        expected.add(topicId, partition);
                    }
                }
            }
            assertThat(all.build()).as(trace).isEqualTo(expected.build());
            members.forEach(member -> assertThat(member.owned())
                    .as(trace)
                    .isEqualTo(group.current(member.id()).assigned()));
            assertBalanced(group);
        }

        private void assertBalanced(ConsumerGroup group) {
            List<Assignor.Subscriber> subscribers = group.subscribers(coordinator.topics());
            for (Assignor.Subscriber more : subscribers) {
                Assignment its = group.current(more.memberId()).assigned();
                for (Assignor.Subscriber less : subscribers) {
                    boolean couldMove = its.topicIds().stream()
                            .anyMatch(id -> less.topicIds().contains(id));
                    int difference = its.size()
                            - group.current(less.memberId()).assigned().size();
                    assertThat(couldMove && difference > 1)
                            .as("not balanced; " + trace)
                            .isFalse();
                }
            }
        }
    }
}
