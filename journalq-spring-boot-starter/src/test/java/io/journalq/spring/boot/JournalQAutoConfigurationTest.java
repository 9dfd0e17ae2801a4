package io.journalq.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.journalq.client.Admin;
import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.Producer;
import io.journalq.client.ProducerInterceptor;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.record.ProducerRecord;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.junit.JournalQExtension;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@Timeout(120)
@ExtendWith(JournalQExtension.class)
final class JournalQAutoConfigurationTest {
    private ApplicationContextRunner application;

    @BeforeEach
    void useTheBroker(EmbeddedBroker broker) {
        application = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(JournalQAutoConfiguration.class))
                .withPropertyValues(
                        "spring.application.name=shop",
                        "journalq.bootstrap-servers=" + broker.bootstrapServers(),
                        "journalq.consumer.start-at=beginning");
    }

    @Test
    void shouldSendAndReadWhenOnlyTheBrokerIsSet() {
        application.run(context -> {
            context.getBean(JournalQTemplate.class).send("plain", "key", "value");
            context.getBean(Producer.class).send(ProducerRecord.of("plain", "more".getBytes(UTF_8)));

            assertThat(values(context.getBean(ConsumerFactory.class), "plain", 2))
                    .containsExactly("value", "more");
            assertThat(context.getBean(Admin.class).listTopics())
                    .anyMatch(topic -> topic.name().equals("plain"));
        });
    }

    @Test
    void shouldCloseTheClientsWhenTheContextCloses() {
        List<Producer> producers = new ArrayList<>();
        List<Admin> admins = new ArrayList<>();
        application.run(context -> {
            producers.add(context.getBean(Producer.class));
            admins.add(context.getBean(Admin.class));
        });

        assertThatThrownBy(producers.get(0)::metrics).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(admins.get(0)::listTopics).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void shouldUseTheProducerOfTheApplicationWhenItDefinesOne(EmbeddedBroker broker) {
        Producer own = Producer.builder()
                .bootstrapServers(broker.bootstrapServers())
                .clientId("own")
                .build();
        application.withBean(Producer.class, () -> own).run(context -> assertThat(context.getBean(Producer.class))
                .isSameAs(own));
    }

    @Test
    void shouldStartWhenTheApplicationDefinesSeveralProducers(EmbeddedBroker broker) {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        ApplicationContextRunner two = application
                .withBean("first", Producer.class, () -> producer(broker))
                .withBean("second", Producer.class, () -> producer(broker));

        two.run(context -> {
            assertThat(context).hasNotFailed().doesNotHaveBean(JournalQTemplate.class);
            context.getBeansOfType(MeterBinder.class).values().forEach(binder -> binder.bindTo(registry));
            assertThat(registry.find("journalq.client.producer.records").functionCounter())
                    .isNull();
        });
        two.withBean("primary", Producer.class, () -> producer(broker), definition -> definition.setPrimary(true))
                .run(context -> {
                    context.getBean(JournalQTemplate.class).send("primary", "value");
                    assertThat(context.getBean("primary", Producer.class)
                                    .metrics()
                                    .records())
                            .isEqualTo(1);
                    context.getBeansOfType(MeterBinder.class).values().forEach(binder -> binder.bindTo(registry));
                    assertThat(registry.get("journalq.client.producer.records")
                                    .functionCounter()
                                    .count())
                            .isEqualTo(1);
                });
    }

    private static Producer producer(EmbeddedBroker broker) {
        return Producer.builder().bootstrapServers(broker.bootstrapServers()).build();
    }

    @Test
    void shouldApplyThePropertiesWhenTheyAreSet() {
        application
                .withPropertyValues(
                        "journalq.producer.transactional-id=tx",
                        "journalq.producer.compression=zstd",
                        "journalq.producer.batch-size=128KB",
                        "journalq.producer.linger=5ms",
                        "journalq.consumer.group-id=audit",
                        "journalq.consumer.isolation=read-committed",
                        "journalq.consumer.fetch-max-size=1MB",
                        "journalq.value-serde=long")
                .run(context -> {
                    Producer producer = context.getBean(Producer.class);
                    JournalQTemplate template = context.getBean(JournalQTemplate.class);
                    assertThatThrownBy(() -> template.send("numbers", 7L)).isInstanceOf(IllegalStateException.class);
                    producer.inTransaction(transaction -> transaction.send(template.record("numbers", null, 7L)));
                    try (Consumer consumer =
                            context.getBean(ConsumerFactory.class).create()) {
                        consumer.subscribe(List.of("numbers"));
                        ConsumerRecord record = read(consumer, 1).get(0);
                        assertThat(record.value()).containsExactly(0, 0, 0, 0, 0, 0, 0, 7);
                        assertThat(consumer.groupMember().groupId()).isEqualTo("audit");
                    }
                });
    }

    @Test
    void shouldAddInterceptorsWhenTheyAreBeans() {
        application
                .withBean(ProducerInterceptor.class, () -> new ProducerInterceptor() {
                    @Override
                    public ProducerRecord onSend(ProducerRecord record) {
                        return record.toBuilder().value("seen".getBytes(UTF_8)).build();
                    }
                })
                .run(context -> {
                    context.getBean(JournalQTemplate.class).send("intercepted", "value");
                    assertThat(values(context.getBean(ConsumerFactory.class), "intercepted", 1))
                            .containsExactly("seen");
                });
    }

    @Test
    void shouldReportTheClusterAsHealthyWhenABrokerResponds() {
        AtomicReference<Health> health = new AtomicReference<>();
        application.run(context -> health.set(context.getBean("journalqHealthIndicator", HealthIndicator.class)
                .health()));

        assertThat(health.get().getStatus()).isEqualTo(Status.UP);
        assertThat(health.get().getDetails()).containsEntry("brokers", 1).containsKey("clusterId");
    }

    @Test
    void shouldReportTheClusterAsDownInTimeWhenNoBrokerResponds() {
        application
                .withPropertyValues("journalq.bootstrap-servers=localhost:1", "journalq.health.timeout=300ms")
                .run(context -> {
                    long startNanos = System.nanoTime();
                    Health health = context.getBean(HealthIndicator.class).health();
                    assertThat(health.getStatus()).isEqualTo(Status.DOWN);
                    assertThat(Duration.ofNanos(System.nanoTime() - startNanos)).isLessThan(Duration.ofSeconds(15));
                });
    }

    @Test
    void shouldNotCheckTheHealthWhenItIsDisabled() {
        application
                .withPropertyValues("management.health.journalq.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
    }

    @Test
    void shouldStartWithoutHealthMetersAndJsonWhenTheirLibrariesAreMissing() {
        application
                .withClassLoader(new FilteredClassLoader(
                        FilteredClassLoader.ClassFilter.of(HealthIndicator.class),
                        FilteredClassLoader.PackageFilter.of("io.micrometer.core", "com.fasterxml.jackson")))
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(JournalQTemplate.class);
                    assertThat(context).doesNotHaveBean("journalqHealthIndicator");
                    assertThat(context).doesNotHaveBean("journalqProducerMeters");
                });
    }

    @Test
    void shouldCountRecordsWhenThereIsAMeterRegistry() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        application.run(context -> {
            context.getBeansOfType(MeterBinder.class).values().forEach(binder -> binder.bindTo(registry));
            context.getBean(JournalQTemplate.class).send("metered", "value");

            assertThat(registry.get("journalq.client.producer.records")
                            .tag("client", "shop")
                            .functionCounter()
                            .count())
                    .isEqualTo(1);
        });
    }

    @Test
    void shouldDescribeEveryPropertyInTheMetadata() throws IOException {
        JsonNode metadata;
        try (InputStream file =
                JournalQProperties.class.getResourceAsStream("/META-INF/spring-configuration-metadata.json")) {
            metadata = new ObjectMapper().readTree(file);
        }

        assertThat(metadata.get("properties")).hasSizeGreaterThan(30).allSatisfy(property -> assertThat(
                        property.path("description").asText())
                .as(property.get("name").asText())
                .isNotBlank());
        assertThat(metadata.get("properties"))
                .extracting(property -> property.get("name").asText())
                .contains(
                        "journalq.bootstrap-servers",
                        "journalq.value-serde",
                        "journalq.producer.acks",
                        "journalq.consumer.group-id",
                        "journalq.listener.max-attempts",
                        "journalq.health.timeout");
    }

    private static List<String> values(ConsumerFactory consumers, String topic, int count) {
        try (Consumer consumer = consumers.create()) {
            consumer.assign(consumer.partitionsOf(topic));
            return read(consumer, count).stream()
                    .map(record -> new String(record.value(), UTF_8))
                    .toList();
        }
    }

    private static List<ConsumerRecord> read(Consumer consumer, int count) {
        List<ConsumerRecord> records = new ArrayList<>();
        while (records.size() < count) {
            consumer.poll(Duration.ofSeconds(1)).forEach(records::add);
        }
        return records;
    }
}
