package io.journalq.cli.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.record.RecordMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class AcknowledgementsTest {
    @Test
    void shouldSayWhenAllMessagesSoFarWereShown() {
        List<String> calls = new ArrayList<>();
        Acknowledgements acknowledgements =
                new Acknowledgements(where -> calls.add("show " + where.offset()), () -> calls.add("flush"));
        CompletableFuture<RecordMetadata> first = new CompletableFuture<>();
        CompletableFuture<RecordMetadata> second = new CompletableFuture<>();
        acknowledgements.follow(first);
        acknowledgements.follow(second);

        first.complete(at(0));
        assertThat(calls).containsExactly("show 0");
        second.complete(at(1));
        assertThat(calls).containsExactly("show 0", "show 1", "flush");
    }

    @Test
    void shouldSayWhatWasShownWhenTheLastMessageFails() {
        List<String> calls = new ArrayList<>();
        Acknowledgements acknowledgements =
                new Acknowledgements(where -> calls.add("show " + where.offset()), () -> calls.add("flush"));
        CompletableFuture<RecordMetadata> first = new CompletableFuture<>();
        CompletableFuture<RecordMetadata> second = new CompletableFuture<>();
        acknowledgements.follow(first);
        acknowledgements.follow(second);

        first.complete(at(0));
        second.completeExceptionally(new IllegalStateException("refused"));
        assertThat(calls).containsExactly("show 0", "flush");
        assertThat(acknowledgements.failed()).isTrue();
    }

    /** A message can be acknowledged before the thread that has sent it follows it. */
    @Test
    void shouldSayWhatWasShownWhenTwoThreadsShowTheLastMessages() throws InterruptedException {
        List<String> calls = new ArrayList<>();
        CountDownLatch shows = new CountDownLatch(1);
        AtomicReference<Thread> sender = new AtomicReference<>();
        Acknowledgements acknowledgements = new Acknowledgements(
                where -> {
                    calls.add("show " + where.offset());
                    if (where.offset() == 0) {
                        shows.countDown();
                        // until the other thread waits for its turn
                        while (sender.get().getState() != Thread.State.BLOCKED) {
                            Thread.onSpinWait();
                        }
                    }
                },
                () -> calls.add("flush"));
        CompletableFuture<RecordMetadata> first = new CompletableFuture<>();
        acknowledgements.follow(first);
        sender.set(new Thread(() -> {
            try {
                shows.await();
            } catch (InterruptedException e) {
                throw new AssertionError("nobody interrupts this thread", e);
            }
            acknowledgements.follow(CompletableFuture.completedFuture(at(1)));
        }));
        sender.get().start();

        first.complete(at(0));
        acknowledgements.awaitAll();
        sender.get().join();
        assertThat(calls).containsSubsequence("show 0", "show 1", "flush");
    }

    private static RecordMetadata at(long offset) {
        return new RecordMetadata("t", 0, offset, 0);
    }
}
