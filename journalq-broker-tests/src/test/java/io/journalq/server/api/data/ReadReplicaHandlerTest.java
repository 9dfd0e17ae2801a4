package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ReadReplicaRequest;
import io.journalq.common.protocol.message.ReadReplicaResponse;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import org.junit.jupiter.api.Test;

class ReadReplicaHandlerTest extends HandlerTestBase {
    private static final int ALL = Integer.MAX_VALUE;

    @ServedVersions(ApiKey.READ_REPLICA)
    void shouldRespondWithTheChecksumOfWholeBatches(int version) throws Exception {
        Uuid topic = topicId(createTopicOf(3, 2));

        ReadReplicaResponse all = read(topic, 0, 5, ALL, version);
        ReadReplicaResponse first = read(topic, 0, 5, 1, version);
        ReadReplicaResponse again = read(topic, 0, 3, ALL, version);
        ReadReplicaResponse second = read(topic, 3, 5, ALL, version);

        assertThat(error(all.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(all.startOffset()).isZero();
        assertThat(all.highWatermark()).isEqualTo(5);
        assertThat(all.mayHaveGaps()).isFalse();
        assertThat(all.endOffset()).isEqualTo(5);
        assertThat(all.damagedUntil()).isEqualTo(-1);
        assertThat(all.batches()).isEqualTo(2);
        assertThat(all.records()).isNull();
        assertThat(first.endOffset()).isEqualTo(3);
        assertThat(again).isEqualTo(first);
        assertThat(second.batches()).isEqualTo(1);
        assertThat(all.sizeBytes()).isEqualTo(first.sizeBytes() + second.sizeBytes());
        assertThat(all.checksum()).isNotIn(first.checksum(), second.checksum());
    }

    @Test
    void shouldReadNothingWhenTheRangeIsBehindTheHighWatermark() throws Exception {
        ReadReplicaResponse response = read(topicId(createTopicOf(3)), 3, 9, ALL, 0);

        assertThat(error(response.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(response.endOffset()).isEqualTo(3);
        assertThat(response.batches()).isZero();
    }

    @Test
    void shouldReportErrorsWhenThereIsNoSuchReplicaOrTheClientIsNoBroker() throws Exception {
        Uuid topic = topicId(createTopicOf(1));

        assertThat(error(read(new Uuid(1, 2), 0, 1, ALL, 0).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_ID);
        assertThat(error(call(
                                ReadReplicaResponse.class,
                                request(topic, 0, 1, ALL).setPartition(7),
                                0)
                        .errorCode()))
                .isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
        assertThat(error(call(
                                ReadReplicaResponse.class,
                                request(topic, 0, 1, ALL).setWithRecords(true),
                                0)
                        .errorCode()))
                .isEqualTo(ErrorCode.CLUSTER_AUTHORIZATION_FAILED);
    }

    /** Creates a topic with batches of these numbers of records. */
    private String createTopicOf(int... records) throws Exception {
        String topic = createTopic(1);
        for (int count : records) {
            produce(topic, count);
        }
        return topic;
    }

    private static ReadReplicaRequest request(Uuid topic, long offset, long endOffset, int maxBytes) {
        return new ReadReplicaRequest()
                .setTopicId(topic)
                .setOffset(offset)
                .setEndOffset(endOffset)
                .setMaxBytes(maxBytes);
    }

    private ReadReplicaResponse read(Uuid topic, long offset, long endOffset, int maxBytes, int version)
            throws Exception {
        return call(ReadReplicaResponse.class, request(topic, offset, endOffset, maxBytes), version);
    }
}
