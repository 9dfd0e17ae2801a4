package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.record.BatchBuilder;
import io.journalq.common.record.CompressionCodec;
import io.journalq.server.journal.Journal;
import io.journalq.server.journal.JournalConfig;
import io.journalq.server.journal.file.NewerFormatException;
import io.journalq.server.journal.file.SystemFileStore;
import io.journalq.server.metadata.BrokerImage;
import io.journalq.server.metadata.TestBrokers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Metadata logs with snapshots that an earlier release wrote can be opened; those of a newer release are rejected. */
class GoldenMetadataTest {
    private static final Path GOLDEN = Path.of("src/test/resources/golden/formats-1-metadata");
    private static final Path GOLDEN_BROKERS = Path.of("src/test/resources/golden/brokers-1-metadata");
    private static final int VERSION_AT = 4;
    private static final int SNAPSHOT_CRC_AT = 16;

    @TempDir
    private Path directory;

    @BeforeEach
    void copy() throws IOException {
        try (Stream<Path> all = Files.list(GOLDEN)) {
            for (Path file : all.toList()) {
                Files.copy(file, directory.resolve(file.getFileName()));
            }
        }
    }

    @Test
    void shouldKnowEverythingWhenSnapshotsAreOfAnEarlierFormat() throws Exception {
        assertThat(snapshots()).isNotEmpty();
        assertThat(directory.resolve("00000000000000000000.log"))
                .as("the beginning of the log")
                .doesNotExist();

        try (ControllerFixture broker = GoldenMetadata.open(directory)) {
            assertThat(broker.image().topic(GoldenMetadata.CHANGED).partitions())
                    .hasSize(GoldenMetadata.PARTITIONS);
            assertThat(broker.image().topic(GoldenMetadata.CHANGED).configs())
                    .containsEntry("retention.ms", Integer.toString(GoldenMetadata.CHANGES));
            assertThat(broker.image().topic(GoldenMetadata.DELETED)).isNull();
            assertThat(broker.image().topic(GoldenMetadata.LAST)).isNotNull();
        }
    }

    @Test
    void shouldKnowItsBrokersWhenAnEarlierReleaseHasRegisteredThem(@TempDir Path other) throws Exception {
        try (Stream<Path> all = Files.list(GOLDEN_BROKERS)) {
            for (Path file : all.toList()) {
                Files.copy(file, other.resolve(file.getFileName()));
            }
        }

        try (ControllerFixture broker = GoldenMetadata.open(other)) {
            assertThat(broker.image().brokers())
                    .extracting(BrokerImage::nodeId)
                    .containsExactly(ControllerFixture.NODE, GoldenMetadata.OTHER_NODE);
            assertThat(broker.image().liveBroker(GoldenMetadata.OTHER_NODE).registration())
                    .isEqualTo(TestBrokers.registration(GoldenMetadata.OTHER_NODE, GoldenMetadata.RACK));
            assertThat(broker.image().topic(GoldenMetadata.LAST)).isNotNull();
        }
    }

    @Test
    void shouldRefuseToStartWhenTheNewestSnapshotIsOfANewerFormat() throws Exception {
        Path newest = snapshots().get(snapshots().size() - 1);
        ByteBuffer content = ByteBuffer.wrap(Files.readAllBytes(newest));
        int version = content.getInt(VERSION_AT) + 1;
        content.putInt(VERSION_AT, version);
        CRC32C crc = new CRC32C();
        crc.update(content.array(), 0, SNAPSHOT_CRC_AT);
        crc.update(
                content.array(), SNAPSHOT_CRC_AT + Integer.BYTES, content.capacity() - SNAPSHOT_CRC_AT - Integer.BYTES);
        Files.write(
                newest, content.putInt(SNAPSHOT_CRC_AT, (int) crc.getValue()).array());

        assertThatThrownBy(() -> GoldenMetadata.open(directory))
                .isInstanceOf(NewerFormatException.class)
                .hasMessageContaining(newest.toString())
                .hasMessageContaining("version " + version)
                .hasMessageContaining("start the newer release");
    }

    @Test
    void shouldRefuseToStartWhenTheLogHoldsARecordOfANewerFormat() throws Exception {
        byte unknownType = 100;
        long offset = append(new byte[] {1, unknownType, 0, 1, 2, 3});

        assertThatThrownBy(() -> GoldenMetadata.open(directory))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(directory.toString())
                .hasMessageContaining("offset " + offset)
                .hasMessageContaining("type " + unknownType)
                .hasMessageContaining("newer release");
    }

    private long append(byte[] record) throws IOException {
        JournalConfig config = JournalConfig.DEFAULT.withRetention(-1, -1);
        try (Journal journal = Journal.open(new SystemFileStore(), directory, config, Runnable::run);
                BatchBuilder builder = new BatchBuilder(UnpooledByteBufAllocator.DEFAULT, CompressionCodec.NONE)) {
            builder.append(1_000, (byte[]) null, record, List.of());
            ByteBuf batch = builder.build();
            long offset = journal.writtenOffset();
            journal.append(batch, 0);
            batch.release();
            journal.write();
            return offset;
        }
    }

    private List<Path> snapshots() throws IOException {
        try (Stream<Path> all = Files.list(directory)) {
            return all.filter(file -> file.toString().endsWith(".snapshot"))
                    .sorted()
                    .toList();
        }
    }
}
