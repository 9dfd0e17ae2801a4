package io.journalq.client.produce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.client.error.BufferExhaustedException;
import io.journalq.client.error.ClientClosedException;
import java.util.concurrent.CompletableFuture;
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
        CompletableFuture<Long> waiting = CompletableFuture.supplyAsync(() -> memory.acquire(50));
        Thread.sleep(50);
        assertThat(waiting).isNotDone();
        // when
        memory.release(90);
        // then
        waiting.get(5, TimeUnit.SECONDS);
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
        CompletableFuture<Long> waiting = CompletableFuture.supplyAsync(() -> memory.acquire(50));
        Thread.sleep(50);
        memory.close();
        assertThatThrownBy(() -> waiting.get(5, TimeUnit.SECONDS)).hasCauseInstanceOf(ClientClosedException.class);
    }
}
