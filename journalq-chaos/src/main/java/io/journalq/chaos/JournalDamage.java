package io.journalq.chaos;

import io.journalq.chaos.load.BrokerReports;
import io.journalq.chaos.load.Payload;
import io.journalq.common.record.BatchReader;
import io.journalq.common.record.RecordBatch;
import io.journalq.server.journal.JournalCheck;
import io.journalq.server.journal.SegmentScan;
import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.SystemFileStore;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Flips single bits in the journals of a killed broker. It chooses the batches so that the possible loss is known
 * before the start. One thread.
 */
final class JournalDamage {
    /**
     * An idempotent producer has at most five batches in flight. If the journal has this number of later batches of the
     * same producer, the batch was acknowledged, and its producer does not send it again.
     */
    private static final int LATER_BATCHES = 5;

    /** Position in a batch from which on the CRC covers its bytes. */
    private static final int FIRST_COVERED_BYTE = RecordBatch.ATTRIBUTES;

    private final FileStore store = new SystemFileStore();
    private final Path dataDirectory;
    private final Map<String, String> partitionByDirectory;

    /** @param partitionByDirectory names in the ledger of the partitions that may be damaged, by directory name */
    JournalDamage(Path dataDirectory, Map<String, String> partitionByDirectory) {
        this.dataDirectory = dataDirectory;
        this.partitionByDirectory = new TreeMap<>(partitionByDirectory);
    }

    /** Position of a batch in a file. */
    private record Place(Path file, int position, int endPosition, long baseOffset, long producerId, short epoch) {}

    /** A bit that was flipped. */
    final class Flip {
        private final Place place;
        private final long at;
        private final byte original;

        private Flip(Place place, long at, byte original) {
            this.place = place;
            this.at = at;
            this.original = original;
        }

        Path file() {
            return place.file();
        }

        /** Position in the file at which the damaged batch begins. */
        int position() {
            return place.position();
        }

        /** Name of the partition in the ledger; null for the metadata log. */
        String partition() {
            return partitionByDirectory.get(
                    place.file().getParent().getFileName().toString());
        }

        void undo() throws IOException {
            write(place.file(), at, original);
        }

        /** Whether the broker has restored the bit: the write-ahead files hold a second copy of the batch. */
        boolean isUndone() throws IOException {
            return place.file().toFile().length() > at && read(place.file(), at, 1)[0] == original;
        }

        /** Whether {@code journal verify} finds the damage. */
        boolean isFoundByVerify() throws IOException {
            return JournalCheck.run(store, place.file().getParent()).findings().stream()
                    .anyMatch(finding -> finding.file().equals(place.file())
                            && finding.position() <= at
                            && finding.endPosition() > at);
        }

        @Override
        public String toString() {
            return place.file() + " byte " + at + ", in the batch of offset " + place.baseOffset() + " at byte "
                    + place.position();
        }
    }

    /** A flipped bit, and the messages that may be lost because of it. */
    record Loss(Flip flip, List<Payload> messages) {}

    /** Damages a batch that no checkpoint covers. Returns null if no such batch is known to be acknowledged. */
    Loss damageNotCheckpointed(Random random) throws IOException {
        for (Path directory : shuffledPartitions(random)) {
            List<Place> candidates = new ArrayList<>();
            Path newest = newestLog(directory);
            if (newest != null) {
                List<Place> all = batches(newest);
                int flushed = JournalCheck.flushedBytes(store, newest);
                for (int i = 0; i < all.size(); i++) {
                    if (all.get(i).position() >= flushed && hasLaterOnes(all, i)) {
                        candidates.add(all.get(i));
                    }
                }
            }
            if (!candidates.isEmpty()) {
                Place place = candidates.get(random.nextInt(candidates.size()));
                List<Payload> messages = messages(place);
                return new Loss(flip(place, random), messages);
            }
        }
        return null;
    }

    /** Damages a batch that a checkpoint covers. Returns null if there is none. */
    Flip damageCheckpointed(Random random) throws IOException {
        for (Path directory : shuffledPartitions(random)) {
            List<Place> candidates = new ArrayList<>();
            for (Path log : logs(directory)) {
                int flushed = JournalCheck.flushedBytes(store, log);
                batches(log).stream()
                        .filter(place -> place.endPosition() <= flushed)
                        .forEach(candidates::add);
            }
            if (!candidates.isEmpty()) {
                return flip(candidates.get(random.nextInt(candidates.size())), random);
            }
        }
        return null;
    }

