package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ListOffsetsRequest;
import io.journalq.common.protocol.message.ListOffsetsResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The special times of ListOffsets, in every version that is served: known from some version on, and not before. */
class ListOffsetsVersionsTest {
    private static final int LOWEST = 1;
    private static final int HIGHEST = 11;
    private static final int RECORDS = 3;

    private static TestBroker broker;

    @BeforeAll
    static void start(@TempDir Path folder) throws Exception {
        broker = new TestBroker(folder).start();
        broker.createTopic("t", 1, Map.of());
        try (WireClient client = new WireClient(broker.port())) {
            // All of one time, so that the first is the one with the largest.
            client.produce("t", 0, WireClient.batchAt(System.currentTimeMillis(), RECORDS, new byte[10]));
        }
    }

    @AfterAll
    static void stop() {
        broker.close();
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
        try (WireClient client = new WireClient(broker.port())) {
            for (int version = LOWEST; version <= HIGHEST; version++) {
                ListOffsetsResponse.ListOffsetsPartitionResponse answer = ask(client, timestamp, version);

                String as = name + " in version " + version;
                if (version < firstVersion) {
                    assertThat(answer.errorCode()).as(as).isEqualTo(ErrorCode.UNSUPPORTED_VERSION.code());
                    assertThat(answer.offset()).as(as).isEqualTo(-1);
                } else {
                    assertThat(answer.errorCode()).as(as).isEqualTo(ErrorCode.NONE.code());
                    assertThat(answer.offset()).as(as).isEqualTo(offset);
                    assertThat(offset == -1 ? answer.timestamp() : -1).as(as).isEqualTo(-1);
                }
            }
        }
    }

    private static ListOffsetsResponse.ListOffsetsPartitionResponse ask(WireClient client, long timestamp, int version)
            throws Exception {
        ListOffsetsRequest request = new ListOffsetsRequest()
                .setReplicaId(-1)
                .setTopics(List.of(new ListOffsetsRequest.ListOffsetsTopic()
                        .setName("t")
                        .setPartitions(List.of(new ListOffsetsRequest.ListOffsetsPartition()
                                .setPartitionIndex(0)
                                .setTimestamp(timestamp)))));
        return client.call(ListOffsetsResponse.class, request, version)
                .topics()
                .get(0)
                .partitions()
                .get(0);
    }
}
