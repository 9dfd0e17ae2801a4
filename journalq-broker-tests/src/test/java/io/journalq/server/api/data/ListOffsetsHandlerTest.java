package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import io.journalq.server.broker.WireClient;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ListOffsetsHandlerTest extends HandlerTestBase {
    private static final int LOWEST = 1;
    private static final int HIGHEST = 11;
    private static final long LATEST = -1;
    private static final int RECORDS = 3;

    @ServedVersions(ApiKey.LIST_OFFSETS)
    void shouldReportTheEndAndTheFirstOffsetNotBeforeATime(int version) throws Exception {
        String topic = createTopic(1);
        client.produce(topic, 0, WireClient.batchAt(1_000, RECORDS, new byte[10]));
        client.produce(topic, 0, WireClient.batchAt(2_000, RECORDS, new byte[10]));

        ListOffsetsResponse.ListOffsetsPartitionResponse end = ask(topic, LATEST, version);
        assertThat(error(end.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(end.offset()).isEqualTo(2 * RECORDS);
        ListOffsetsResponse.ListOffsetsPartitionResponse byTime = ask(topic, 1_500, version);
        assertThat(byTime.offset()).isEqualTo(RECORDS);
        assertThat(byTime.timestamp()).isEqualTo(2_000);
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchPartition() throws Exception {
        assertThat(error(ask(newName(), LATEST, HIGHEST).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @ParameterizedTest(name = "{0}: from version {2} on")
    @CsvSource({
        "latest, -1, 1, 3",
        "earliest, -2, 1, 0",
        "largest timestamp, -3, 7, 0",
        "earliest local, -4, 8, 0",
        "latest tiered, -5, 9, -1",
        "earliest pending upload, -6, 11, -1",
        "unknown, -7, 12, -1",
        "smallest, -9223372036854775808, 12, -1"
    })
    void shouldKnowASpecialTimeFromItsVersionOn(String name, long timestamp, int firstVersion, long offset)
            throws Exception {
        String topic = createTopic(1);
        // All records have the same timestamp, so the first one counts as the largest.
        client.produce(topic, 0, WireClient.batchAt(System.currentTimeMillis(), RECORDS, new byte[10]));
        for (int version = LOWEST; version <= HIGHEST; version++) {
            ListOffsetsResponse.ListOffsetsPartitionResponse found = ask(topic, timestamp, version);

            String as = name + " in version " + version;
            if (version < firstVersion) {
                assertThat(error(found.errorCode())).as(as).isEqualTo(ErrorCode.UNSUPPORTED_VERSION);
                assertThat(found.offset()).as(as).isEqualTo(-1);
            } else {
                assertThat(error(found.errorCode())).as(as).isEqualTo(ErrorCode.NONE);
                assertThat(found.offset()).as(as).isEqualTo(offset);
                assertThat(offset == -1 ? found.timestamp() : -1).as(as).isEqualTo(-1);
            }
        }
    }

    private ListOffsetsResponse.ListOffsetsPartitionResponse ask(String topic, long timestamp, int version)
            throws Exception {
        ListOffsetsRequest request = new ListOffsetsRequest()
                .setReplicaId(-1)
                .setTopics(List.of(new ListOffsetsRequest.ListOffsetsTopic()
                        .setName(topic)
                        .setPartitions(List.of(new ListOffsetsRequest.ListOffsetsPartition()
                                .setPartitionIndex(0)
                                .setTimestamp(timestamp)))));
        return call(ListOffsetsResponse.class, request, version)
                .topics()
                .get(0)
                .partitions()
                .get(0);
    }
}
