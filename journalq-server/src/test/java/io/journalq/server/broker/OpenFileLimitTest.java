package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OpenFileLimitTest {
    @Test
    void shouldLeaveFilesForJournalsWhateverIsWanted() {
        assertThat(OpenFileLimit.connections(20_000, 1_000_000)).isEqualTo(20_000);
        assertThat(OpenFileLimit.connections(20_000, 1_024)).isEqualTo(672);
        assertThat(OpenFileLimit.connections(100, 1_024)).isEqualTo(100);
        assertThat(OpenFileLimit.connections(20_000, 64)).isEqualTo(1);
        assertThat(OpenFileLimit.connections(20_000, -1)).isEqualTo(20_000);
    }
}
