package io.journalq.server.api.admin.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.AlterConfigsRequest;
import io.journalq.common.protocol.message.AlterConfigsResponse;
import io.journalq.server.api.RequestContext;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.control.Controller;
import io.journalq.server.control.LocalMetadataLog;
import io.journalq.server.control.MetadataPublisher;
import io.journalq.server.control.MetadataReplica;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.file.MemoryFileStore;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** AlterConfigs of topics with several replicas, by clients that know only Kafka's settings. */
class AlterConfigsOfReplicasTest {
    private static final int SELF = 1;
    private static final int OTHER = 2;
    private static final byte TOPIC = 2;

    private final AtomicLong ids = new AtomicLong();
    private final MetadataPublisher publisher = new MetadataPublisher(Runnable::run);
    private Controller controller;
    private AlterConfigsHandler handler;

    @BeforeEach
    void start() throws Exception {
        Journal journal = Journal.openWhole(
                new MemoryFileStore(), Path.of("metadata-0"), LocalMetadataLog.JOURNAL_CONFIG, Runnable::run);
        controller = new Controller(
                new MetadataReplica(new MetadataMachine(new MetadataMachine.Limits(SELF, 1, 10, 10)), publisher),
                new LocalMetadataLog(SELF, journal, Clock.systemUTC(), UnpooledByteBufAllocator.DEFAULT),
                () -> new Uuid(1, ids.incrementAndGet()),
                Controller.newThread());
        controller.start(clusterId -> {}).get(10, TimeUnit.SECONDS);
        for (int nodeId : List.of(SELF, OTHER)) {
            controller.registerBroker(TestBrokers.registration(nodeId), -1).get(10, TimeUnit.SECONDS);
        }
        BrokerConfig config = BrokerConfig.defaults();
        handler = new AlterConfigsHandler(new ConfigAlteration(
                publisher::current,
                controller,
                new ConfigDescriber(config, publisher::current),
                new IneffectiveSettings(config)));
    }

    @AfterEach
    void close() throws IOException {
        controller.close();
    }

    @Test
    void shouldKeepTheDeliveryModeThatATopicWithSeveralReplicasMustHave() throws Exception {
        for (String mode : List.of("eventual", "consistent")) {
            create(mode, List.of(SELF, OTHER), mode);

            assertThat(alter(mode, "retention.ms", "5000")).isEqualTo(ErrorCode.NONE);

            assertThat(configs(mode)).containsOnly(Map.entry("retention.ms", "5000"), Map.entry("delivery.mode", mode));
            assertThat(alter(mode, "delivery.mode", "performance")).isEqualTo(ErrorCode.NONE);
            assertThat(configs(mode)).containsOnly(Map.entry("delivery.mode", "performance"));
        }
    }

    @Test
    void shouldResetTheDeliveryModeOfATopicWithOneReplica() throws Exception {
        create("single", List.of(SELF), "consistent");

        assertThat(alter("single", "retention.ms", "5000")).isEqualTo(ErrorCode.NONE);

        assertThat(configs("single")).containsOnly(Map.entry("retention.ms", "5000"));
    }

    private void create(String name, List<Integer> replicas, String mode) throws Exception {
        TopicSpec spec = new TopicSpec(
                name,
                TopicSpec.DEFAULT,
                TopicSpec.DEFAULT,
                List.of(replicas),
                Map.of("delivery.mode", mode, "segment.bytes", "2048"));
        assertThat(controller.createTopics(List.of(spec), false).get(10, TimeUnit.SECONDS))
                .singleElement()
                .satisfies(outcome -> assertThat(outcome.error()).isEqualTo(ErrorCode.NONE));
    }

    private Map<String, String> configs(String topic) {
        return publisher.current().topic(topic).configs();
    }

    private ErrorCode alter(String topic, String name, String value) throws Exception {
        CompletableFuture<AlterConfigsResponse> responded = new CompletableFuture<>();
        handler.handle(
                context(responded),
                new AlterConfigsRequest()
                        .setResources(List.of(new AlterConfigsRequest.AlterConfigsResource()
                                .setResourceType(TOPIC)
                                .setResourceName(topic)
                                .setConfigs(List.of(new AlterConfigsRequest.AlterableConfig()
                                        .setName(name)
                                        .setValue(value))))));
        return ErrorCode.of(
                responded.get(10, TimeUnit.SECONDS).responses().get(0).errorCode());
    }

    private static RequestContext context(CompletableFuture<AlterConfigsResponse> responded) {
        return (RequestContext) Proxy.newProxyInstance(
                RequestContext.class.getClassLoader(),
                new Class<?>[] {RequestContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "allows" -> true;
                    case "respond" -> {
                        responded.complete((AlterConfigsResponse) arguments[0]);
                        yield null;
                    }
                    default -> throw new AssertionError("unexpected call of " + method.getName());
                });
    }
}
