package io.journalq.cli.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.record.RecordMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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

    private static RecordMetadata at(long offset) {
        return new RecordMetadata("t", 0, offset, 0);
    }
}
