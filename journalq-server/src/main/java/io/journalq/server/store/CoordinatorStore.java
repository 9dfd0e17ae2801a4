package io.journalq.server.store;

import io.journalq.common.id.Uuid;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One RocksDB database for all coordinators of a broker. It is opened at its first use, because a broker without groups
 * needs none. Its write-ahead log is not fsynced: after a power loss, the database is in an earlier but consistent
 * state. A database that cannot be used is created again. If that fails too, coordinators are loaded from their
 * journals.
 *
 * <p>A key consists of the topic id, the partition, and either {@link #APPLIED}, or {@link #APPLIED} and {@link #EPOCH},
 * or {@link #RECORD} followed by the record's key. The value of the second kind holds the applied offset too: it does not
 * count if a release that does not know it has moved that offset.
 *
 * <p>Any thread, but each slice is used by one thread at a time. Every call may block.
 */
public final class CoordinatorStore implements CoordinatorSlice.Provider, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CoordinatorStore.class);

    private static final byte APPLIED = 0;
    private static final byte EPOCH = 1;
    private static final byte RECORD = 1;
    private static final byte BEHIND_RECORDS = 2;
    private static final int PREFIX_SIZE_BYTES = 2 * Long.BYTES + Integer.BYTES;

    private static final long BLOCK_CACHE_BYTES = 32L << 20;
    private static final long WRITE_BUFFER_BYTES = 16L << 20;
    private static final long MAX_LOG_BYTES = 64L << 20;
    private static final int MAX_OPEN_FILES = 256;
    private static final int BACKGROUND_JOBS = 2;
    private static final int INFO_LOGS = 2;
    private static final int READ_AHEAD_BYTES = 1 << 20;
    private static final int FIRST_BUFFER_BYTES = 4 << 10;

    /** Slices are usually read from beginning to end, and single records hardly ever. */
    private static final int BLOCK_BYTES = 32 << 10;

    private final Path directory;
    /** Threads that use the database hold the read lock; a thread that opens or closes it holds the write lock. */
    private final ReadWriteLock use = new ReentrantReadWriteLock();

    private Options options;
    private LRUCache cache;
    private RocksDB database;
    private WriteOptions notSynced;
    private WriteOptions synced;
    private boolean unusable;
    /**
     * Whether the database compacts in the background. Compaction starts with the first write, so that it does not slow
     * down loading.
     */
    private volatile boolean compacts;

    /** A store in {@code directory}, which is created at the first use. */
    public CoordinatorStore(Path directory) {
        this.directory = directory;
    }

    /** Whether the database exists. */
    public boolean exists() {
        return Files.isDirectory(directory);
    }

    /** Opens the database before its first use. */
    public void open() {
        var unused = isOpen();
    }

    /**
     * Checks that this release can read the database. Blocks.
     *
     * @throws IOException when a newer release wrote it; the message is one line that names the file and both versions
     */
    public void checkFormat() throws IOException {
        StoreFormat.check(directory);
    }

    /** The stored state of one coordinator; {@link CoordinatorSlice#NONE} if nothing can be stored. */
    @Override
    public CoordinatorSlice slice(Uuid topicId, int partition) {
        return isOpen() ? new RocksSlice(prefix(topicId, partition)) : CoordinatorSlice.NONE;
    }

    private static byte[] prefix(Uuid topicId, int partition) {
        return ByteBuffer.allocate(PREFIX_SIZE_BYTES)
                .putLong(topicId.mostSignificantBits())
                .putLong(topicId.leastSignificantBits())
                .putInt(partition)
                .array();
    }

    private boolean isOpen() {
        use.writeLock().lock();
        try {
            openOnce();
            return database != null;
        } finally {
            use.writeLock().unlock();
        }
    }

    private void openOnce() {
        if (database == null && !unusable) {
            try {
                NativeLibrary.load();
                openDatabase();
            } catch (RocksDBException | IOException | RuntimeException | LinkageError failure) {
                unusable = true;
                log.error(
                        "cannot store the state of coordinators, they are loaded from their journals:"
                                + " directory={} reason=\"{}\"",
                        directory,
                        failure.getMessage());
            }
        }
    }

    private void createDirectory() throws IOException {
        if (!exists()) {
            Files.createDirectories(directory);
            try (FileChannel parent = FileChannel.open(directory.getParent(), StandardOpenOption.READ)) {
                parent.force(true);
            }
        }
    }

    private void openDatabase() throws RocksDBException, IOException {
        createDirectory();
        StoreFormat.write(directory);
        cache = new LRUCache(BLOCK_CACHE_BYTES);
        options = new Options()
                .setCreateIfMissing(true)
                .setWriteBufferSize(WRITE_BUFFER_BYTES)
                .setMaxTotalWalSize(MAX_LOG_BYTES)
                .setMaxOpenFiles(MAX_OPEN_FILES)
                .setMaxBackgroundJobs(BACKGROUND_JOBS)
                .setKeepLogFileNum(INFO_LOGS)
                .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
                .setAvoidFlushDuringRecovery(true)
                .setSkipStatsUpdateOnDbOpen(true)
                .setDisableAutoCompactions(true)
                .setTableFormatConfig(
                        new BlockBasedTableConfig().setBlockCache(cache).setBlockSize(BLOCK_BYTES));
        compacts = false;
        notSynced = new WriteOptions().setSync(false);
        synced = new WriteOptions().setSync(true);
        try {
            database = RocksDB.open(options, directory.toString());
        } catch (RocksDBException damaged) {
            log.error(
                    "cannot read the stored state of coordinators, it is rebuilt from their journals:"
                            + " directory={} reason=\"{}\"",
                    directory,
                    damaged.getMessage());
            RocksDB.destroyDB(directory.toString(), options);
            database = RocksDB.open(options, directory.toString());
        }
    }

    @Override
    public void close() {
        use.writeLock().lock();
        try {
            unusable = true;
            if (database != null) {
                flush();
                database.close();
                database = null;
                notSynced.close();
                synced.close();
                options.close();
                cache.close();
                NativeLibrary.keep();
            }
        } finally {
            use.writeLock().unlock();
        }
    }

    /** Writes the memory table to a file, so that the next start need not replay the database's log. */
    private void flush() {
        try (FlushOptions waiting = new FlushOptions().setWaitForFlush(true)) {
            database.flush(waiting);
        } catch (RocksDBException failure) {
            log.warn(
                    "cannot flush the state of coordinators, it stays in the log of the store:"
                            + " directory={} reason=\"{}\"",
                    directory,
                    failure.getMessage());
        }
    }

    /** An operation on the database. */
    private interface Use<T> {
        T with(RocksDB open) throws RocksDBException;
    }

    private <T> T use(Use<T> action) throws IOException {
        use.readLock().lock();
        try {
            if (database == null) {
                throw new IOException("the store of coordinators is closed");
            }
            return action.with(database);
        } catch (RocksDBException failure) {
            throw new IOException(failure);
        } finally {
            use.readLock().unlock();
        }
    }

    private final class RocksSlice implements CoordinatorSlice {
        private final byte[] prefix;
        private final byte[] appliedKey;
        private final byte[] epochKey;

        RocksSlice(byte[] prefix) {
            this.prefix = prefix;
            this.appliedKey = key(APPLIED, new byte[0]);
            this.epochKey = key(APPLIED, new byte[] {EPOCH});
        }

        private byte[] key(byte kind, byte[] recordKey) {
            return ByteBuffer.allocate(PREFIX_SIZE_BYTES + 1 + recordKey.length)
                    .put(prefix)
                    .put(kind)
                    .put(recordKey)
                    .array();
        }

        @Override
        public long appliedOffset() throws IOException {
            byte[] value = use(database -> database.get(appliedKey));
            return value == null || value.length != Long.BYTES
                    ? NOTHING
                    : ByteBuffer.wrap(value).getLong();
        }

        @Override
        public int appliedEpoch() throws IOException {
            byte[] value = use(database -> database.get(epochKey));
            if (value == null || value.length != Long.BYTES + Integer.BYTES) {
                return UNKNOWN_EPOCH;
            }
            ByteBuffer stored = ByteBuffer.wrap(value);
            return stored.getLong() == appliedOffset() ? stored.getInt() : UNKNOWN_EPOCH;
        }

        @Override
        public void forEach(Visitor visitor) throws IOException {
            use(database -> {
                forEach(database, visitor);
                return null;
            });
        }

        private void forEach(RocksDB database, Visitor visitor) throws RocksDBException {
            byte[] first = key(RECORD, new byte[0]);
            try (Slice end = new Slice(key(BEHIND_RECORDS, new byte[0]));
                    ReadOptions read = new ReadOptions()
                            .setIterateUpperBound(end)
                            .setReadaheadSize(READ_AHEAD_BYTES)
                            .setFillCache(false);
                    RocksIterator iterator = database.newIterator(read)) {
                ByteBuffer key = ByteBuffer.allocateDirect(FIRST_BUFFER_BYTES);
                ByteBuffer value = ByteBuffer.allocateDirect(FIRST_BUFFER_BYTES);
                // Allocated once: a start runs this loop up to a million times, before the JIT compiler could remove an
                // allocation.
                Reader keys = iterator::key;
                Reader values = iterator::value;
                for (iterator.seek(first); iterator.isValid(); iterator.next()) {
                    key = filled(key, keys);
                    value = filled(value, values);
                    visitor.visit(key.position(first.length), value);
                }
                iterator.status();
            }
        }

        /** Fills {@code buffer} from {@code reader}, or a larger one if it is too small. Returns the filled buffer. */
        private static ByteBuffer filled(ByteBuffer buffer, Reader reader) {
            int sizeBytes = reader.read(buffer.clear());
            if (sizeBytes > buffer.capacity()) {
                ByteBuffer larger = ByteBuffer.allocateDirect(2 * sizeBytes);
                reader.read(larger);
                return larger.position(0).limit(sizeBytes);
            }
            return buffer.position(0).limit(sizeBytes);
        }

        @Override
        public void apply(List<CoordinatorSlice.Change> changes, long appliedOffset, int appliedEpoch)
                throws IOException {
            try (WriteBatch batch = new WriteBatch()) {
                for (CoordinatorSlice.Change change : changes) {
                    if (change.value() == null) {
                        batch.delete(key(RECORD, change.key()));
                    } else {
                        batch.put(key(RECORD, change.key()), change.value());
                    }
                }
                batch.put(
                        appliedKey,
                        ByteBuffer.allocate(Long.BYTES)
                                .putLong(0, appliedOffset)
                                .array());
                batch.put(
                        epochKey,
                        ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
                                .putLong(appliedOffset)
                                .putInt(appliedEpoch)
                                .array());
                write(batch, notSynced);
            } catch (RocksDBException failure) {
                throw new IOException(failure);
            }
        }

        @Override
        public void wipe() throws IOException {
            try (WriteBatch batch = new WriteBatch()) {
                batch.delete(appliedKey);
                batch.delete(epochKey);
                batch.deleteRange(key(RECORD, new byte[0]), key(BEHIND_RECORDS, new byte[0]));
                write(batch, synced);
            } catch (RocksDBException failure) {
                throw new IOException(failure);
            }
        }

        private void write(WriteBatch batch, WriteOptions options) throws IOException {
            use(database -> {
                if (!compacts) {
                    database.enableAutoCompaction(List.of(database.getDefaultColumnFamily()));
                    compacts = true;
                }
                database.write(options, batch);
                return null;
            });
        }
    }

    /** Reads as much as fits into a buffer, and returns the full size. */
    private interface Reader {
        int read(ByteBuffer target);
    }
}
