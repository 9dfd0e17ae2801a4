package io.journalq.sim.disk;

import io.journalq.server.journal.file.FileStore;
import io.journalq.server.journal.file.LogFile;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * A simulated disk with the page cache of the operating system. A write to a file is durable after an fsync of the
 * file, a change of a directory after an fsync of the directory. Each call that changes something is counted, and
 * {@link #crashAfter} makes one of them the last.
 */
public final class SimDisk implements FileStore {
    private static final String TEMPORARY_SUFFIX = ".tmp";
    private static final long NEVER = Long.MAX_VALUE;

    private final Random random;
    private final Surroundings surroundings;
    private final SimDirectory root = new SimDirectory();
    private DiskFaults faults = DiskFaults.NONE;
    private long changes;
    private long crashAt = NEVER;
    /** Number of restarts so far. */
    private int life;

    /** The directories in which the next fsync fails. */
    private Set<Path> failing = Set.of();

    private long usableBytes = Long.MAX_VALUE;
    private boolean dead;
    private boolean harmed;
    private boolean lying;

    /** Hears what happens in the disk while it works. */
    public interface Surroundings {
        /** An fsync is running. Other threads may run until it is done. */
        void onSync();

        /** A call is slow. */
        void onSlow(long ms);

        /** An fsync failed. Data that were not fsynced before may never reach the disk. */
        void onFailedSync();

        /** The last allowed call was made, and the process has crashed. */
        void onCrash();

        /** Identifies the current run of the operating system, see {@link FileStore#bootId}. */
        String bootId();
    }

    /** A file or a directory. */
    interface Node {
        /** Loses all or part of the changes that were not fsynced. */
        void losePower(Random random);
    }

    /** How the broker crashes. */
    public enum CrashKind {
        /** The process is killed. Everything that was written survives in the page cache. */
        KILL,
        /** The machine loses power. Any part of the data that were not fsynced may survive. */
        POWER_LOSS
    }

    /**
     * The simulated process has crashed. Unwinds the stack. This is an error, so that no handler of operating errors
     * catches it.
     */
    public static final class Crash extends Error {
        private static final long serialVersionUID = 1L;

        /** Without a stack trace. */
        public Crash() {
            super("the simulated process has crashed", null, false, false);
        }
    }

    /**
     * A bit that flipped on the disk.
     *
     * @param file the file that contains it
     * @param position position of its byte
     * @param before content of the file before
     * @param after the byte with the flipped bit
     */
    @SuppressWarnings("ArrayRecordComponent") // A plain holder, never compared.
    public record Damage(Path file, int position, byte[] before, byte after) {}

    public SimDisk(Random random, Surroundings surroundings) {
        this.random = random;
        this.surroundings = surroundings;
    }

    public void setFaults(DiskFaults newFaults) {
        faults = newFaults;
    }

    /** The {@code count}th change from now on is the last. Any part of it may be done. */
    public void crashAfter(long count) {
        crashAt = changes + count;
    }

    /** The next fsync of a file in one of these directories fails. */
    public void failSyncIn(Set<Path> directories) {
        failing = Set.copyOf(directories);
    }

    /** Says from now on that there is this much room. Writes succeed all the same. */
    public void setUsableBytes(long bytes) {
        usableBytes = bytes;
    }

    @Override
    public long usableBytes(Path directory) {
        return usableBytes;
    }

    /** Whether there is room for records. */
    public boolean hasRoom() {
        return usableBytes > 0;
    }

    /** Cancels {@link #crashAfter}. */
    public void crashNever() {
        crashAt = NEVER;
    }

    /** Number of changes so far. */
    public long changes() {
        return changes;
    }

    public boolean isDead() {
        return dead;
    }

    /** Whether fsynced data have been damaged. */
    public boolean isHarmed() {
        return harmed;
    }

    /** From now on, an fsync of a file does nothing, and reports success. */
    public void lie() {
        lying = true;
    }

    /** The process has crashed. Every call fails until {@link #restart}. */
    public void die() {
        dead = true;
    }

    /**
     * The process is started again after a crash.
     *
     * @return bits that flipped meanwhile
     */
    public List<Damage> restart(CrashKind kind) {
        dead = false;
        life++;
        crashAt = NEVER;
        if (kind == CrashKind.POWER_LOSS) {
            root.losePower(random);
        }
        List<Damage> damage = new ArrayList<>();
        List<Path> files = files(Path.of(""), root, new ArrayList<>());
        for (int i = 0; i < faults.flippedBits() && !files.isEmpty(); i++) {
            Path path = files.get(random.nextInt(files.size()));
            SimFile file = (SimFile) find(path);
            byte[] before = file.content();
            int position = file.flipBit(random);
            if (position >= 0) {
                harmed = true;
                damage.add(new Damage(path, position, before, file.content()[position]));
            }
        }
        return damage;
    }

    /** Flips one bit of a byte, in the page cache and on the disk, while the process runs. */
    public Damage flipBit(Path path, int position) {
        SimFile file = (SimFile) find(path);
        byte[] before = file.content();
        file.flipBit(position, random.nextInt(Byte.SIZE));
        harmed = true;
        return new Damage(path, position, before, file.content()[position]);
    }

    @Override
    public String bootId() {
        return surroundings.bootId();
    }

    /** Cuts off the end of a file, on the disk as well. */
    public void cut(Path path, int sizeBytes) {
        if (find(path) instanceof SimFile file) {
            file.truncate(sizeBytes);
            file.sync(file.unsyncedCount());
        }
    }

    /** Removes a file or directory, on the disk as well. */
    public void lose(Path path) throws IOException {
        SimDirectory parent = parent(path);
        parent.remove(name(path));
        parent.sync();
    }

    private static List<Path> files(Path path, SimDirectory directory, List<Path> into) {
        for (String name : directory.names()) {
            if (directory.get(name) instanceof SimDirectory inner) {
                files(path.resolve(name), inner, into);
            } else {
                into.add(path.resolve(name));
            }
        }
        return into;
    }

    /** Size of all files in bytes. */
    public long usedBytes() {
        return usedBytes(root);
    }

    private static long usedBytes(SimDirectory directory) {
        long used = 0;
        for (Node node : directory.nodes()) {
            used += node instanceof SimDirectory inner ? usedBytes(inner) : ((SimFile) node).sizeBytes();
        }
        return used;
    }

    // Entry of each call.

    private void enter() {
        if (dead) {
            throw new Crash();
        }
        if (happens(faults.slowOdds())) {
            surroundings.onSlow(1 + random.nextInt(faults.slowMs()));
        }
    }

    /** A change begins. Returns true if it is the last: the caller then makes part of it and calls {@link #crash}. */
    private boolean enterChange() {
        enter();
        changes++;
        return changes >= crashAt;
    }

    private Crash crash() {
        dead = true;
        surroundings.onCrash();
        return new Crash();
    }

    private boolean happens(int odds) {
        return odds > 0 && random.nextInt(odds) == 0;
    }

    private void change(Runnable change) {
        boolean last = enterChange();
        if (!last || random.nextBoolean()) {
            change.run();
        }
        if (last) {
            throw crash();
        }
    }

    // Names.

    private Node find(Path path) {
        String names = path.toString();
        Node node = root;
        for (int from = 0; from < names.length(); ) {
            int separator = names.indexOf(path.getFileSystem().getSeparator(), from);
            int to = separator < 0 ? names.length() : separator;
            if (!(node instanceof SimDirectory directory)) {
                return null;
            }
            node = directory.get(names.substring(from, to));
            from = to + 1;
        }
        return node;
    }

    private SimDirectory parent(Path path) throws IOException {
        Path parent = path.getParent();
        Node node = parent == null ? root : find(parent);
        if (node instanceof SimDirectory directory) {
            return directory;
        }
        throw new NoSuchFileException(path.toString());
    }

    private static String name(Path path) {
        return path.getFileName().toString();
    }

    @Override
    public void createDirectories(Path directory) throws IOException {
        enter();
        SimDirectory in = root;
        for (Path name : directory) {
            Node node = in.get(name.toString());
            if (node == null) {
                SimDirectory parent = in;
                SimDirectory created = new SimDirectory();
                change(() -> parent.put(name.toString(), created));
                node = created;
            }
            if (!(node instanceof SimDirectory inner)) {
                throw new IOException(directory + " is a file");
            }
            in = inner;
        }
    }

    @Override
    public boolean isDirectory(Path path) {
        enter();
        return find(path) instanceof SimDirectory;
    }

    @Override
    public List<String> list(Path directory) {
        enter();
        return find(directory) instanceof SimDirectory found ? found.names() : List.of();
    }

    @Override
    public LogFile open(Path file, boolean create) throws IOException {
        enter();
        return new Handle(file, file(file, create));
    }

    private SimFile file(Path file, boolean create) throws IOException {
        Node node = find(file);
        if (node == null && create) {
            SimDirectory parent = parent(file);
            SimFile created = new SimFile();
            change(() -> parent.put(name(file), created));
            return created;
        }
        if (node instanceof SimFile found) {
            return found;
        }
        throw new NoSuchFileException(file.toString());
    }

    @Override
    public long sizeBytes(Path file) throws IOException {
        enter();
        return file(file, false).sizeBytes();
    }

    @Override
    public byte[] read(Path file, int maxSizeBytes) throws IOException {
        enter();
        SimFile found = file(file, false);
        if (found.sizeBytes() > maxSizeBytes) {
            throw new IOException(file + " is larger than " + maxSizeBytes + " bytes");
        }
        failRead(file);
        return found.content();
    }

    @Override
    public void replace(Path file, ByteBuffer content, boolean sync) throws IOException {
        Path temporary = file.resolveSibling(name(file) + TEMPORARY_SUFFIX);
        SimFile node = file(temporary, true);
        truncate(node, 0);
        write(temporary, node, content, 0);
        if (sync) {
            sync(temporary, node);
        }
        move(temporary, file);
        if (sync) {
            syncDirectory(file.getParent());
        }
    }

    @Override
    public void move(Path from, Path to) throws IOException {
        enter();
        SimDirectory parent = parent(from);
        if (parent.get(name(from)) == null) {
            throw new NoSuchFileException(from.toString());
        }
        if (parent(to) != parent) {
            throw new IOException("a file can be moved only within its directory");
        }
        change(() -> parent.move(name(from), name(to)));
    }

    @Override
    public void delete(Path path) throws IOException {
        enter();
        Node node = find(path);
        if (node == null) {
            return;
        }
        if (node instanceof SimDirectory directory) {
            for (String name : directory.names()) {
                delete(path.resolve(name));
            }
        }
        SimDirectory parent = parent(path);
        change(() -> parent.remove(name(path)));
    }

    @Override
    public void syncDirectory(Path directory) throws IOException {
        boolean last = enterChange();
        Node node = find(directory);
        if (!(node instanceof SimDirectory found)) {
            throw new NoSuchFileException(directory.toString());
        }
        failSync(directory);
        if (last) {
            throw crash();
        }
        found.sync();
    }

    // Content.

    private void write(Path path, SimFile file, ByteBuffer source, long position) throws IOException {
        boolean last = enterChange();
        byte[] data = new byte[source.remaining()];
        source.get(data);
        boolean fails = happens(faults.writeErrorOdds());
        long room = faults.capacityBytes() == Long.MAX_VALUE ? Long.MAX_VALUE : faults.capacityBytes() - usedBytes();
        boolean full = position + data.length - file.sizeBytes() > Math.max(0, room);
        if (last || fails || full) {
            byte[] part = Arrays.copyOf(data, random.nextInt(data.length + 1));
            if (!full || position + part.length <= file.sizeBytes() + Math.max(0, room)) {
                file.write(part, Math.toIntExact(position));
            }
        } else {
            file.write(data, Math.toIntExact(position));
            if (happens(faults.misdirectOdds())) {
                harmed = true;
                file.misdirectLast(random);
            }
        }
        if (last) {
            throw crash();
        }
        if (full) {
            throw new IOException(path + ": No space left on device");
        }
        if (fails) {
            throw new IOException(path + ": Input/output error while writing");
        }
    }

    private void truncate(SimFile file, long sizeBytes) throws IOException {
        if (happens(faults.writeErrorOdds())) {
            throw new IOException("Input/output error while truncating");
        }
        change(() -> file.truncate(Math.toIntExact(sizeBytes)));
    }

    private void sync(Path path, SimFile file) throws IOException {
        boolean last = enterChange();
        int covered = file.unsyncedCount();
        int before = life;
        surroundings.onSync();
        if (dead || life != before) {
            throw new Crash();
        }
        boolean chosen = failing.contains(path.getParent());
        if (chosen || happens(faults.syncErrorOdds())) {
            failing = chosen ? Set.of() : failing;
            surroundings.onFailedSync();
            file.failSync(random);
            spareNextChange();
            throw new IOException(path + ": Input/output error while syncing");
        }
        if (last) {
            throw crash();
        }
        // Data that were written meanwhile are not durable.
        file.sync(lying ? 0 : covered);
    }

    private void failSync(Path path) throws IOException {
        if (happens(faults.syncErrorOdds())) {
            surroundings.onFailedSync();
            throw new IOException(path + ": Input/output error while syncing");
        }
    }

    /** Lets the process make one more call: a crash at the same moment would be a second fault. */
    private void spareNextChange() {
        if (crashAt <= changes + 1) {
            crashAt = changes + 2;
        }
    }

    private void failRead(Path path) throws IOException {
        if (happens(faults.readErrorOdds())) {
            throw new IOException(path + ": Input/output error while reading");
        }
    }

    private final class Handle implements LogFile {
        private final Path path;
        private final SimFile file;

        Handle(Path path, SimFile file) {
            this.path = path;
            this.file = file;
        }

        @Override
        public long sizeBytes() {
            enter();
            return file.sizeBytes();
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            SimDisk.this.write(path, file, source, position);
        }

        @Override
        public int read(ByteBuffer target, long position) throws IOException {
            enter();
            failRead(path);
            return file.read(target, position);
        }

        @Override
        public void truncate(long sizeBytes) throws IOException {
            SimDisk.this.truncate(file, sizeBytes);
        }

        @Override
        public void sync() throws IOException {
            SimDisk.this.sync(path, file);
        }

        @Override
        public FileRegion region(long position, int sizeBytes, Runnable onRelease) {
            return null;
        }

        @Override
        public void close() {
            // A handle has no resources.
        }
    }
}
