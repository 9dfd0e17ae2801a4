package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import io.journalq.server.broker.WireClient;
import org.junit.jupiter.api.Test;

class ProduceHandlerTest extends HandlerTestBase {
    private static final int FIRST_VERSION_WITH_TOPIC_IDS = 13;

    @ServedVersions(ApiKey.PRODUCE)
    void shouldReportTheBaseOffsetOfEachBatch(int version) throws Exception {
        String topic = createTopic(1);
        Uuid id = version >= FIRST_VERSION_WITH_TOPIC_IDS ? topicId(topic) : null;

        ProduceResponse.PartitionProduceResponse first = produce(topic, id, 3, version);
        ProduceResponse.PartitionProduceResponse second = produce(topic, id, 2, version);

        assertThat(error(first.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(first.baseOffset()).isZero();
        assertThat(first.logAppendTimeMs()).isEqualTo(-1);
        assertThat(error(second.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(second.baseOffset()).isEqualTo(3);
    }

    @Test
    void shouldRefuseABatchWhenThereIsNoSuchTopic() throws Exception {
        assertThat(error(produce(newName(), null, 1, 3).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(error(produce(newName(), new Uuid(1, 2), 1, 13).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID);
    }

    private ProduceResponse.PartitionProduceResponse produce(String topic, Uuid id, int records, int version)
            throws Exception {
        ProduceRequest request = WireClient.produceRequest(topic, 0, WireClient.batch(records, new byte[10]));
        if (id != null) {
            request.topicData().get(0).setName("").setTopicId(id);
        }
        ProduceResponse response = call(ProduceResponse.class, request, version);
        if (id == null) {
            assertThat(response.responses().get(0).name()).isEqualTo(topic);
        } else {
            assertThat(response.responses().get(0).topicId()).isEqualTo(id);
        }
        return response.responses().get(0).partitionResponses().get(0);
    }
}
