package io.journalq.server.gateway.consume;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import io.journalq.server.api.RecordMemory;
import io.journalq.server.gateway.http.Caller;
import io.journalq.server.gateway.problem.Problem;
import io.journalq.server.gateway.problem.ProblemType;
import io.journalq.server.loop.Loop;
import io.journalq.server.loop.LoopCycle;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.shard.partition.SteppedLoop;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StartLookupTest {
    private static final int WAIT_MS = 15_000;
    private static final int END = 7;

    private final Brokers brokers = new Brokers();
    private final List<Map<Integer, Long>> found = new ArrayList<>();
    private final List<Problem> problems = new ArrayList<>();

    @ParameterizedTest
    @EnumSource(
            value = ErrorCode.class,
            names = {
                "NOT_LEADER_OR_FOLLOWER",
                "LEADER_NOT_AVAILABLE",
                "FENCED_LEADER_EPOCH",
                "UNKNOWN_LEADER_EPOCH",
                "OFFSET_NOT_AVAILABLE"
            })
    void shouldWaitForTheNextLeaderOfAPartition(ErrorCode error) {
        brokers.errors.put(1, error);
        begin(WAIT_MS);
        brokers.pass(WAIT_MS - 1);
        assertThat(found).isEmpty();
        assertThat(problems).isEmpty();
        // when
        brokers.errors.clear();
        brokers.pass(1);
        // then
        assertThat(found).containsExactly(Map.of(0, 5L, 1, 6L));
        assertThat(problems).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = ErrorCode.class,
            names = {"LEADER_NOT_AVAILABLE", "OFFSET_NOT_AVAILABLE"})
    void shouldSayThatALaterAttemptMaySucceedWhenThereIsNoLeaderInTime(ErrorCode error) {
        brokers.errors.put(1, error);
        begin(WAIT_MS);
        brokers.pass(WAIT_MS);
        assertThat(problems).extracting(Problem::type).containsExactly(ProblemType.UNAVAILABLE);
        assertThat(brokers.loop.timerCount()).isZero();

        begin(0);
        assertThat(problems)
                .extracting(Problem::type)
                .containsExactly(ProblemType.UNAVAILABLE, ProblemType.UNAVAILABLE);
        assertThat(found).isEmpty();
    }

    @Test
    void shouldNotWaitWhenAnythingElseIsWrong() {
        brokers.errors.put(0, ErrorCode.LEADER_NOT_AVAILABLE);
        brokers.errors.put(1, ErrorCode.TOPIC_AUTHORIZATION_FAILED);
        begin(WAIT_MS);
        assertThat(problems).hasSize(1);
    }

    @Test
    void shouldAskNoMoreWhenItIsClosed() {
        brokers.errors.put(0, ErrorCode.LEADER_NOT_AVAILABLE);
        StartLookup lookup = begin(WAIT_MS);
        lookup.close();
        brokers.pass(1);
        assertThat(brokers.loop.timerCount()).isZero();
        assertThat(brokers.calls).isEqualTo(1);
        assertThat(problems).isEmpty();
    }

    private StartLookup begin(int waitMs) {
        StartLookup lookup = new StartLookup(brokers, "t", waitMs, problems::add);
        lookup.begin(
                new Start("t", Map.of(0, 5L, 1, 6L), Start.END, false, false),
                positions -> found.add(positions.offsets()));
        return lookup;
    }

    /** The leaders of two partitions, which have errors. */
    private static final class Brokers implements Caller {
        private final SteppedLoop loop = new SteppedLoop();
        private final LoopCycle cycle = LoopCycle.cycles(List.of(loop)).get(0);
        private final Map<Integer, ErrorCode> errors = new TreeMap<>();
        private int calls;

        void pass(int ms) {
            loop.advance(ms);
            loop.fireTimers();
        }

        @Override
        public void call(ApiKey api, int version, ApiMessage message, int sizeBytes, Consumer<ApiMessage> onResponse) {
            calls++;
            ListOffsetsRequest.ListOffsetsTopic topic =
                    ((ListOffsetsRequest) message).topics().get(0);
            onResponse.accept(new ListOffsetsResponse()
                    .setTopics(List.of(new ListOffsetsResponse.ListOffsetsTopicResponse()
                            .setName(topic.name())
                            .setPartitions(topic.partitions().stream()
                                    .map(each -> new ListOffsetsResponse.ListOffsetsPartitionResponse()
                                            .setPartitionIndex(each.partitionIndex())
                                            .setOffset(END)
                                            .setErrorCode(errors.getOrDefault(each.partitionIndex(), ErrorCode.NONE)
                                                    .code()))
                                    .toList()))));
        }

        @Override
        public LoopCycle cycle() {
            return cycle;
        }

        @Override
        public boolean isClosed() {
            return false;
        }

        @Override
        public Loop.Timer schedule(Runnable work, long delayMs) {
            return loop.schedule(work, delayMs);
        }

        @Override
        public void fetch(int version, FetchRequest request, RecordMemory memory, Consumer<ApiMessage> onResponse) {
            throw new AssertionError("a lookup fetches no records");
        }

        @Override
        public void later(Runnable work) {
            throw new AssertionError("a lookup has nothing to do later");
        }

        @Override
        public ByteBufAllocator allocator() {
            throw new AssertionError("a lookup needs no buffers");
        }

        @Override
        public SharedMemory memory() {
            throw new AssertionError("a lookup needs no memory");
        }
    }
}
