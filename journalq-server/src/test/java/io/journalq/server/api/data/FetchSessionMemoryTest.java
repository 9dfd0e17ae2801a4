package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.server.memory.ChargedBytes;
import io.journalq.server.memory.RetainedBytes;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The memory that fetch sessions charge for their partitions. */
class FetchSessionMemoryTest {
    private final ChargedBytes memory = new ChargedBytes();
    private final SessionBudget room = new SessionBudget(1_000, memory);

    private FetchSession session(int id) {
        return new FetchSession(id, false, null, room);
    }

    private static FetchRequest request(String topic, int partitions) {
        return new FetchRequest()
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic(topic)
                        .setPartitions(IntStream.range(0, partitions)
                                .mapToObj(i -> new FetchRequest.FetchPartition().setPartition(i))
                                .toList())));
    }

    private static FetchRequest forget(String topic, Integer... partitions) {
        return new FetchRequest()
                .setForgottenTopicsData(List.of(
                        new FetchRequest.ForgottenTopic().setTopic(topic).setPartitions(List.of(partitions))));
    }

    @Test
    void shouldChargeWhatTheRequestWasEstimatedToTakeWhenAllIsNew() {
        FetchRequest request = request("topic", 10);

        session(1).update(request);

        assertThat(memory.bytes)
                .isEqualTo(FetchSession.Growth.of(request).bytes())
                .isPositive();
    }

    @Test
    void shouldChargeEachPartitionOnceWhenItIsNamedAgain() {
        FetchSession session = session(1);
        session.update(request("topic", 10));
        long charged = memory.bytes;

        session.update(request("topic", 10));

        assertThat(memory.bytes).isEqualTo(charged);
    }

    @Test
    void shouldGiveBackATopicWithItsLastPartitionWhenItIsForgotten() {
        FetchSession session = session(1);
        session.update(request("kept", 1));
        long kept = memory.bytes;
        session.update(request("forgotten", 2));

        session.update(forget("forgotten", 0));
        assertThat(memory.bytes).isGreaterThan(kept);
        session.update(forget("forgotten", 1));

        assertThat(memory.bytes).isEqualTo(kept);
    }

    @Test
    void shouldGiveEverythingBackOnceWhenItIsClosedTwice() {
        FetchSession session = session(1);
        session.update(request("topic", 10));

        session.close();
        session.close();

        assertThat(memory.bytes).isZero();
    }

    @Test
    void shouldChargeNothingWhenThereIsNoSession() {
        session(FetchSession.NO_SESSION).update(request("topic", 10));

        assertThat(memory.bytes).isZero();
    }

    @Test
    void shouldEstimateSessionsWhenTopicsHaveOnePartition() {
        assertEstimate("topics of a session", 300, 1);
    }

    @Test
    void shouldEstimateSessionsWhenTopicsHaveManyPartitions() {
        assertEstimate("partitions of a session", 5, 200);
    }

    private void assertEstimate(String state, int topics, int partitions) {
        FetchSession session = session(1);
        long before = RetainedBytes.of(session);
        for (int i = 0; i < topics; i++) {
            session.update(request("topic-" + i, partitions));
        }

        RetainedBytes.assertEstimate(state, memory.bytes, RetainedBytes.of(session) - before);
    }
}
