package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.server.journal.ShutdownMarker;
import io.journalq.server.journal.ShutdownMarker.LastEnd;
import io.journalq.server.journal.file.FilterFileStore;
import io.journalq.server.journal.file.MemoryFileStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a broker tells the next start about its own. */
class ShutdownMarkersTest {
    private static final Path DATA = Path.of("data");

    private String bootId = "6f1d1c0a-58b7-4e0e-9f0c-0c2f6a1f8e11";
    private final FilterFileStore store = new FilterFileStore(new MemoryFileStore()) {
        @Override
        public String bootId() {
            return bootId;
        }
    };

    @Test
    void shouldNotPassForACleanStopWhenTheSystemGoesDownWhilePartitionsAreOpened() throws IOException {
        // given
        store.createDirectories(DATA);
        ShutdownMarker.writeClean(store, DATA);
        ShutdownMarkers markers = markers();

        // when
        markers.writeOpening();

        // then
        assertThat(ShutdownMarker.lastEnd(store, DATA)).isEqualTo(LastEnd.KILLED);
        assertThat(markers.lastEnds()).containsEntry(DATA, LastEnd.CLEAN);
        bootId = "b27a9e63-0d44-4f8b-8a35-d1c9e7d2047c";
        assertThat(ShutdownMarker.lastEnd(store, DATA)).isEqualTo(LastEnd.SYSTEM_DOWN);
    }

    @Test
    void shouldPassForACleanStopWhenAStartIsGivenUp() throws IOException {
        // given
        store.createDirectories(DATA);
        ShutdownMarker.writeClean(store, DATA);
        ShutdownMarkers markers = markers();

        // when
        markers.writeOpening();
        markers.writeClean(false);

        // then
        assertThat(ShutdownMarker.lastEnd(store, DATA)).isEqualTo(LastEnd.CLEAN);
    }

    private ShutdownMarkers markers() {
        return new ShutdownMarkers(store, List.of(DATA), directory -> true);
    }
}
