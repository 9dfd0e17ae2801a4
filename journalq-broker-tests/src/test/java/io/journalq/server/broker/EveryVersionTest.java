package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ApiMessage;
import io.journalq.common.protocol.message.*;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every advertised version of an API gets a response in that version, because old clients use old versions. */
class EveryVersionTest {
    @TempDir
    Path dataDirectory;

    private TestBroker broker;
    private Uuid topicId;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(dataDirectory)
                .with("group.initial.rebalance.delay.ms", "0")
                .start();
        broker.createTopic("t", 1, Map.of());
        try (WireClient client = new WireClient(broker.port())) {
            client.produce("t", 0, WireClient.batch(3, new byte[10]));
            topicId = client.call(
                            MetadataResponse.class,
                            new MetadataRequest()
                                    .setTopics(List.of(new MetadataRequest.MetadataRequestTopic().setName("t"))),
                            12)
                    .topics()
                    .get(0)
                    .topicId();
        }
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void shouldRespondInEveryVersionOfEveryApi() throws Exception {
        Map<ApiKey, IntFunction<ApiMessage>> requests = new SampleRequests(topicId).byApi();
        List<String> asked = new ArrayList<>();
        for (ApiVersionsResponse.ApiVersion served : served()) {
            ApiKey key = ApiKey.of(served.apiKey());
            IntFunction<ApiMessage> request = requests.get(key);
            if (request == null) {
                continue;
            }
            int announced = served.minVersion();
            int lowest = key == ApiKey.PRODUCE ? 3 : key == ApiKey.SASL_HANDSHAKE ? 1 : announced;
            for (int version = lowest; version <= served.maxVersion(); version++) {
                try (WireClient client = new WireClient(broker.port())) {
                    int id = client.send(request.apply(version), version);
                    assertThat(client.receive(ApiMessage.class, key, version, id))
                            .as("%s v%d", key, version)
                            .isNotNull();
                } catch (java.io.IOException closed) {
                    throw new AssertionError(key + " v" + version + " has no response", closed);
                }
            }
            asked.add(key.name());
        }
        assertThat(asked).hasSameSizeAs(requests.keySet());
    }

    private List<ApiVersionsResponse.ApiVersion> served() throws Exception {
        try (WireClient client = new WireClient(broker.port())) {
            return client.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0)
                    .apiKeys();
        }
    }
}
