package io.journalq.server.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.HeartbeatRequest;
import io.journalq.common.protocol.message.JoinGroupRequest;
import io.journalq.common.protocol.message.JoinGroupResponse;
import io.journalq.common.protocol.message.SyncGroupRequest;
import io.journalq.common.protocol.message.SyncGroupResponse;
import io.journalq.server.coordinator.CoordinatorRecord;
import io.journalq.server.coordinator.Reply;
import io.journalq.server.coordinator.RetentionTime;
import io.journalq.server.group.GroupLimits.GroupCount;
import io.journalq.server.group.GroupLimits.GroupMemory;
import io.journalq.server.group.consumer.ConsumerGroupLimits;
import io.journalq.server.group.model.Group.Origin;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Many members in many groups, in simulated time: each change of a group causes one rebalance, and then the group is
 * stable.
 */
class GroupScaleTest {
    private static final int GROUPS = 200;
    private static final int MEMBERS = 2_000;
    private static final int SESSION_MS = 30_000;
    private static final GroupLimits LIMITS =
            new GroupLimits(1_000, 1, 100_000, 3_000, 100, Long.MAX_VALUE, Long.MAX_VALUE / 4);

    private final GroupMachine machine = new GroupMachine(
            LIMITS,
            ConsumerGroupLimits.DEFAULT,
            GroupCount.UNLIMITED,
            GroupMemory.UNBOUNDED,
            this::append,
            RetentionTime.CLOCK,
            this::newId);
    private final List<Member> members = new ArrayList<>();
    private final Random random = new Random(7);
    private long nowMs = 1_000_000;
    private int nextId;

    private void append(List<CoordinatorRecord> records) {
        records.forEach(machine::replay);
    }

    private String newId() {
        return "id" + nextId++;
    }

    @Test
    void shouldRebalanceOnceForEachChangeAndSettle() {
        machine.onLoaded(nowMs);
        // given members that join within the initial delay, in random order
        for (int i = 0; i < MEMBERS; i++) {
            members.add(new Member("g" + i % GROUPS));
        }
        Collections.shuffle(members, random);
        members.forEach(Member::join);
        // members that joined within the delay extended it once
        pass(3_000);
        pass(3_000);
        assertEveryoneIsStable(1);

        // when one more member joins each group
        for (int i = 0; i < GROUPS; i++) {
            Member late = new Member("g" + i);
            members.add(late);
            late.join();
        }
        // the other members are informed and join again
        members.forEach(Member::join);
        pass(10);
        assertEveryoneIsStable(2);

        // then nothing changes any more while they send heartbeats
        for (int i = 0; i < 10; i++) {
            pass(SESSION_MS / 2);
            members.forEach(Member::live);
        }
        assertEveryoneIsStable(2);
        assertThat(machine.list()).hasSize(GROUPS).allSatisfy(group -> assertThat(group.groupState())
                .isEqualTo("Stable"));
    }

    private void pass(int byMs) {
        nowMs += byMs;
        machine.onTick(nowMs);
    }

    private void assertEveryoneIsStable(int generation) {
        assertThat(members).allSatisfy(member -> {
            assertThat(member.generation).isEqualTo(generation);
            assertThat(member.isAssigned).isTrue();
        });
    }

    private static <T> Reply<T> reply(Consumer<T> send) {
        return new Reply<>() {
            @Override
            public void send(T response) {
                send.accept(response);
            }

            @Override
            public void fail(ErrorCode error) {
                throw new AssertionError(error.name());
            }
        };
    }

    private final class Member {
        private final String group;
        private String id = "";
        private int generation;
        private boolean waits;
        private boolean isAssigned;

        Member(String group) {
            this.group = group;
        }

        void join() {
            if (waits) {
                return;
            }
            waits = true;
            isAssigned = false;
            JoinGroupRequest request = new JoinGroupRequest()
                    .setGroupId(group)
                    .setMemberId(id)
                    .setSessionTimeoutMs(SESSION_MS)
                    .setRebalanceTimeoutMs(60_000)
                    .setProtocolType("consumer")
                    .setProtocols(List.of(new JoinGroupRequest.JoinGroupRequestProtocol()
                            .setName("range")
                            .setMetadata(Unpooled.EMPTY_BUFFER)));
            machine.onJoinGroup(new Origin("c", "/host"), (short) 9, request, nowMs, reply(this::onJoined));
        }

        private void onJoined(JoinGroupResponse response) {
            waits = false;
            id = response.memberId();
            if (response.errorCode() == ErrorCode.MEMBER_ID_REQUIRED.code()) {
                join();
                return;
            }
            assertThat(response.errorCode()).isZero();
            generation = response.generationId();
            SyncGroupRequest request =
                    new SyncGroupRequest().setGroupId(group).setMemberId(id).setGenerationId(generation);
            machine.onSyncGroup(request, nowMs, reply(this::onSynced));
        }

        private void onSynced(SyncGroupResponse response) {
            assertThat(response.errorCode()).isZero();
            isAssigned = true;
        }

        void live() {
            machine.onHeartbeat(
                    new HeartbeatRequest().setGroupId(group).setMemberId(id).setGenerationId(generation),
                    nowMs,
                    reply(response -> assertThat(response.errorCode()).isZero()));
        }
    }
}
