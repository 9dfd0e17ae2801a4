package io.journalq.client.internal.produce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.BufferExhaustedException;
import io.journalq.client.error.ClientClosedException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
final class BufferMemoryTest {
    @Test
    void shouldSayThatNothingElseIsInUseOnlyWhenThatIsSo() {
        BufferMemory memory = new BufferMemory(100, 50);
        assertThat(memory.acquire(10)).isZero();
        assertThat(memory.acquire(10)).isEqualTo(10);
        memory.release(20);
        assertThat(memory.acquire(10)).isZero();
    }

    @Test
    void shouldFailWithWhatToDoWhenItStaysFull() {
        BufferMemory memory = new BufferMemory(100, 50);
        memory.acquire(90);
        assertThatThrownBy(() -> memory.acquire(20))
                .isInstanceOf(BufferExhaustedException.class)
                .hasMessageContaining("bufferMemoryBytes");
        assertThat(memory.usedBytes()).isEqualTo(90);
    }

    @Test
    void shouldLetAWaitingSenderThroughWhenBytesComeBack() throws Exception {
        // given a sender that waits
        BufferMemory memory = new BufferMemory(100, 10_000);
        memory.acquire(90);
        FutureTask<Long> waiting = new FutureTask<>(() -> memory.acquire(50));
        startAndAwaitWaiting(waiting);
        // when
        memory.release(90);
        // then
        waiting.get(30, TimeUnit.SECONDS);
        assertThat(memory.usedBytes()).isEqualTo(50);
    }

    @Test
    void shouldLetOneThroughThatIsLargerThanTheLimitWhenNothingElseIsInUse() {
        BufferMemory memory = new BufferMemory(100, 50);
        assertThat(memory.acquire(500)).isZero();
    }

    @Test
    void shouldEndAWaitWhenClosed() throws Exception {
        BufferMemory memory = new BufferMemory(100, 10_000);
        memory.acquire(100);
        FutureTask<Long> waiting = new FutureTask<>(() -> memory.acquire(50));
        startAndAwaitWaiting(waiting);
        memory.close();
        assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS)).hasCauseInstanceOf(ClientClosedException.class);
        assertThat(memory.usedBytes()).isEqualTo(100);
    }

    @Test
    void shouldFailAtOnceWhenItIsFullAndClosed() {
        BufferMemory memory = new BufferMemory(100, 10_000);
        memory.acquire(100);
        memory.close();
        assertThatThrownBy(() -> memory.acquire(50)).isInstanceOf(ClientClosedException.class);
    }

    /** A sender waits when its thread does; before that it has not asked yet. */
    private static void startAndAwaitWaiting(FutureTask<Long> sender) throws InterruptedException {
        Thread thread = new Thread(sender, "waiting-sender");
        thread.setDaemon(true);
        thread.start();
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            assertThat(sender).isNotDone();
            Thread.sleep(1);
        }
    }
}
