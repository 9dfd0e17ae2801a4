package io.journalq.server.api.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsumerGroupDescribeHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.CONSUMER_GROUP_DESCRIBE)
    void shouldDescribeTheGroupWithItsMember(int version) throws Exception {
        String group = newName();
        String topic = createTopic(1);
        ConsumerGroupHeartbeatRequest join = new ConsumerGroupHeartbeatRequest()
                .setGroupId(group)
                .setMemberId("member-1")
                .setMemberEpoch(0)
                .setRebalanceTimeoutMs(TIMEOUT_MS)
                .setSubscribedTopicNames(List.of(topic))
                .setTopicPartitions(List.of());
        assertThat(error(call(ConsumerGroupHeartbeatResponse.class, join, 1).errorCode()))
                .isEqualTo(ErrorCode.NONE);

        ConsumerGroupDescribeResponse.DescribedGroup described = describe(group, version);

        assertThat(error(described.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(described.groupEpoch()).isPositive();
        assertThat(described.members()).singleElement().satisfies(member -> {
            assertThat(member.memberId()).isEqualTo("member-1");
            assertThat(member.clientId()).isEqualTo("wire-client");
            assertThat(member.subscribedTopicNames()).containsExactly(topic);
            assertThat(member.targetAssignment().topicPartitions().get(0).topicName())
                    .isEqualTo(topic);
        });
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchGroup() throws Exception {
        assertThat(error(describe(newName(), 1).errorCode())).isEqualTo(ErrorCode.GROUP_ID_NOT_FOUND);
    }

    @Test
    void shouldDescribeAGroupOnceWhenItIsNamedRepeatedly() throws Exception {
        String group = newName();

        ConsumerGroupDescribeResponse response = call(
                ConsumerGroupDescribeResponse.class,
                new ConsumerGroupDescribeRequest().setGroupIds(List.of(group, group)),
                1);

        assertThat(response.groups()).hasSize(1);
    }

    private ConsumerGroupDescribeResponse.DescribedGroup describe(String group, int version) throws Exception {
        ConsumerGroupDescribeRequest request = new ConsumerGroupDescribeRequest().setGroupIds(List.of(group));
        ConsumerGroupDescribeResponse.DescribedGroup described = call(
                        ConsumerGroupDescribeResponse.class, request, version)
                .groups()
                .get(0);
        assertThat(described.groupId()).isEqualTo(group);
        return described;
    }
}
