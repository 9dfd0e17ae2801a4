package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.FetchRequest;
import io.journalq.common.protocol.message.FetchResponse;
import io.journalq.common.protocol.message.ProduceResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaAlteration.Op;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Quotas, set with Kafka's own administrator, and their effect on clients. */
class ClientQuotasTest {
    private static final long SECONDS = 20;
    private static final int PRODUCE_VERSION = 12;
    private static final int FETCH_VERSION = 12;
    private static final ClientQuotaEntity EVERY_CLIENT = entity("client-id", null);

    @TempDir
    private Path directory;

    private TestBroker broker;
    private Admin admin;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory).start();
        admin = broker.admin();
    }

    @AfterEach
    void stop() {
        admin.close();
        broker.close();
    }

    @Test
    void shouldKeepWhatIsSetAlsoWhenItStartsAgain() throws Exception {
        ClientQuotaEntity orders = new ClientQuotaEntity(Map.of("user", "shop", "client-id", "orders"));
        alter(EVERY_CLIENT, new Op("producer_byte_rate", 1_000.0), new Op("request_percentage", 12.5));
        alter(orders, new Op("consumer_byte_rate", 2_000.0));
        alter(EVERY_CLIENT, new Op("producer_byte_rate", null));

        admin.close();
        broker.stop();
        broker.start();
        admin = broker.admin();

        assertThat(describe(ClientQuotaFilter.all()))
                .isEqualTo(Map.of(
                        EVERY_CLIENT,
                        Map.of("request_percentage", 12.5),
                        orders,
                        Map.of("consumer_byte_rate", 2_000.0)));
        assertThat(describe(ClientQuotaFilter.contains(
                        List.of(ClientQuotaFilterComponent.ofEntity("client-id", "orders")))))
                .containsOnlyKeys(orders);
        assertThat(describe(
                        ClientQuotaFilter.containsOnly(List.of(ClientQuotaFilterComponent.ofEntityType("client-id")))))
                .containsOnlyKeys(EVERY_CLIENT);
        assertThat(describe(
                        ClientQuotaFilter.contains(List.of(ClientQuotaFilterComponent.ofDefaultEntity("client-id")))))
                .containsOnlyKeys(EVERY_CLIENT);
    }

    @Test
    void shouldRefuseWhatItDoesNotLimit() {
        assertRefused(EVERY_CLIENT, new Op("producer_byte_rate", -1.0), "greater than 0");
        assertRefused(EVERY_CLIENT, new Op("producer_byte_rate", 1.5), "whole number");
        assertRefused(EVERY_CLIENT, new Op("controller_mutation_rate", 1.0), "producer_byte_rate");
        assertRefused(entity("team", "shop"), new Op("producer_byte_rate", 1.0), "'user', 'client-id', 'ip'");
        assertRefused(entity("ip", "10.0.0.1"), new Op("producer_byte_rate", 1.0), "connection_creation_rate");
        assertRefused(EVERY_CLIENT, new Op("connection_creation_rate", 1.0), "not a supported quota of clients");
        assertRefused(entity("ip", "localhost"), new Op("connection_creation_rate", 1.0), "not an IP address");
        assertRefused(
                new ClientQuotaEntity(Map.of("user", "shop", "ip", "10.0.0.1")),
                new Op("connection_creation_rate", 1.0),
                "has no user and no client");
    }

    @Test
    void shouldCloseNewConnectionsWhenAnAddressOpensTooManyInASecond() throws Exception {
        ClientQuotaEntity here = entity("ip", "127.0.0.1");
        ClientQuotaEntity everywhere = entity("ip", null);
        alter(everywhere, new Op("connection_creation_rate", 3.0));
        alter(here, new Op("connection_creation_rate", 5.0));
        assertThat(describe(
                        ClientQuotaFilter.contains(List.of(ClientQuotaFilterComponent.ofEntity("ip", "127.0.0.1")))))
                .isEqualTo(Map.of(here, Map.of("connection_creation_rate", 5.0)));

        // when, then at least a burst of one second is served, and not much more
        assertThat(servedOf(40)).isBetween(5, 20);
        assertThat(broker.network().openConnections())
                .as("those of the administrator stay")
                .isPositive();

        // and the quota holds after a restart
        admin.close();
        broker.stop();
        broker.start();
        assertThat(servedOf(40)).isBetween(5, 20);
        Thread.sleep(1_100);
        admin = broker.admin();
        alter(here, new Op("connection_creation_rate", null));
        alter(everywhere, new Op("connection_creation_rate", null));
        assertThat(servedOf(40)).isEqualTo(40);
    }

    /** Opens connections one after the other. Returns how many of them are served. */
    private int servedOf(int count) {
        int served = 0;
        for (int i = 0; i < count; i++) {
            try (WireClient client = new WireClient(broker.port())) {
                client.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0);
                served++;
            } catch (IOException closed) {
                // Too many in this second.
            }
        }
        return served;
    }

    @Test
    void shouldTellAProducerToWaitAndReadNothingOfItMeanwhile() throws Exception {
        broker.createTopic("t", 1, Map.of());
        alter(EVERY_CLIENT, new Op("producer_byte_rate", 10_000.0));

        try (WireClient client = new WireClient(broker.port())) {
            ProduceResponse response = client.call(
                    ProduceResponse.class,
                    WireClient.produceRequest("t", 0, WireClient.batch(1, new byte[20_000])),
                    PRODUCE_VERSION);
            assertThat(response.throttleTimeMs()).isBetween(900, 1_200);
            long begunNanos = System.nanoTime();
            client.produce("t", 0, WireClient.batch(1, new byte[10]));
            assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos))
                    .as("the response to the second request is delayed until the first is paid for")
                    .isGreaterThan(500);
        }
        assertThat(broker.network().pausedMs()).isPositive();
    }

    @Test
    void shouldTellAConsumerToWait() throws Exception {
        broker.createTopic("t", 1, Map.of());
        alter(EVERY_CLIENT, new Op("consumer_byte_rate", 10_000.0));

        try (WireClient client = new WireClient(broker.port())) {
            client.produce("t", 0, WireClient.batch(1, new byte[20_000]));
            FetchResponse response = client.call(FetchResponse.class, fetch(), FETCH_VERSION);
            assertThat(response.throttleTimeMs()).isBetween(900, 1_200);
        }
    }

    private static FetchRequest fetch() {
        return new FetchRequest()
                .setMaxBytes(1_000_000)
                .setTopics(List.of(new FetchRequest.FetchTopic()
                        .setTopic("t")
                        .setPartitions(List.of(new FetchRequest.FetchPartition().setPartitionMaxBytes(1_000_000)))));
    }

    private void assertRefused(ClientQuotaEntity entity, Op change, String words) {
        assertThatThrownBy(() -> alter(entity, change))
                .cause()
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(words);
    }

    private void alter(ClientQuotaEntity entity, Op... changes) throws Exception {
        get(admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity, List.of(changes))))
                .all());
    }

    private Map<ClientQuotaEntity, Map<String, Double>> describe(ClientQuotaFilter filter) throws Exception {
        return get(admin.describeClientQuotas(filter).entities());
    }

    private static ClientQuotaEntity entity(String type, String name) {
        Map<String, String> parts = new java.util.HashMap<>();
        parts.put(type, name);
        return new ClientQuotaEntity(parts);
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(SECONDS, TimeUnit.SECONDS);
    }
}