    /**
     * Damages the metadata log after its newest snapshot and before its last batch. Returns null if there is no batch.
     */
    Flip damageMetadata(Random random) throws IOException {
        Path directory = dataDirectory.resolve(BrokerReports.METADATA_DIRECTORY);
        long snapshotOffset = store.list(directory).stream()
                .filter(name -> name.endsWith(".snapshot"))
                .mapToLong(name -> JournalCheck.baseOffsetOf(directory.resolve(name)))
                .max()
                .orElse(0);
        List<Place> candidates = new ArrayList<>();
        for (Path log : logs(directory)) {
            batches(log).stream()
                    .filter(place -> place.baseOffset() >= snapshotOffset)
                    .forEach(candidates::add);
        }
        return candidates.size() < 2 ? null : flip(candidates.get(random.nextInt(candidates.size() - 1)), random);
    }

    private List<Path> shuffledPartitions(Random random) {
        List<Path> directories = new ArrayList<>();
        partitionByDirectory.keySet().forEach(name -> directories.add(dataDirectory.resolve(name)));
        Collections.shuffle(directories, random);
        return directories;
    }

    /** The segments of a journal, oldest first. */
    private List<Path> logs(Path directory) throws IOException {
        return store.list(directory).stream()
                .filter(name -> name.endsWith(".log") || name.endsWith(".tail"))
                .sorted()
                .map(directory::resolve)
                .toList();
    }

    private Path newestLog(Path directory) throws IOException {
        List<Path> logs = logs(directory);
        return logs.isEmpty() ? null : logs.get(logs.size() - 1);
    }

    private List<Place> batches(Path log) throws IOException {
        List<Place> places = new ArrayList<>();
        SegmentScan.read(store, log, JournalCheck.baseOffsetOf(log), new SegmentScan.Visitor() {
            @Override
            public void onBatch(int position, ByteBuf header, SegmentScan.Reader whole) {
                places.add(new Place(
                        log,
                        position,
                        position + RecordBatch.sizeBytes(header, 0),
                        RecordBatch.baseOffset(header, 0),
                        RecordBatch.producerId(header, 0),
                        RecordBatch.producerEpoch(header, 0)));
            }

            @Override
            public void onBadBytes(int position, int endPosition) {
                // Damage of an earlier cycle, or a torn end.
            }
        });
        return places;
    }

    private static boolean hasLaterOnes(List<Place> all, int index) {
        Place place = all.get(index);
        return all.subList(index + 1, all.size()).stream()
                        .filter(later -> later.producerId() == place.producerId() && later.epoch() == place.epoch())
                        .count()
                >= LATER_BATCHES;
    }

    private static List<Payload> messages(Place place) throws IOException {
        List<Payload> messages = new ArrayList<>();
        byte[] batch = read(place.file(), place.position(), place.endPosition() - place.position());
        try (BatchReader reader = new BatchReader(UnpooledByteBufAllocator.DEFAULT)) {
            reader.reset(Unpooled.wrappedBuffer(batch));
            while (reader.nextBatch()) {
                while (reader.next()) {
                    messages.add(Payload.decode(ByteBufUtil.getBytes(reader.value())));
                }
            }
        }
        return messages;
    }

    private Flip flip(Place place, Random random) throws IOException {
        int size = place.endPosition() - place.position();
        long at = (long) place.position() + FIRST_COVERED_BYTE + random.nextInt(size - FIRST_COVERED_BYTE);
        byte original = read(place.file(), at, 1)[0];
        write(place.file(), at, (byte) (original ^ (1 << random.nextInt(Byte.SIZE))));
        return new Flip(place, at, original);
    }

    private static byte[] read(Path path, long position, int count) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
            byte[] bytes = new byte[count];
            file.seek(position);
            file.readFully(bytes);
            return bytes;
        }
    }

    private static void write(Path path, long position, byte value) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.seek(position);
            file.write(value);
        }
    }
}
