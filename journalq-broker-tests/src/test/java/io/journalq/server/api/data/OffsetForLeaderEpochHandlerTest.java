package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class OffsetForLeaderEpochHandlerTest extends HandlerTestBase {
    private static final int FUTURE_EPOCH = 9;

    @ServedVersions(ApiKey.OFFSET_FOR_LEADER_EPOCH)
    void shouldReportWhereTheRecordsOfTheEpochEnd(int version) throws Exception {
        String topic = createTopic(1);
        produce(topic, 3);

        OffsetForLeaderEpochResponse.EpochEndOffset end = ask(topic, 0, version);

        assertThat(error(end.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(end.leaderEpoch()).isZero();
        assertThat(end.endOffset()).isEqualTo(3);
    }

    @Test
    void shouldReportTheEndOfTheLogWhenTheEpochHasNoRecords() throws Exception {
        OffsetForLeaderEpochResponse.EpochEndOffset end = ask(createTopic(1), 0, 4);

        assertThat(error(end.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(end.leaderEpoch()).isZero();
        assertThat(end.endOffset()).isZero();
    }

    @Test
    void shouldReportAnErrorWhenTheClientKnowsANewerEpoch() throws Exception {
        OffsetForLeaderEpochResponse.EpochEndOffset end = ask(createTopic(1), FUTURE_EPOCH, 4);

        assertThat(error(end.errorCode())).isEqualTo(ErrorCode.UNKNOWN_LEADER_EPOCH);
        assertThat(end.endOffset()).isEqualTo(-1);
    }

    @Test
    void shouldReportTheEndOfTheLogToABrokerThatNamesNoEpoch() throws Exception {
        String topic = createTopic(1);
        produce(topic, 3);

        OffsetForLeaderEpochResponse.EpochEndOffset end = ask(1, topic, -1, -1, 4);
        assertThat(error(end.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(end.leaderEpoch()).isZero();
        assertThat(end.endOffset()).isEqualTo(3);

        // but not to a client
        OffsetForLeaderEpochResponse.EpochEndOffset toClient = ask(-2, topic, -1, -1, 4);
        assertThat(error(toClient.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(toClient.leaderEpoch()).isEqualTo(-1);
        assertThat(toClient.endOffset()).isEqualTo(-1);
    }

    private OffsetForLeaderEpochResponse.EpochEndOffset ask(String topic, int currentEpoch, int version)
            throws Exception {
        return ask(-2, topic, currentEpoch, 0, version);
    }

    private OffsetForLeaderEpochResponse.EpochEndOffset ask(
            int replicaId, String topic, int currentEpoch, int leaderEpoch, int version) throws Exception {
        OffsetForLeaderEpochRequest request = new OffsetForLeaderEpochRequest()
                .setReplicaId(version >= 3 ? replicaId : -2)
                .setTopics(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderTopic()
                        .setTopic(topic)
                        .setPartitions(List.of(new OffsetForLeaderEpochRequest.OffsetForLeaderPartition()
                                .setPartition(0)
                                .setCurrentLeaderEpoch(currentEpoch)
                                .setLeaderEpoch(leaderEpoch)))));
        return call(OffsetForLeaderEpochResponse.class, request, version)
                .topics()
                .get(0)
                .partitions()
                .get(0);
    }
}
