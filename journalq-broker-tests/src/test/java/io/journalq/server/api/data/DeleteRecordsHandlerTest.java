package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeleteRecordsHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.DELETE_RECORDS)
    void shouldReportTheNewFirstOffset(int version) throws Exception {
        String topic = createTopic(1);
        produce(topic, 3);

        DeleteRecordsResponse.DeleteRecordsPartitionResult result = delete(topic, 2, version);

        assertThat(error(result.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(result.partitionIndex()).isZero();
        assertThat(result.lowWatermark()).isEqualTo(2);
    }

    @Test
    void shouldDeleteNothingWhenTheOffsetIsBehindTheEnd() throws Exception {
        String topic = createTopic(1);
        produce(topic, 3);

        assertThat(error(delete(topic, 4, 2).errorCode())).isEqualTo(ErrorCode.OFFSET_OUT_OF_RANGE);
        assertThat(error(delete(newName(), 0, 2).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    private DeleteRecordsResponse.DeleteRecordsPartitionResult delete(String topic, long offset, int version)
            throws Exception {
        DeleteRecordsRequest request = new DeleteRecordsRequest()
                .setTimeoutMs(TIMEOUT_MS)
                .setTopics(List.of(new DeleteRecordsRequest.DeleteRecordsTopic()
                        .setName(topic)
                        .setPartitions(List.of(new DeleteRecordsRequest.DeleteRecordsPartition()
                                .setPartitionIndex(0)
                                .setOffset(offset)))));
        return call(DeleteRecordsResponse.class, request, version)
                .topics()
                .get(0)
                .partitions()
                .get(0);
    }
}
