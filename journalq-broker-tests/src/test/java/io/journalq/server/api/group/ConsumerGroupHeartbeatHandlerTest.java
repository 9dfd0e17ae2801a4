package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsumerGroupHeartbeatHandlerTest extends HandlerTestBase {
    private static final int LEAVE = -1;
    private static final int LEAVE_FOR_A_WHILE = -2;

    @ServedVersions(ApiKey.CONSUMER_GROUP_HEARTBEAT)
    void shouldAssignEveryPartitionToTheOnlyMember(int version) throws Exception {
        String topic = createTopic(2);

        ConsumerGroupHeartbeatResponse response = join(newName(), topic, version);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.memberEpoch()).isPositive();
        assertThat(response.heartbeatIntervalMs()).isPositive();
        assertThat(response.assignment().topicPartitions()).singleElement().satisfies(assigned -> {
            assertThat(assigned.topicId()).isEqualTo(topicId(topic));
            assertThat(assigned.partitions()).containsExactly(0, 1);
        });
    }

    @Test
    void shouldReportAnErrorWhenTheMemberIsUnknown() throws Exception {
        String group = newName();
        join(group, createTopic(1), 1);
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId(group)
                .setMemberId("nobody")
                .setMemberEpoch(LEAVE);

        assertThat(error(call(ConsumerGroupHeartbeatResponse.class, request, 1).errorCode()))
                .isEqualTo(ErrorCode.UNKNOWN_MEMBER_ID);
    }

    @Test
    void shouldKeepAMemberWhenAnotherInstanceIdThanItsOwnLeaves() throws Exception {
        String group = newName();
        ConsumerGroupHeartbeatResponse joined = join(group, createTopic(1), 1);
        ConsumerGroupHeartbeatRequest request = new ConsumerGroupHeartbeatRequest()
                .setGroupId(group)
                .setMemberId(joined.memberId())
                .setInstanceId("another");

        for (int epoch : List.of(LEAVE, LEAVE_FOR_A_WHILE)) {
            request.setMemberEpoch(epoch);
            assertThat(error(call(ConsumerGroupHeartbeatResponse.class, request, 1)
                            .errorCode()))
                    .isEqualTo(ErrorCode.UNKNOWN_MEMBER_ID);
        }
        request.setInstanceId(null).setMemberEpoch(joined.memberEpoch());
        assertThat(error(call(ConsumerGroupHeartbeatResponse.class, request, 1).errorCode()))
                .isEqualTo(ErrorCode.NONE);
    }

    private ConsumerGroupHeartbeatResponse join(String group, String topic, int version) throws Exception {
        return call(
                ConsumerGroupHeartbeatResponse.class,
                new ConsumerGroupHeartbeatRequest()
                        .setGroupId(group)
                        .setMemberId(new Uuid(version, 1).toString())
                        .setMemberEpoch(0)
                        .setRebalanceTimeoutMs(TIMEOUT_MS)
                        .setSubscribedTopicNames(List.of(topic))
                        .setTopicPartitions(List.of()),
                version);
    }
}
