package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.message.ListGroupsRequest;
import io.journalq.common.protocol.message.ListGroupsResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many members of many groups, each with its own socket. All join, then each group gets one more member, then each
 * loses one. Every change costs one rebalance, and afterwards no partition moves. Members send heartbeats in rounds. A
 * round begins when all responses of the previous round have arrived, so the speed of the machine does not matter. Full
 * size: {@code -Djournalq.groups=200}.
 */
class ManyMembersTest {
    private static final int GROUPS = Integer.getInteger("journalq.groups", 20);
    private static final int MEMBERS_PER_GROUP = 10;
    private static final int PARTITIONS = 24;
    private static final int QUIET_ROUNDS = 5;
    private static final int LIST_VERSION = 5;
    private static final String TOPIC = "t";
    private static final Duration LIMIT = Duration.ofMinutes(4);

    /** Several rounds are needed: to learn of a change, to revoke partitions, and to receive them. */
    private static final int MAX_ROUNDS = 30;

    @TempDir
    private Path dataDirectory;

    private final List<ScaleMember> members = new ArrayList<>();
    private final List<String> report = new ArrayList<>();
    private TestBroker broker;
    private MemberSockets sockets;
    private int made;

    /** Creates members of one protocol. */
    private interface NewMember {
        ScaleMember of(MemberSockets.Connection connection, int group);
    }

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("group.initial.rebalance.delay.ms", "1000")
                .with("group.consumer.session.timeout.ms", "600000")
                .with("group.consumer.max.session.timeout.ms", "600000")
                .start();
        broker.createTopic(TOPIC, PARTITIONS, Map.of());
        sockets = new MemberSockets(broker.port());
        try (WireClient client = new WireClient(broker.port())) {
            ManyGroups.awaitLoaded(broker, client, GROUPS);
        }
    }

    @AfterEach
    void stop() throws IOException {
        sockets.close();
        broker.close();
    }

    @Test
    void shouldRebalanceOnceForEachChangeAndSettleWhenMembersSpeakTheClassicProtocol() throws Exception {
        check((connection, group) -> new ClassicScaleMember(connection, group, TOPIC, PARTITIONS), "classic");
    }

    @Test
    void shouldRebalanceOnceForEachChangeAndSettleWhenMembersSpeakTheConsumerProtocol() throws Exception {
        check((connection, group) -> new ConsumerScaleMember(connection, group, TOPIC, "member-" + made++), "consumer");
    }

    private void check(NewMember protocol, String groupType) throws Exception {
        // given
        for (int i = 0; i < GROUPS * MEMBERS_PER_GROUP; i++) {
            members.add(protocol.of(sockets.connect(), i % GROUPS));
        }
        settle("joined");
        Map<Integer, Integer> joined = generations();

        // when each group gets one more
        for (int group = 0; group < GROUPS; group++) {
            members.add(protocol.of(sockets.connect(), group));
        }
        settle("one more in each");

        // then
        Map<Integer, Integer> grown = generations();
        assertThat(grown)
                .allSatisfy((group, generation) -> assertThat(generation).isEqualTo(joined.get(group) + 1));

        // when each group loses one
        List<ScaleMember> leaving = members.subList(0, GROUPS);
        leaving.forEach(ScaleMember::leave);
        awaitResponses(leaving);
        leaving.clear();
        settle("one less in each");

        // then
        Map<Integer, Integer> shrunk = generations();
        assertThat(shrunk)
                .allSatisfy((group, generation) -> assertThat(generation).isEqualTo(grown.get(group) + 1));

        // and no partition moves any more
        for (int round = 0; round < QUIET_ROUNDS; round++) {
            members.forEach(ScaleMember::act);
            awaitResponses(members);
        }
        assertThat(generations()).isEqualTo(shrunk);
        assertShared();
        assertListed(groupType);
        System.out.println(
                GROUPS * MEMBERS_PER_GROUP + " members in " + GROUPS + " " + groupType + " groups: " + report);
    }

    /** Every member takes its next step until all have their partitions. */
    private void settle(String what) throws IOException {
        long beginNanos = System.nanoTime();
        int rounds = 0;
        while (!isSettled()) {
            for (ScaleMember member : members) {
                member.act();
            }
            awaitProgress();
            rounds++;
        }
        report.add(what + " after "
                + Duration.ofNanos(System.nanoTime() - beginNanos).toMillis() + " ms, " + rounds + " rounds");
        assertThat(rounds).as(what).isLessThanOrEqualTo(MAX_ROUNDS);
    }

    private boolean isSettled() {
        Map<Integer, Integer> generations = new TreeMap<>();
        for (ScaleMember member : members) {
            Integer other = generations.putIfAbsent(member.group(), member.generation());
            if (member.waits() || !member.isStable() || (other != null && other != member.generation())) {
                return false;
            }
        }
        return members.stream().mapToInt(member -> member.partitions().size()).sum() == GROUPS * PARTITIONS;
    }

    /** Waits until every member has its response, except those that wait for others of their group. */
    private void awaitProgress() throws IOException {
        long deadlineNanos = System.nanoTime() + LIMIT.toNanos();
        while (isSomethingUnderWay()) {
            assertThat(System.nanoTime()).as("deadline").isLessThan(deadlineNanos);
            sockets.poll(10);
        }
    }

    /** A joining member waits until others take their turn, because they do not know of the rebalance yet. */
    private boolean isSomethingUnderWay() {
        boolean[] othersTurn = new boolean[GROUPS];
        members.stream().filter(member -> !member.waits()).forEach(member -> othersTurn[member.group()] = true);
        return members.stream()
                .anyMatch(member -> member.waits() && !(member.mayWaitForOthers() && othersTurn[member.group()]));
    }

    private void awaitResponses(List<ScaleMember> expected) throws IOException {
        long deadlineNanos = System.nanoTime() + LIMIT.toNanos();
        while (expected.stream().anyMatch(ScaleMember::waits)) {
            assertThat(System.nanoTime()).as("deadline").isLessThan(deadlineNanos);
            sockets.poll(10);
        }
    }

    /** The generation or epoch of each group, which must be that of all its members. */
    private Map<Integer, Integer> generations() {
        Map<Integer, Integer> generations = new TreeMap<>();
        for (ScaleMember member : members) {
            generations.put(member.group(), member.generation());
        }
        assertThat(generations).hasSize(GROUPS);
        return generations;
    }

    /** Each partition has one owner in each group. */
    private void assertShared() {
        Map<Integer, List<Integer>> owned = new TreeMap<>();
        members.forEach(member -> owned.computeIfAbsent(member.group(), group -> new ArrayList<>())
                .addAll(member.partitions()));
        List<Integer> all = IntStream.range(0, PARTITIONS).boxed().toList();
        assertThat(owned)
                .allSatisfy((group, partitions) -> assertThat(partitions).containsExactlyInAnyOrderElementsOf(all));
    }

    private void assertListed(String groupType) throws IOException {
        try (WireClient client = new WireClient(broker.port())) {
            ListGroupsResponse response = client.call(
                    ListGroupsResponse.class,
                    new ListGroupsRequest().setStatesFilter(List.of("Stable")).setTypesFilter(List.of(groupType)),
                    LIST_VERSION);
            assertThat(response.groups()).hasSize(GROUPS);
        }
    }
}
