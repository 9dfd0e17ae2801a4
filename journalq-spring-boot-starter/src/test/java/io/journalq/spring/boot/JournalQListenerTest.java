package io.journalq.spring.boot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.Consumer;
import io.journalq.client.ConsumerRecord;
import io.journalq.client.TypedRecord;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.serialization.Serde;
import io.journalq.common.id.TopicPartition;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import io.journalq.embedded.junit.JournalQExtension;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.env.PropertySource;

@Timeout(120)
final class JournalQListenerTest {
    /** Members learn with a heartbeat that a topic was created. */
    @RegisterExtension
    static final JournalQExtension BROKER = JournalQExtension.of(JournalQ.embedded()
            .inMemory()
            .set("group.consumer.heartbeat.interval.ms", "100")
            .set("group.consumer.min.heartbeat.interval.ms", "100"));

    private ApplicationContextRunner application;

    record Order(String item, int count) {}

    @BeforeEach
    void useTheBroker(EmbeddedBroker broker) {
        application = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(JournalQAutoConfiguration.class))
                .withPropertyValues(
                        "journalq.bootstrap-servers=" + broker.bootstrapServers(),
                        "journalq.consumer.start-at=beginning",
                        "journalq.listener.retry-delay=20ms");
    }

    static final class Texts {
        final BlockingQueue<TypedRecord<String, String>> received = new LinkedBlockingQueue<>();

        @JournalQListener(topics = "${texts.topic}", groupId = "texts")
        void receive(TypedRecord<String, String> record) {
            received.add(record);
        }
    }

    @Test
    void shouldReceiveKeysAndValuesWhenTheMethodTakesATypedRecord() {
        application
                .withPropertyValues("texts.topic=texts")
                .withBean(Texts.class)
                .run(context -> {
                    context.getBean(JournalQTemplate.class).send("texts", "k", "Käse");

                    TypedRecord<String, String> record = take(context.getBean(Texts.class).received);
                    assertThat(record.key()).isEqualTo("k");
                    assertThat(record.value()).isEqualTo("Käse");
                    assertThat(record.topic()).isEqualTo("texts");
                });
    }

    static final class Orders {
        final BlockingQueue<Order> received = new LinkedBlockingQueue<>();

        @JournalQListener(topics = "orders", groupId = "orders", concurrency = 2)
        public void receive(Order order) {
            received.add(order);
        }
    }

    @Test
    void shouldReceiveObjectsWhenTheFormatIsJson() {
        application
                .withPropertyValues("journalq.value-serde=json")
                .withBean(Orders.class)
                .run(context -> {
                    context.getBean(JournalQTemplate.class).send("orders", new Order("tea", 2));

                    assertThat(take(context.getBean(Orders.class).received)).isEqualTo(new Order("tea", 2));
                });
    }

    static final class Failing {
        final BlockingQueue<String> attempts = new LinkedBlockingQueue<>();

        @JournalQListener(topics = "failing", groupId = "failing")
        void receive(ConsumerRecord record) {
            String value = new String(record.value(), UTF_8);
            attempts.add(value);
            if (value.equals("bad")) {
                throw new IllegalStateException("refused");
            }
        }
    }

    @Test
    void shouldTryAgainAndThenCallTheFailureHandlerWhenTheMethodThrows() {
        BlockingQueue<String> failures = new LinkedBlockingQueue<>();
        application
                .withPropertyValues("journalq.listener.max-attempts=3")
                .withBean(Failing.class)
                .withBean(
                        ListenerFailureHandler.class,
                        () -> (record, cause) ->
                                failures.add(new String(record.value(), UTF_8) + " " + cause.getMessage()))
                .run(context -> {
                    JournalQTemplate template = context.getBean(JournalQTemplate.class);
                    template.send("failing", "bad");
                    template.send("failing", "good");

                    BlockingQueue<String> attempts = context.getBean(Failing.class).attempts;
                    for (String expected : new String[] {"bad", "bad", "bad", "good"}) {
                        assertThat(take(attempts)).isEqualTo(expected);
                    }
                    assertThat(failures).containsExactly("bad refused");
                });
    }

    @Test
    void shouldDeliverTheRecordAgainWhenTheFailureHandlerThrows() {
        BlockingQueue<String> failures = new LinkedBlockingQueue<>();
        application
                .withPropertyValues("journalq.listener.max-attempts=1", "journalq.consumer.group-id=unused")
                .withBean(Refusing.class)
                .withBean(ListenerFailureHandler.class, () -> (record, cause) -> {
                    failures.add(new String(record.value(), UTF_8));
                    if (failures.size() < 3) {
                        throw new IllegalStateException("not now");
                    }
                })
                .run(context -> {
                    JournalQTemplate template = context.getBean(JournalQTemplate.class);
                    template.send("refusing", "bad");
                    template.send("refusing", "last");

                    assertThat(take(context.getBean(Refusing.class).received)).isEqualTo("last");
                    assertThat(failures).containsExactly("bad", "bad", "bad");
                });
    }

    static final class Refusing {
        final BlockingQueue<String> received = new LinkedBlockingQueue<>();

        @JournalQListener(topics = "refusing", groupId = "refusing")
        void receive(String value) {
            if (value.equals("bad")) {
                throw new IllegalStateException("refused");
            }
            received.add(value);
        }
    }

    static final class Letters {
        @JournalQListener(topics = "letters", groupId = "letters")
        void receive(String value) {
            if (!value.isEmpty()) {
                throw new IllegalStateException("refused");
            }
        }
    }

    static final class DeadLetters implements ListenerFailureHandler {
        final BlockingQueue<String> received = new LinkedBlockingQueue<>();
        private final JournalQTemplate template;

        DeadLetters(JournalQTemplate template) {
            this.template = template;
        }

        @Override
        public void onFailure(ConsumerRecord record, Exception cause) {
            template.send("dead-letters", new String(record.value(), UTF_8));
        }

        @JournalQListener(topics = "dead-letters", groupId = "dead-letters")
        void receive(String value) {
            received.add(value);
        }
    }

    /** Its bean is created when the first container asks for it. */
    @Configuration(proxyBeanMethods = false)
    static class LazyDeadLetters {
        @Bean
        @Lazy
        DeadLetters deadLetters(JournalQTemplate template) {
            return new DeadLetters(template);
        }
    }

    @Test
    void shouldStartAListenerOnceWhenTheStartOfAnotherOneCreatesItsBean() {
        application
                .withPropertyValues("journalq.listener.max-attempts=1")
                .withBean(Letters.class)
                .withUserConfiguration(LazyDeadLetters.class)
                .run(context -> {
                    context.getBean(JournalQTemplate.class).send("letters", "bad");

                    DeadLetters dead = context.getBean(DeadLetters.class);
                    assertThat(take(dead.received)).isEqualTo("bad");
                    assertThat(Thread.getAllStackTraces().keySet().stream()
                                    .filter(thread -> thread.getName().startsWith("DeadLetters.receive-")))
                            .hasSize(1);
                });
    }

    static final class Early {
        @JournalQListener(topics = "early", groupId = "${early.group}")
        void receive(String text) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyBeans {
        private final CountDownLatch creating = new CountDownLatch(1);

        @Bean
        @Lazy
        Texts late() {
            creating.countDown();
            return new Texts();
        }

        @Bean
        @Lazy
        ListenerFailureHandler handler() {
            return (record, cause) -> {};
        }
    }

    @Test
    void shouldStartWhileAnotherThreadCreatesABeanWithListeners() throws Exception {
        // given a request that needs a lazy bean, and comes while a listener is being started
        ApplicationContextRunner runner = application
                .withPropertyValues("texts.topic=late")
                .withUserConfiguration(LazyBeans.class)
                .withBean(Early.class)
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new PropertySource<>("request", context) {
                            @Override
                            public Object getProperty(String name) {
                                if (!name.equals("early.group")) {
                                    return null;
                                }
                                CountDownLatch creating = source.getBean(LazyBeans.class).creating;
                                daemon(() -> source.getBean("late"));
                                awaitUninterruptibly(creating);
                                return "early";
                            }
                        }));

        // when
        CompletableFuture<String> received = new CompletableFuture<>();
        daemon(() -> {
            try {
                runner.run(context -> {
                    context.getBean(JournalQTemplate.class).send("late", "k", "v");
                    received.complete(
                            take(context.getBean(Texts.class).received).value());
                });
            } catch (RuntimeException | Error failure) {
                received.completeExceptionally(failure);
            }
        });

        // then
        assertThat(received).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("v");
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    static class Copied {
        @JournalQListener(topics = "copied", groupId = "copied")
        void receive(String value) {
            throw new AssertionError("no consumer runs");
        }
    }

    /** Nothing would ever end the consumers of an instance that is not used any more. */
    @Test
    void shouldRefuseListenersOfABeanThatIsCreatedAgainAndAgain() {
        application
                .withBean(Copied.class, Copied::new, bean -> bean.setScope("prototype"))
                .run(context -> {
                    for (int i = 0; i < 2; i++) {
                        assertThatThrownBy(() -> context.getBean(Copied.class))
                                .hasRootCauseInstanceOf(IllegalStateException.class)
                                .hasStackTraceContaining("its scope must be singleton");
                    }
                    assertThat(Thread.getAllStackTraces().keySet())
                            .noneMatch(thread -> thread.getName().startsWith("Copied.receive-"));
                });
    }

    static class Proxied {
        @JournalQListener(topics = "proxied", groupId = "proxied")
        void receive(String value) {
            throw new AssertionError("no consumer runs");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ProxiedPrototype {
        @Bean
        @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        Proxied proxied() {
            return new Proxied();
        }
    }

    /** The proxy is a singleton, and each call of its listener would create an instance with consumers of its own. */
    @Test
    void shouldRefuseListenersOfABeanThatAProxyCreatesAgainAndAgain() {
        application.withUserConfiguration(ProxiedPrototype.class).run(context -> {
            assertThatThrownBy(() -> context.getBean(Proxied.class))
                    .hasStackTraceContaining("its scope must be singleton");
            assertThat(Thread.getAllStackTraces().keySet())
                    .noneMatch(thread -> thread.getName().startsWith("Proxied.receive-"));
        });
    }

    static final class Slow {
        final BlockingQueue<String> received = new LinkedBlockingQueue<>();
        final CountDownLatch released = new CountDownLatch(1);

        @JournalQListener(topics = "slow", groupId = "slow")
        void receive(String value) throws InterruptedException {
            received.add(value);
            if (value.equals("2")) {
                released.await();
            }
        }
    }

    @Test
    void shouldCommitOnlyWhatTheMethodHasReturnedFromWhenTheContextCloses(EmbeddedBroker broker) {
        application.withBean(Slow.class).run(context -> {
            // given
            for (int i = 1; i <= 4; i++) {
                context.getBean(JournalQTemplate.class).send("slow", Integer.toString(i));
            }
            Slow slow = context.getBean(Slow.class);
            assertThat(take(slow.received)).isEqualTo("1");
            assertThat(take(slow.received)).isEqualTo("2");
            // when
            Thread stop =
                    new Thread(() -> context.getBean(JournalQListeners.class).stop());
            stop.start();
            while (stop.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(10);
            }
            slow.released.countDown();
            stop.join();
            // then
            assertThat(slow.received).isEmpty();
            try (Consumer group = Consumer.builder()
                    .bootstrapServers(broker.bootstrapServers())
                    .groupId("slow")
                    .build()) {
                TopicPartition partition = new TopicPartition("slow", 0);
                assertThat(group.committed(Set.of(partition)).get(partition).offset())
                        .isEqualTo(2);
            }
            // and the next start goes on behind it
            context.getBean(JournalQListeners.class).start();
            assertThat(take(slow.received)).isEqualTo("3");
            assertThat(take(slow.received)).isEqualTo("4");
        });
    }

    static final class Unreadable {
        final BlockingQueue<Order> received = new LinkedBlockingQueue<>();

        @JournalQListener(topics = "unreadable", groupId = "unreadable", valueSerde = "json")
        void receive(Order order) {
            received.add(order);
        }
    }

    @Test
    void shouldGoOnAfterARecordThatCannotBeDeserialized() {
        application.withBean(Unreadable.class).run(context -> {
            JournalQTemplate template = context.getBean(JournalQTemplate.class);
            template.send("unreadable", "{");
            template.send("unreadable", "{\"item\":\"tea\",\"count\":1}");

            assertThat(take(context.getBean(Unreadable.class).received)).isEqualTo(new Order("tea", 1));
        });
    }

    static final class Fragile {
        final BlockingQueue<String> received = new LinkedBlockingQueue<>();

        @JournalQListener(topics = "fragile", groupId = "fragile", valueSerde = "fragileSerde")
        void receive(String value) {
            received.add(value);
        }
    }

    /** Deserializes text, but needs a class that is missing for some of it. */
    static final class FragileSerde implements Serde<String> {
        @Override
        public byte[] serialize(String topic, String value) {
            return value.getBytes(UTF_8);
        }

        @Override
        public String deserialize(String topic, ByteBuffer data) {
            String value = UTF_8.decode(data).toString();
            if (value.equals("bad")) {
                throw new NoClassDefFoundError("shop/Missing");
            }
            return value;
        }
    }

    @Test
    void shouldGoOnWhenADeserializerOrTheFailureHandlerThrowsAnError() {
        BlockingQueue<String> failures = new LinkedBlockingQueue<>();
        application
                .withPropertyValues("journalq.listener.max-attempts=2")
                .withBean(Fragile.class)
                .withBean("fragileSerde", FragileSerde.class)
                .withBean(ListenerFailureHandler.class, () -> (record, cause) -> {
                    failures.add(cause.getCause().getMessage());
                    if (failures.size() < 2) {
                        throw new StackOverflowError("not now");
                    }
                })
                .run(context -> {
                    JournalQTemplate template = context.getBean(JournalQTemplate.class);
                    template.send("fragile", "bad");
                    template.send("fragile", "next");

                    assertThat(take(context.getBean(Fragile.class).received)).isEqualTo("next");
                    assertThat(failures).containsExactly("shop/Missing", "shop/Missing");
                });
    }

    @Test
    void shouldCountTheRecordsOfAListenerWhenThereIsAMeterRegistry() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        application
                .withPropertyValues("texts.topic=counted", "journalq.client-id=shop")
                .withBean(Texts.class)
                .run(context -> {
                    context.getBean(ListenerMeters.class).bindTo(registry);
                    context.getBean(JournalQTemplate.class).send("counted", "v");
                    take(context.getBean(Texts.class).received);

                    assertThat(registry.get("journalq.client.consumer.records")
                                    .tag("client", "Texts.receive-1")
                                    .functionCounter()
                                    .count())
                            .isEqualTo(1);
                });
    }

    @Test
    void shouldNotStartWhenTheFormatDoesNotFitTheParameter() {
        assertStartFails(
                application.withBean(Orders.class),
                "value-serde of the listener Orders.receive is utf8, which is for String and not for");
    }

    @Test
    void shouldNotStartWhenThereIsNoSuchFormat() {
        assertStartFails(
                application.withPropertyValues("journalq.key-serde=utf9"),
                "journalq.key-serde is utf9; use bytes, utf8, long, uuid, json, or the name of a bean");
    }

    static final class NobodyReads {
        @JournalQListener(topics = "nobody", groupId = "nobody", concurrency = 0)
        void receive(String value) {}
    }

    @Test
    void shouldNotStartWhenAListenerHasNoThread() {
        assertStartFails(
                application.withBean(NobodyReads.class), "the listener NobodyReads.receive has a concurrency of 0");
    }

    static final class Homeless {
        @JournalQListener(topics = "homeless")
        void receive(String value) {}
    }

    @Test
    void shouldNotStartWhenAListenerHasNoGroup() {
        assertStartFails(application.withBean(Homeless.class), "the listener Homeless.receive has no consumer group");
    }

    private static void assertStartFails(ApplicationContextRunner application, String message) {
        application.run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining(message));
    }

    private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        T taken = queue.poll(60, TimeUnit.SECONDS);
        assertThat(taken).isNotNull();
        return taken;
    }

    @Test
    void shouldCloseTheConsumerOfAListenerThatCannotStart() {
        List<Consumer> consumers = new ArrayList<>();
        application
                .withBean("texts", Texts.class)
                .withPropertyValues("texts.topic=texts")
                .withBean("refusing", JournalQListeners.ConsumerObserver.class, () -> (consumer, clientId) -> {
                    consumers.add(consumer);
                    throw new IllegalStateException("no meter can be registered");
                })
                .run(context -> assertThat(context).hasFailed());

        assertThat(consumers).singleElement().satisfies(consumer -> assertThatThrownBy(consumer::metrics)
                .isInstanceOf(ClientClosedException.class));
    }
}
