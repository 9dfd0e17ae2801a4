package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class WriteTxnMarkersHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.WRITE_TXN_MARKERS)
    void shouldEndTheTransactionInThePartition(int version) throws Exception {
        String topic = createTopic(1);
        Producer producer = beginTransaction(topic);
        produceInTransaction(producer, topic, 3);
        assertThat(lastStableOffset(topic)).isZero();

        assertThat(abort(topic, producer, version)).isEqualTo(ErrorCode.NONE);

        assertThat(lastStableOffset(topic)).as("three records and a marker").isEqualTo(4);
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchPartition() throws Exception {
        assertThat(abort(newName(), new Producer("any", 1, (short) 0), 1))
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    private ErrorCode abort(String topic, Producer producer, int version) throws Exception {
        WriteTxnMarkersRequest request = new WriteTxnMarkersRequest()
                .setMarkers(List.of(new WriteTxnMarkersRequest.WritableTxnMarker()
                        .setProducerId(producer.id())
                        .setProducerEpoch(producer.epoch())
                        .setTransactionResult(false)
                        .setTopics(List.of(new WriteTxnMarkersRequest.WritableTxnMarkerTopic()
                                .setName(topic)
                                .setPartitionIndexes(List.of(0))))));
        WriteTxnMarkersResponse.WritableTxnMarkerResult result =
                call(WriteTxnMarkersResponse.class, request, version).markers().get(0);
        assertThat(result.producerId()).isEqualTo(producer.id());
        return error(result.topics().get(0).partitions().get(0).errorCode());
    }

    private long lastStableOffset(String topic) throws Exception {
        ListOffsetsRequest request = new ListOffsetsRequest()
                .setIsolationLevel((byte) 1)
                .setTopics(List.of(new ListOffsetsRequest.ListOffsetsTopic()
                        .setName(topic)
                        .setPartitions(List.of(new ListOffsetsRequest.ListOffsetsPartition()
                                .setPartitionIndex(0)
                                .setTimestamp(-1)))));
        return call(ListOffsetsResponse.class, request, 5)
                .topics()
                .get(0)
                .partitions()
                .get(0)
                .offset();
    }
}
