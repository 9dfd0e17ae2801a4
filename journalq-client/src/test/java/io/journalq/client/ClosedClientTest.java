package io.journalq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.fake.FakeCluster;
import io.journalq.client.fake.Fault;
import io.journalq.client.group.CommittedOffset;
import io.journalq.client.group.RebalanceListener;
import io.journalq.client.record.ProducerRecord;
import io.journalq.common.id.TopicPartition;
import io.journalq.common.protocol.ApiKey;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The end of the clients, and calls of several threads, over real sockets. */
@Timeout(60)
final class ClosedClientTest {
    private static final TopicPartition FIRST = new TopicPartition("orders", 0);
    private static final Duration LONG = Duration.ofSeconds(50);
    private static final long PROMPT_SECONDS = 15;

    private FakeCluster cluster;

    /** The clients, and how to build each. */
    enum Client {
        CONSUMER(Consumer.class),
        GROUP_MEMBER(Consumer.class),
        PRODUCER(Producer.class),
        TRANSACTIONAL_PRODUCER(Producer.class),
        ADMIN(Admin.class);

        private final Class<?> type;

        Client(Class<?> type) {
            this.type = type;
        }

        private AutoCloseable build(String servers) {
            return switch (this) {
                case CONSUMER -> Consumer.builder().bootstrapServers(servers).build();
                case GROUP_MEMBER ->
                    Consumer.builder()
                            .bootstrapServers(servers)
                            .groupId("billing")
                            .build();
                case PRODUCER -> Producer.builder().bootstrapServers(servers).build();
                case TRANSACTIONAL_PRODUCER ->
                    Producer.builder()
                            .bootstrapServers(servers)
                            .transactionalId("copier")
                            .build();
                case ADMIN -> Admin.builder().bootstrapServers(servers).build();
            };
        }
    }

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(1).topic("orders", 2);
    }

    @AfterEach
    void stop() {
        cluster.close();
    }

    static Stream<Arguments> publicMethods() {
        return Arrays.stream(Client.values()).flatMap(client -> PublicMethods.of(client.type).stream()
                .filter(method -> !method.getName().equals("close"))
                .map(method -> Arguments.of(client, PublicMethods.nameOf(method), method)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("publicMethods")
    void shouldThrowClientClosedExceptionWhenAnyMethodIsCalledAfterClose(Client client, String name, Method method)
            throws Exception {
        AutoCloseable closed = client.build(cluster.bootstrapServers());
        closed.close();
        // when: the arguments do not matter any more
        Throwable thrown = catchThrowable(() -> call(closed, method));
        // then
        assertThat(thrown).as(name).isInstanceOf(ClientClosedException.class).hasMessageContaining("closed");
    }

    private static void call(Object target, Method method) throws Throwable {
        Object[] arguments = new Object[method.getParameterCount()];
        for (int i = 0; i < arguments.length; i++) {
            Class<?> type = method.getParameterTypes()[i];
            arguments[i] = type == int.class ? (Object) 0 : type == long.class ? (Object) 0L : null;
        }
        try {
            method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @ParameterizedTest
    @MethodSource("clients")
    void shouldHaveNoEffectWhenClosedAgain(Client client) throws Exception {
        AutoCloseable closed = client.build(cluster.bootstrapServers());
        closed.close();
        closed.close();
    }

    static Client[] clients() {
        return Client.values();
    }

    @Test
    void shouldEndAPollThatWaitsWhenAnotherThreadCloses() throws Exception {
        Consumer consumer = (Consumer) Client.CONSUMER.build(cluster.bootstrapServers());
        consumer.assign(List.of(FIRST));
        consumer.seek(FIRST, 0);
        // given
        CompletableFuture<Throwable> poll = inAnotherThread("poller", () -> consumer.poll(LONG));
        Thread.sleep(300);
        assertThat(poll).isNotDone();
        // when
        consumer.close();
        // then
        assertThat(poll.get(PROMPT_SECONDS, TimeUnit.SECONDS)).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void shouldLeaveTheGroupWhenAnotherThreadClosesDuringAPoll() throws Exception {
        cluster.coordinator().assign(List.of(FIRST));
        List<String> heard = new ArrayList<>();
        Consumer consumer = (Consumer) Client.GROUP_MEMBER.build(cluster.bootstrapServers());
        CountDownLatch assigned = new CountDownLatch(1);
        consumer.subscribe(List.of("orders"), new RebalanceListener() {
            @Override
            public void onAssigned(Collection<TopicPartition> partitions) {
                assigned.countDown();
            }

            @Override
            public void onRevoked(Collection<TopicPartition> partitions) {
                // A listener may use the consumer while close calls it.
                consumer.commit(Map.of(FIRST, CommittedOffset.of(7)));
                heard.add("revoked " + consumer.assignment());
            }
        });
        CompletableFuture<Throwable> poll = inAnotherThread("poller", () -> consumer.poll(LONG));
        assertThat(assigned.await(PROMPT_SECONDS, TimeUnit.SECONDS)).isTrue();
        // when
        consumer.close();
        // then
        assertThat(poll.get(PROMPT_SECONDS, TimeUnit.SECONDS)).isInstanceOf(ClientClosedException.class);
        assertThat(heard).containsExactly("revoked [orders-0]");
        assertThat(cluster.coordinator().committed(FIRST)).isEqualTo(7);
    }

    @Test
    void shouldEndAPollThatLooksUpAPositionWhenAnotherThreadCloses() throws Exception {
        int deadPort;
        try (ServerSocket socket = new ServerSocket(0)) {
            deadPort = socket.getLocalPort();
        }
        Consumer consumer = (Consumer) Client.CONSUMER.build("localhost:" + deadPort);
        consumer.assign(List.of(FIRST));
        CompletableFuture<Throwable> poll = inAnotherThread("poller", () -> consumer.poll(LONG));
        Thread.sleep(300);
        assertThat(poll).isNotDone();
        // when
        consumer.close();
        // then
        assertThat(poll.get(PROMPT_SECONDS, TimeUnit.SECONDS)).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void shouldEndACallOfTheAdminWhenAnotherThreadCloses() throws Exception {
        cluster.faults(key -> key == ApiKey.METADATA ? Fault.DEAF : Fault.NONE);
        Admin admin = (Admin) Client.ADMIN.build(cluster.bootstrapServers());
        CompletableFuture<Throwable> call = inAnotherThread("caller", admin::listTopics);
        Thread.sleep(300);
        assertThat(call).isNotDone();
        // when
        admin.close();
        // then
        assertThat(call.get(PROMPT_SECONDS, TimeUnit.SECONDS)).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void shouldCompleteCommitsThatAreRetriedWhenTheConsumerCloses() throws Exception {
        cluster.faults(key -> key == ApiKey.OFFSET_COMMIT ? Fault.DROP_BEFORE : Fault.NONE);
        Consumer consumer = (Consumer) Client.GROUP_MEMBER.build(cluster.bootstrapServers());
        CompletableFuture<Void> commit = consumer.commitAsync(Map.of(FIRST, CommittedOffset.of(7)));
        Thread.sleep(300);
        // when
        consumer.close();
        // then
        assertThatThrownBy(() -> commit.get(PROMPT_SECONDS, TimeUnit.SECONDS))
                .hasCauseInstanceOf(ClientClosedException.class);
    }

    @Test
    void shouldNameBothThreadsWhenASecondOneUsesTheConsumer() throws Exception {
        try (Consumer consumer = (Consumer) Client.CONSUMER.build(cluster.bootstrapServers())) {
            consumer.assign(List.of(FIRST));
            consumer.seek(FIRST, 0);
            CompletableFuture<Throwable> poll = inAnotherThread("poller", () -> consumer.poll(LONG));
            Thread.sleep(300);
            assertThat(poll).isNotDone();
            // when
            Throwable second =
                    inAnotherThread("intruder", () -> consumer.poll(LONG)).get(PROMPT_SECONDS, TimeUnit.SECONDS);
            Throwable third = inAnotherThread("meddler", consumer::assignment).get(PROMPT_SECONDS, TimeUnit.SECONDS);
            // then
            assertThat(second)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll("\"intruder\"", "\"poller\"", "poll", "one thread at a time");
            assertThat(third)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll("\"meddler\"", "assignment", "\"poller\"");
            assertThat(consumer.metrics().records()).isZero();
        }
    }

    @Test
    void shouldSayThatListenersMustNotPollOrCloseWhenOneDoes() {
        cluster.coordinator().assign(List.of(FIRST));
        for (String call : List.of("poll", "close")) {
            try (Consumer consumer = (Consumer) Client.GROUP_MEMBER.build(cluster.bootstrapServers())) {
                consumer.subscribe(List.of("orders"), new RebalanceListener() {
                    @Override
                    public void onAssigned(Collection<TopicPartition> partitions) {
                        if (call.equals("poll")) {
                            consumer.poll(LONG);
                        } else {
                            close(consumer);
                        }
                    }
                });
                assertThatThrownBy(() -> consumer.poll(LONG))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContainingAll("listener", call);
            }
        }
    }

    @Test
    void shouldAllowAnotherThreadToTakeOverWhenTheFirstHasReturned() throws Exception {
        try (Producer producer = (Producer) Client.PRODUCER.build(cluster.bootstrapServers())) {
            producer.send(ProducerRecord.of("orders", 0, null, new byte[1]));
        }
        try (Consumer consumer = (Consumer) Client.CONSUMER.build(cluster.bootstrapServers())) {
            assertThat(inAnotherThread("first", () -> consumer.assign(List.of(FIRST)))
                            .get(PROMPT_SECONDS, TimeUnit.SECONDS))
                    .isNull();
            consumer.seek(FIRST, 0);
            assertThat(consumer.poll(LONG).count()).isEqualTo(1);
        }
    }

    private static void close(Consumer consumer) {
        consumer.close();
    }

    /** Completes with what the call throws, or null. */
    private static CompletableFuture<Throwable> inAnotherThread(String name, Runnable call) {
        CompletableFuture<Throwable> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> result.complete(catchThrowable(call::run)), name);
        thread.setDaemon(true);
        thread.start();
        return result;
    }
}
