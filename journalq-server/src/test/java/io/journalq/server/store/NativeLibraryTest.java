package io.journalq.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;

class NativeLibraryTest {
    @TempDir
    private Path directory;

    @Test
    void shouldLeaveTheLibraryForTheNextStartWhenAStoreThatWasUsedIsClosed() throws IOException {
        Path kept = directory.resolve("native");
        String before = System.getProperty(NativeLibrary.DIRECTORY_PROPERTY);
        System.setProperty(NativeLibrary.DIRECTORY_PROPERTY, kept.toString());
        try {
            new CoordinatorStore(directory.resolve("unused")).close();
            assertThat(kept).doesNotExist();

            try (CoordinatorStore store = new CoordinatorStore(directory.resolve("used"))) {
                store.slice(new Uuid(1, 1), 0).apply(List.of(), 1, 0);
            }

            try (Stream<Path> files = Files.list(kept)) {
                assertThat(files).singleElement().satisfies(library -> assertThat(library)
                        .hasSize(sizeInJar()));
            }
        } finally {
            if (before == null) {
                System.clearProperty(NativeLibrary.DIRECTORY_PROPERTY);
            } else {
                System.setProperty(NativeLibrary.DIRECTORY_PROPERTY, before);
            }
        }
    }

    private static long sizeInJar() throws IOException {
        try (var packed = RocksDB.class.getResourceAsStream("/" + Environment.getJniLibraryFileName("rocksdb"))) {
            return packed.readAllBytes().length;
        }
    }
}
