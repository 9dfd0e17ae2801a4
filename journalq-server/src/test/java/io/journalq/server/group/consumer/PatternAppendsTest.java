package io.journalq.server.group.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.group.consumer.assignor.UniformAssignor;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.group.record.ConsumerGroupRegularExpressionValue;
import io.journalq.server.memory.MemoryAccount;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The records of a group whose members subscribe with patterns to very many topics. */
class PatternAppendsTest {
    private static final int MEMBERS = 20;
    private static final int TOPICS = 20_000;

    /** A batch of the topic can have 64 MiB. */
    private static final long MAX_APPEND_CHARACTERS = 48 << 20;

    private final List<Long> appendCharacters = new ArrayList<>();
    private final ConsumerGroups groups = new ConsumerGroups(
            new ConsumerGroupLimits(MEMBERS, 5_000, 45_000, MigrationPolicy.DISABLED, List.of(new UniformAssignor())),
            this::append,
            MemoryAccount.UNBOUNDED,
            () -> "unused",
            (group, nowMs) -> false);

    @Test
    void shouldAppendWhatFitsIntoABatchWhenNewTopicsMatchManyPatterns() {
        // given members with different patterns
        groups.onLoaded(0);
        groups.onTopics(TestTopics.of());
        for (int i = 0; i < MEMBERS; i++) {
            heartbeat("member-" + i, 0, "t.*|" + i);
        }

        // when very many topics match all of them
        groups.onTopics(new ManyTopics());
        heartbeat("member-0", 0, "t.*|0");

        // then each append fits into a batch
        assertThat(groups.group("group").topicNamesByPattern().get("t.*|19")).hasSize(TOPICS);
        assertThat(appendCharacters).allMatch(characters -> characters <= MAX_APPEND_CHARACTERS);
    }

    private static final class ManyTopics implements Topics {
        private final Map<String, Topic> byName = new TreeMap<>();
        private final Map<Uuid, Topic> byId = new TreeMap<>();

        ManyTopics() {
            for (int i = 0; i < TOPICS; i++) {
                Topic topic = TestTopics.topic(i, "t" + "x".repeat(200) + i, 1);
                byName.put(topic.name(), topic);
                byId.put(topic.id(), topic);
            }
        }

        @Override
        public Topic byName(String name) {
            return byName.get(name);
        }

        @Override
        public Topic byId(Uuid id) {
            return byId.get(id);
        }

        @Override
        public Collection<Topic> all() {
            return byName.values();
        }
    }

    private void append(List<CoordinatorRecord> records) {
        long characters = 0;
        for (CoordinatorRecord record : records) {
            if (record.value() instanceof ConsumerGroupRegularExpressionValue value) {
                characters += value.topics().stream().mapToLong(String::length).sum();
            }
            groups.replay(record);
        }
        appendCharacters.add(characters);
    }

    private void heartbeat(String memberId, int epoch, String pattern) {
        int error = groups.onHeartbeat(
                        new Origin("client", "/127.0.0.1"),
                        (short) 1,
                        new ConsumerGroupHeartbeatRequest()
                                .setGroupId("group")
                                .setMemberId(memberId)
                                .setMemberEpoch(epoch)
                                .setRebalanceTimeoutMs(60_000)
                                .setSubscribedTopicRegex(pattern)
                                .setTopicPartitions(List.of()),
                        1_000)
                .errorCode();
        assertThat(error).isZero();
    }
}
