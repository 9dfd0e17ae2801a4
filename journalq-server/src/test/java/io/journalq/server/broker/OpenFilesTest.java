package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OpenFilesTest {
    @Test
    void shouldLeaveFilesForJournalsWhateverIsWanted() {
        assertThat(OpenFiles.connections(20_000, 1_000_000)).isEqualTo(20_000);
        assertThat(OpenFiles.connections(20_000, 1_024)).isEqualTo(672);
        assertThat(OpenFiles.connections(100, 1_024)).isEqualTo(100);
        assertThat(OpenFiles.connections(20_000, 64)).isEqualTo(1);
        assertThat(OpenFiles.connections(20_000, -1)).isEqualTo(20_000);
    }
}
