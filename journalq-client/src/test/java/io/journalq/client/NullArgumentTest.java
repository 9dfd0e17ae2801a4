package io.journalq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.client.admin.AclFilter;
import io.journalq.client.admin.ConfigResource;
import io.journalq.client.admin.ElectionType;
import io.journalq.client.admin.NewTopic;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.group.GroupMember;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.group.TopicPattern;
import io.journalq.client.record.ProducerRecord;
import io.journalq.client.transaction.TransactionBody;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.id.Uuid;
import io.journalq.common.record.CompressionCodec;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A null names the parameter or setting of the API, whatever the method. */
@Timeout(60)
final class NullArgumentTest {
    private static FakeCluster cluster;
    private static Consumer consumer;
    private static Producer producer;
    private static Producer transactional;
    private static Admin admin;

    /** A value of each type of parameter. A new type needs one here. */
    private static final Map<Class<?>, Object> SAMPLES = Map.ofEntries(
            Map.entry(String.class, "orders"),
            Map.entry(Duration.class, Duration.ofMillis(1)),
            Map.entry(Collection.class, List.of()),
            Map.entry(List.class, List.of()),
            Map.entry(Map.class, Map.of()),
            Map.entry(TopicPartition.class, new TopicPartition("orders", 0)),
            Map.entry(Uuid.class, new Uuid(1, 1)),
            Map.entry(RebalanceListener.class, RebalanceListener.NONE),
            Map.entry(TopicPattern.class, TopicPattern.of("orders")),
            Map.entry(ProducerRecord.class, ProducerRecord.of("orders", null)),
            Map.entry(TransactionBody.class, (TransactionBody<RuntimeException>) transaction -> {}),
            Map.entry(NewTopic.class, NewTopic.of("orders", 1)),
            Map.entry(ConfigResource.class, ConfigResource.topic("orders")),
            Map.entry(ElectionType.class, ElectionType.PREFERRED),
            Map.entry(AclFilter.class, AclFilter.EVERY_ACL),
            Map.entry(GroupMember.class, GroupMember.outsider("billing")),
            Map.entry(CompressionCodec.class, CompressionCodec.NONE),
            Map.entry(ProducerInterceptor.class, new ProducerInterceptor() {}),
            Map.entry(ConsumerInterceptor.class, new ConsumerInterceptor() {}),
            Map.entry(int.class, 1),
            Map.entry(long.class, 1L),
            Map.entry(boolean.class, true));

    @BeforeAll
    static void start() throws Exception {
        cluster = new FakeCluster(1).topic("orders", 2);
        String servers = cluster.bootstrapServers();
        consumer =
                Consumer.builder().bootstrapServers(servers).groupId("billing").build();
        producer = Producer.builder().bootstrapServers(servers).build();
        transactional = Producer.builder()
                .bootstrapServers(servers)
                .transactionalId("copier")
                .build();
        admin = Admin.builder().bootstrapServers(servers).build();
    }

    @AfterAll
    static void stop() {
        consumer.close();
        producer.close();
        transactional.close();
        admin.close();
        cluster.close();
    }

    static Stream<Arguments> parameters() {
        return Stream.of(
                        Consumer.class,
                        Producer.class,
                        Admin.class,
                        Consumer.Builder.class,
                        Producer.Builder.class,
                        Admin.Builder.class)
                .flatMap(type -> PublicMethods.of(type).stream()
                        .flatMap(method -> IntStream.range(0, method.getParameterCount())
                                .filter(i -> !method.getParameterTypes()[i].isPrimitive())
                                .mapToObj(i -> Arguments.of(
                                        type.getName().replace("io.journalq.client.", ""),
                                        PublicMethods.nameOf(method),
                                        i,
                                        method))));
    }

    @ParameterizedTest(name = "{0}.{1} parameter {2}")
    @MethodSource("parameters")
    void shouldNameTheParameterWhenItIsNull(String type, String name, int index, Method method) {
        Parameter[] parameters = method.getParameters();
        Object[] arguments = new Object[parameters.length];
        for (int i = 0; i < arguments.length; i++) {
            Class<?> needed = parameters[i].getType();
            assertThat(i == index || SAMPLES.containsKey(needed))
                    .as("a sample of " + needed)
                    .isTrue();
            arguments[i] = i == index ? null : SAMPLES.get(needed);
        }
        // when
        Object target = targetOf(method);
        Throwable thrown = catchThrowable(() -> invoke(target, method, arguments));
        // then: a builder names its setting
        String named = type.endsWith("Builder") ? method.getName() : parameters[index].getName();
        assertThat(thrown)
                .isInstanceOfAny(NullPointerException.class, IllegalArgumentException.class)
                .hasMessageContaining(named)
                .message()
                .doesNotContain("\" because \"");
    }

    @Test
    void shouldNameTheParameterWhenACollectionContainsNull() {
        assertThatThrownBy(() -> consumer.assign(Collections.singletonList(null)))
                .hasMessageContaining("partitions");
        assertThatThrownBy(() -> consumer.subscribe(Collections.<String>singletonList(null)))
                .hasMessageContaining("topics");
        assertThatThrownBy(() -> admin.createTopics(Collections.singletonList(null)))
                .hasMessageContaining("newTopics");
        assertThatThrownBy(() -> producer.sendBatch("orders", 0, Collections.singletonList(null)))
                .hasMessageContaining("records");
        Map<TopicPartition, Long> offsets = new HashMap<>();
        offsets.put(new TopicPartition("orders", 0), null);
        assertThatThrownBy(() -> admin.deleteRecords(offsets)).hasMessageContaining("beforeOffsets");
    }

    private static Object targetOf(Method method) {
        Class<?> type = method.getDeclaringClass();
        if (type == Consumer.class) {
            return consumer;
        }
        if (type == Producer.class) {
            return method.getName().equals("inTransaction") ? transactional : producer;
        }
        if (type == Admin.class) {
            return admin;
        }
        return type == Producer.Builder.class
                ? Producer.builder()
                : type == Admin.Builder.class ? Admin.builder() : Consumer.builder();
    }

    private static void invoke(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
