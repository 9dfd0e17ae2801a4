package io.journalq.server.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.id.Uuid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CoordinatorStoreTest {
    private static final Uuid TOPIC = new Uuid(0x8000_0000_0000_0001L, -1L);

    @TempDir
    private Path directory;

    private static CoordinatorSlice.Change change(String key, String value) {
        return new CoordinatorSlice.Change(key.getBytes(UTF_8), value == null ? null : value.getBytes(UTF_8));
    }

    private static String text(ByteBuffer bytes) {
        return UTF_8.decode(bytes).toString();
    }

    private static Map<String, String> content(CoordinatorSlice slice) throws IOException {
        Map<String, String> content = new TreeMap<>();
        slice.forEach((key, value) -> content.put(text(key), text(value)));
        return content;
    }

    @Test
    void shouldHoldTheNewestOfEachKeyWhenItIsOpenedAgain() throws IOException {
        String large = "v".repeat(100_000);
        try (CoordinatorStore store = new CoordinatorStore(directory)) {
            CoordinatorSlice slice = store.slice(TOPIC, 3);
            assertThat(slice.appliedOffset()).isEqualTo(CoordinatorSlice.NOTHING);
            slice.apply(List.of(change("a", "1"), change("b", "1"), change("", "empty key")), 3, 1);
            slice.apply(List.of(change("a", "2"), change("b", null), change("c", large), change("d", "")), 7, 2);
        }

        try (CoordinatorStore store = new CoordinatorStore(directory)) {
            CoordinatorSlice slice = store.slice(TOPIC, 3);
            assertThat(slice.appliedOffset()).isEqualTo(7);
            assertThat(slice.appliedEpoch()).isEqualTo(2);
            assertThat(content(slice)).isEqualTo(Map.of("", "empty key", "a", "2", "c", large, "d", ""));
        }
    }

    @Test
    void shouldKeepSlicesApart() throws IOException {
        try (CoordinatorStore store = new CoordinatorStore(directory)) {
            List<CoordinatorSlice> slices = new ArrayList<>();
            for (Uuid topic : List.of(TOPIC, new Uuid(1, 1), new Uuid(1, 2))) {
                for (int partition : new int[] {0, 1, 255, 256}) {
                    CoordinatorSlice slice = store.slice(topic, partition);
                    slice.apply(List.of(change("key", topic + "-" + partition)), partition, 0);
                    slices.add(slice);
                }
            }

            slices.get(5).wipe();

            assertThat(slices.get(5).appliedOffset()).isEqualTo(CoordinatorSlice.NOTHING);
            assertThat(content(slices.get(5))).isEmpty();
            assertThat(content(slices.get(4))).containsEntry("key", new Uuid(1, 1) + "-0");
            assertThat(content(slices.get(6))).containsEntry("key", new Uuid(1, 1) + "-255");
            assertThat(slices.get(6).appliedOffset()).isEqualTo(255);
        }
    }

    @Test
    void shouldReadWhatAnEarlierReleaseStored() throws IOException {
        // given the state of the transactions in the golden files
        Path golden = Path.of("src/test/resources/golden/formats-1/coordinators");
        try (Stream<Path> files = Files.list(golden)) {
            for (Path file : files.toList()) {
                Files.copy(file, directory.resolve(file.getFileName()));
            }
        }
        Uuid topic = Uuid.parse("ZIRXQUKPXhs4wiRAYVPhng");

        try (CoordinatorStore store = new CoordinatorStore(directory)) {
            store.checkFormat();
            CoordinatorSlice slice = store.slice(topic, 0);
            assertThat(slice.appliedOffset()).isEqualTo(25);
            assertThat(content(slice).keySet()).singleElement().asString().contains("golden-transactional-id");
        }
    }

    @Test
    void shouldRefuseAFormatThatIsNewerAndChangeNothing() throws IOException {
        Path format = Files.writeString(directory.resolve(StoreFormat.FILE_NAME), "journalq-coordinators 2\n");

        try (CoordinatorStore store = new CoordinatorStore(directory)) {
            assertThatThrownBy(store::checkFormat)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(format + " is of format version 2, this release knows versions up to 1");
        }
        assertThat(format).hasContent("journalq-coordinators 2\n");
    }

    @Test
    void shouldBeginWithAFormatOfItsOwnWhenThatFileIsDamaged() throws IOException {
        for (String damaged : List.of("", "nonsense", "journalq-coordinators 99999999999999\n", "x".repeat(10_000))) {
            Path format = Files.writeString(directory.resolve(StoreFormat.FILE_NAME), damaged);
            try (CoordinatorStore store = new CoordinatorStore(directory)) {
                store.checkFormat();
                store.slice(TOPIC, 0);
            }
            assertThat(format).hasContent("journalq-coordinators 1\n");
        }
        Files.write(directory.resolve(StoreFormat.FILE_NAME), new byte[] {-1, -2, -3});
        try (CoordinatorStore store = new CoordinatorStore(directory)) {
            store.checkFormat();
        }
    }

    @Test
    void shouldStartEmptyWhenItsFilesAreDamaged() throws IOException {
        try (CoordinatorStore store = new CoordinatorStore(directory)) {
            store.slice(TOPIC, 0).apply(List.of(change("a", "1")), 1, 0);
        }
        Files.writeString(directory.resolve("CURRENT"), "nonsense");

        try (CoordinatorStore store = new CoordinatorStore(directory)) {
            CoordinatorSlice slice = store.slice(TOPIC, 0);
            assertThat(slice.appliedOffset()).isEqualTo(CoordinatorSlice.NOTHING);
            slice.apply(List.of(change("a", "2")), 1, 0);
            assertThat(content(slice)).isEqualTo(Map.of("a", "2"));
        }
    }

    @Test
    void shouldDoWithoutWhenItsDirectoryCannotBeMade() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "no directory");
        try (CoordinatorStore store = new CoordinatorStore(file)) {
            assertThat(store.slice(TOPIC, 0)).isSameAs(CoordinatorSlice.NONE);
        }
    }

    @Test
    void shouldRefuseWorkWhenItIsClosed() throws IOException {
        CoordinatorStore store = new CoordinatorStore(directory);
        CoordinatorSlice slice = store.slice(TOPIC, 0);
        store.close();

        assertThatThrownBy(slice::appliedOffset).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> slice.apply(List.of(), 1, 0)).isInstanceOf(IOException.class);
        assertThat(store.slice(TOPIC, 0)).isSameAs(CoordinatorSlice.NONE);
    }
}
