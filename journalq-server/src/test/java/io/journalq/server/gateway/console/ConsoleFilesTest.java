package io.journalq.server.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ConsoleFilesTest {
    @Test
    void shouldReadTheFilesAgainWhenTheyCouldNotBeRead() {
        // given a broker that has too many open files when its console is opened first
        AtomicInteger reads = new AtomicInteger();
        ConsoleFiles files = new ConsoleFiles(Runnable::run, () -> {
            if (reads.getAndIncrement() == 0) {
                throw new UncheckedIOException(new IOException("Too many open files"));
            }
            return Map.of();
        });
        assertThat(files.all()).isCompletedExceptionally();

        // then the next request finds them, and they are read once
        assertThat(files.all()).isCompletedWithValue(Map.of());
        assertThat(files.all()).isCompletedWithValue(Map.of());
        assertThat(reads).hasValue(2);
    }
}
