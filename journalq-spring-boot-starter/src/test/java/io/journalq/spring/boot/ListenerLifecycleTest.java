package io.journalq.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.Consumer;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import io.journalq.embedded.junit.JournalQExtension;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Listeners that are stopped while they are being started. */
@Timeout(120)
final class ListenerLifecycleTest {
    @RegisterExtension
    static final JournalQExtension BROKER =
            JournalQExtension.of(JournalQ.embedded().inMemory());

    private ApplicationContextRunner application;

    @BeforeEach
    void useTheBroker(EmbeddedBroker broker) {
        application = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(JournalQAutoConfiguration.class))
                .withPropertyValues(
                        "journalq.bootstrap-servers=" + broker.bootstrapServers(),
                        "journalq.listener.auto-startup=false");
    }

    /** Stands still in the first start of a listener until it is released. */
    static final class FirstStart implements JournalQListeners.ConsumerObserver {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);

        @Override
        public void created(Consumer consumer, String clientId) {
            if (begun.getCount() > 0) {
                begun.countDown();
                try {
                    released.await();
                } catch (InterruptedException interrupted) {
                    throw new IllegalStateException("nobody interrupts it", interrupted);
                }
            }
        }
    }

    @Test
    void shouldRunAListenerOnceWhenItIsStoppedAndStartedDuringItsStart() {
        application
                .withPropertyValues("texts.topic=restarted")
                .withBean(JournalQListenerTest.Texts.class)
                .withBean(FirstStart.class)
                .run(context -> {
                    // given
                    JournalQListeners listeners = context.getBean(JournalQListeners.class);
                    FirstStart first = context.getBean(FirstStart.class);
                    CompletableFuture<Void> slow = CompletableFuture.runAsync(listeners::start);
                    first.begun.await();

                    // when
                    listeners.stop();
                    listeners.start();
                    first.released.countDown();
                    slow.get(60, TimeUnit.SECONDS);

                    // then
                    assertThat(Thread.getAllStackTraces().keySet().stream()
                                    .filter(thread -> thread.getName().startsWith("Texts.receive-")))
                            .hasSize(1);
                });
    }

    @Test
    void shouldStopWhenTheContextStopsDuringItsStart() {
        application
                .withPropertyValues("texts.topic=stopped")
                .withBean(JournalQListenerTest.Texts.class)
                .withBean(FirstStart.class)
                .run(context -> {
                    // given
                    FirstStart first = context.getBean(FirstStart.class);
                    CompletableFuture<Void> start = CompletableFuture.runAsync(context::start);
                    first.begun.await();

                    // when
                    context.stop();
                    first.released.countDown();
                    start.get(60, TimeUnit.SECONDS);

                    // then
                    assertThat(context.getBean(JournalQListeners.class).isRunning())
                            .isFalse();
                    assertThat(Thread.getAllStackTraces().keySet())
                            .noneMatch(thread -> thread.getName().startsWith("Texts.receive-"));
                });
    }
}
