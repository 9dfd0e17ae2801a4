package io.journalq.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.admin.TopicListing;
import io.journalq.client.error.BufferExhaustedException;
import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.UnknownTopicException;
import io.journalq.client.fake.FakeCluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of an admin that do not block, over real sockets. */
@Timeout(60)
final class AsyncAdminTest {
    private static final Duration LONG = Duration.ofSeconds(10);

    private FakeCluster cluster;
    private Admin admin;

    @BeforeEach
    void start() throws Exception {
        cluster = new FakeCluster(1).topic("orders", 2);
        admin = Admin.builder().bootstrapServers(cluster.bootstrapServers()).build();
    }

    @AfterEach
    void stop() {
        admin.close();
        cluster.close();
    }

    @Test
    void shouldCompleteWithTheResultWhenACallReturns() {
        List<String> orders = List.of("orders");

        assertThat(admin.async().call(called -> called.describeTopics(orders)))
                .succeedsWithin(LONG)
                .satisfies(topics -> assertThat(topics).containsOnlyKeys("orders"));
        assertThat(admin.async().run(called -> called.describeTopics(orders)))
                .succeedsWithin(LONG)
                .isNull();
    }

    @Test
    void shouldFailWithTheExceptionOfTheMethodWhenACallFails() {
        assertThat(admin.async().call(called -> called.describeTopics(List.of("nosuch"))))
                .failsWithin(LONG)
                .withThrowableThat()
                .withCauseInstanceOf(UnknownTopicException.class);
    }

    @Test
    void shouldRunEightCallsAndLetAThousandWaitWhenThereAreMore() throws Exception {
        // given
        CountDownLatch started = new CountDownLatch(8);
        CountDownLatch go = new CountDownLatch(1);
        List<CompletableFuture<Void>> calls = new ArrayList<>();
        for (int i = 0; i < 1_008; i++) {
            calls.add(admin.async().run(called -> {
                started.countDown();
                await(go);
            }));
        }
        started.await();
        // when
        CompletableFuture<Void> oneMore = admin.async().run(called -> {});
        // then
        assertThat(oneMore).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(BufferExhaustedException.class);
        go.countDown();
        assertThat(CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)))
                .succeedsWithin(LONG);
    }

    @Test
    void shouldFailCallsThatWaitWhenTheAdminIsClosed() throws Exception {
        // given
        CountDownLatch started = new CountDownLatch(8);
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < 8; i++) {
            var unused = admin.async().run(called -> {
                started.countDown();
                await(go);
            });
        }
        started.await();
        AsyncAdmin async = admin.async();
        CompletableFuture<List<TopicListing>> waits = async.call(Admin::listTopics);
        // when
        admin.close();
        go.countDown();
        // then
        assertThat(waits).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> async.call(Admin::listTopics)).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> async.run(Admin::listTopics)).isInstanceOf(ClientClosedException.class);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
