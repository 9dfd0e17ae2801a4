package io.journalq.server.api.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.*;
import io.journalq.server.api.HandlerTestBase;
import io.journalq.server.api.ServedVersions;
import java.util.List;
import org.junit.jupiter.api.Test;

class DescribeProducersHandlerTest extends HandlerTestBase {
    @ServedVersions(ApiKey.DESCRIBE_PRODUCERS)
    void shouldListTheProducerWithItsOpenTransaction(int version) throws Exception {
        String topic = createTopic(1);
        produce(topic, 2);
        Producer producer = beginTransaction(topic);
        produceInTransaction(producer, topic, 3);

        DescribeProducersResponse.PartitionResponse described = describe(topic, version);

        assertThat(error(described.errorCode())).isEqualTo(ErrorCode.NONE);
        assertThat(described.activeProducers()).singleElement().satisfies(state -> {
            assertThat(state.producerId()).isEqualTo(producer.id());
            assertThat(state.producerEpoch()).isEqualTo(producer.epoch());
            assertThat(state.lastSequence()).isEqualTo(2);
            assertThat(state.currentTxnStartOffset()).isEqualTo(2);
        });
    }

    @Test
    void shouldReportAnErrorWhenThereIsNoSuchPartition() throws Exception {
        assertThat(error(describe(newName(), 0).errorCode())).isEqualTo(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION);
    }

    @Test
    void shouldDescribeAPartitionOnceWhenItIsNamedRepeatedly() throws Exception {
        DescribeProducersRequest.TopicRequest topic = new DescribeProducersRequest.TopicRequest()
                .setName(createTopic(2))
                .setPartitionIndexes(List.of(1, 0, 1));

        DescribeProducersResponse response =
                call(DescribeProducersResponse.class, new DescribeProducersRequest().setTopics(List.of(topic)), 0);

        assertThat(response.topics().get(0).partitions())
                .extracting(DescribeProducersResponse.PartitionResponse::partitionIndex)
                .containsExactly(1, 0);
    }

    @Test
    void shouldRespondSoonWhenTopicsHaveTheSameHash() throws Exception {
        DescribeProducersRequest request = new DescribeProducersRequest()
                .setTopics(namesWithOneHash().stream()
                        .map(name -> new DescribeProducersRequest.TopicRequest()
                                .setName(name)
                                .setPartitionIndexes(List.of(0)))
                        .toList());

        assertThat(call(DescribeProducersResponse.class, request, 0).topics())
                .hasSize(request.topics().size())
                .allSatisfy(topic -> assertThat(topic.partitions()).hasSize(1));
    }

    private DescribeProducersResponse.PartitionResponse describe(String topic, int version) throws Exception {
        DescribeProducersRequest request = new DescribeProducersRequest()
                .setTopics(List.of(new DescribeProducersRequest.TopicRequest()
                        .setName(topic)
                        .setPartitionIndexes(List.of(0))));
        return call(DescribeProducersResponse.class, request, version)
                .topics()
                .get(0)
                .partitions()
                .get(0);
    }
}
