package io.journalq.server.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ConsumerGroupHeartbeatRequest;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.group.consumer.Topics;
import io.journalq.server.group.model.Group.Origin;
import io.journalq.server.memory.MemoryAccount;
import io.netty.buffer.Unpooled;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Sessions of members when the clock of the system is set. */
class GroupClockTest {
    private static final int SESSION_MS = 45_000;
    private static final long HOUR_MS = TimeUnit.HOURS.toMillis(1);
    private static final Topics NO_TOPICS = new Topics() {
        @Override
        public Topic byName(String name) {
            return null;
        }

        @Override
        public Topic byId(Uuid id) {
            return null;
        }

        @Override
        public Collection<Topic> all() {
            return List.of();
        }
    };

    private final GroupMachine machine = new GroupMachine(
            new GroupLimits(100, 1, 100_000, 0, 20_000, Long.MAX_VALUE, Long.MAX_VALUE / 4),
            ConsumerGroupLimits.DEFAULT,
            GroupCount.UNLIMITED,
            new GroupMemory(MemoryAccount.UNBOUNDED, MemoryAccount.UNBOUNDED),
            this::append,
            RetentionTime.CLOCK,
            () -> "id");

    private long nowMs = 10 * HOUR_MS;
    private String classicMember;
    private ErrorCode error;

    private void append(List<CoordinatorRecord> records) {
        records.forEach(machine::replay);
    }

    private static <T> Reply<T> reply(Consumer<T> done) {
        return new Reply<>() {
            @Override
            public void send(T response) {
                done.accept(response);
            }

            @Override
            public void fail(ErrorCode failure) {
                throw new AssertionError(failure);
            }
        };
    }

    @BeforeEach
    void join() {
        machine.onLoaded(nowMs);
        machine.onTopics(NO_TOPICS);
        machine.onJoinGroup(
                new Origin("client", "host"),
                (short) 3,
                new JoinGroupRequest()
                        .setGroupId("classic")
                        .setMemberId("")
                        .setSessionTimeoutMs(SESSION_MS)
                        .setRebalanceTimeoutMs(SESSION_MS)
                        .setProtocolType("consumer")
                        .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                                .setName("range")
                                .setMetadata(Unpooled.EMPTY_BUFFER))),
                nowMs,
                reply(response -> classicMember = response.memberId()));
        machine.onTick(nowMs);
        assertThat(classicMember).isNotNull();
        assertThat(consumerHeartbeat(0)).isEqualTo(ErrorCode.NONE);
    }

    private ErrorCode classicHeartbeat() {
        machine.onHeartbeat(
                new HeartbeatRequest()
                        .setGroupId("classic")
                        .setMemberId(classicMember)
                        .setGenerationId(1),
                nowMs,
                reply(response -> error = ErrorCode.of(response.errorCode())));
        return error;
    }

    private ErrorCode consumerHeartbeat(int epoch) {
        machine.onConsumerHeartbeat(
                new Origin("client", "host"),
                (short) 1,
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId("consumer")
                        .setMemberId("member")
                        .setMemberEpoch(epoch)
                        .setRebalanceTimeoutMs(SESSION_MS)
                        .setSubscribedTopicNames(epoch == 0 ? List.of("topic") : null)
                        .setTopicPartitions(epoch == 0 ? List.of() : null),
                nowMs,
                reply(response -> error = ErrorCode.of(response.errorCode())));
        return error;
    }

    private void setClock(long stepMs) {
        nowMs += stepMs;
        machine.onClockStep(stepMs);
    }

    @Test
    void shouldKeepMembersWhenTheClockIsSetForward() {
        setClock(HOUR_MS);
        nowMs += 1_000;
        machine.onTick(nowMs);

        assertThat(classicHeartbeat()).isEqualTo(ErrorCode.NONE);
        assertThat(consumerHeartbeat(1)).isEqualTo(ErrorCode.NONE);
    }

    @Test
    void shouldRemoveSilentMembersWhenTheClockIsSetBack() {
        setClock(-HOUR_MS);
        assertThat(machine.onTick(nowMs)).isLessThanOrEqualTo(nowMs + SESSION_MS);
        nowMs += SESSION_MS + 1;
        machine.onTick(nowMs);

        assertThat(classicHeartbeat()).isEqualTo(ErrorCode.UNKNOWN_MEMBER_ID);
        assertThat(consumerHeartbeat(1)).isEqualTo(ErrorCode.UNKNOWN_MEMBER_ID);
    }

    @Test
    void shouldLookForExpiredOffsetsOnceWhenTheClockIsSetForward() {
        AtomicInteger looks = new AtomicInteger();
        GroupMachine often = new GroupMachine(
                new GroupLimits(100, 1, 100_000, 0, 20_000, Long.MAX_VALUE, 1_000),
                ConsumerGroupLimits.DEFAULT,
                GroupCount.UNLIMITED,
                new GroupMemory(MemoryAccount.UNBOUNDED, MemoryAccount.UNBOUNDED),
                records -> {},
                ms -> {
                    looks.incrementAndGet();
                    return ms;
                },
                () -> "id");
        often.onLoaded(nowMs);
        often.onTopics(NO_TOPICS);
        looks.set(0);

        often.onClockStep(HOUR_MS);
        often.onTick(nowMs + HOUR_MS + 1_000);

        assertThat(looks).hasValue(1);
    }
}
