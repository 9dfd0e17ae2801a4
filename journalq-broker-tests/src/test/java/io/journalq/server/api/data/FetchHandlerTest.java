package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.junit.jupiter.api.Test;

class FetchHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_TOPIC_IDS = 13;

    @ServedVersions(ApiKey.FETCH)
    void shouldReturnTheBatchThatHoldsTheOffset(int version) throws Exception {
        String topic = createTopic(1);
        produce(topic, 3);
        produce(topic, 2);
        Uuid id = version >= FIRST_VERSION_WITH_TOPIC_IDS ? topicId(topic) : null;

        FetchResponse.PartitionData data = fetch(topic, id, 4, version);

        assertThat(error(data.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(data.highWatermark()).isEqualTo(5);
        assertThat(data.lastStableOffset()).isEqualTo(5);
        ByteBuf records = data.records().buffer();
        assertThat(RecordBatch.baseOffset(records, records.readerIndex())).isEqualTo(3);
    }

    @Test
    void shouldReportAnErrorWhenTheOffsetIsOutOfRange() throws Exception {
        String topic = createTopic(1);

        FetchResponse.PartitionData data = fetch(topic, null, 1, 4);

        assertThat(error(data.errorCode())).isEqualTo(ErrorCode.OFFSET_OUT_OF_RANGE);
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchTopic() throws Exception {
        assertThat(error(fetch(newName(), null, 0, 4).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(error(fetch("", new Uuid(1, 2), 0, 18).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID);
    }

    private FetchResponse.PartitionData fetch(String topic, Uuid id, long offset, int version) throws Exception {
        FetchRequest.FetchTopic wanted = new FetchRequest.FetchTopic()
                .setPartitions(List.of(new FetchRequest.FetchPartition()
                        .setPartition(0)
                        .setFetchOffset(offset)
                        .setPartitionMaxBytes(1_000)));
        FetchRequest request = new FetchRequest()
                .setMaxWaitMs(0)
                .setMinBytes(0)
                .setMaxBytes(1_000)
                .setTopics(List.of(id == null ? wanted.setTopic(topic) : wanted.setTopicId(id)));
        FetchResponse response = call(FetchResponse.class, request, version);
        return response.responses().get(0).partitions().get(0);
    }
}
