package io.journalq.cli.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.error.ClientClosedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class InterruptGuardTest {
    @Test
    void shouldWaitForTheEndWhenTheCommandIsEndingAlready() throws InterruptedException {
        // given a command whose consumer is being closed
        InterruptGuard guard = new InterruptGuard();
        guard.onInterrupt(() -> {
            throw new ClientClosedException("the consumer is closed");
        });

        // when
        Thread hook = new Thread(guard::interrupted);
        hook.setUncaughtExceptionHandler((thread, failure) -> {
            throw new AssertionError("nobody catches what a hook throws", failure);
        });
        hook.start();
        hook.join(200);

        // then
        assertThat(hook.isAlive()).isTrue();
        guard.close();
        hook.join();
    }
}
