package io.journalq.cli.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.record.RecordMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StallWatchTest {
    @Test
    void shouldWarnWhileMessagesWaitAndAreNotAcknowledged() {
        // given
        List<String> warnings = new ArrayList<>();
        Acknowledgements acknowledgements = new Acknowledgements(null, () -> {});
        StallWatch watch = new StallWatch(acknowledgements, () -> null, warnings::add);

        // when nothing waits, then something does
        watch.check(0);
        watch.check(seconds(60));
        CompletableFuture<RecordMetadata> send = new CompletableFuture<>();
        acknowledgements.follow(send);
        watch.check(seconds(69));
        assertThat(warnings).isEmpty();
        watch.check(seconds(70));
        watch.check(seconds(99));

        // then
        assertThat(warnings).singleElement().satisfies(warning -> assertThat(warning)
                .contains("the broker acknowledges no messages", "whether its disk is full"));
        watch.check(seconds(100));
        assertThat(warnings).hasSize(2);
        send.complete(new RecordMetadata("t", 0, 0, 0));
        watch.check(seconds(200));
        assertThat(warnings).hasSize(2);
    }

    private static long seconds(long count) {
        return TimeUnit.SECONDS.toNanos(count);
    }
}
