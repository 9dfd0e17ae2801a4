package io.journalq.server.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RocksDB's native library for this machine. The jar contains it compressed, and unpacking takes about a third of a
 * second of processor time at each start. The scripts therefore name a directory beside the jars. A broker that stops
 * leaves the unpacked library there for the next start. Any thread; blocks.
 */
final class NativeLibrary {
    /**
     * System property that names this directory. The directory must be as trusted as the jars, and must not be shared
     * with other users.
     */
    static final String DIRECTORY_PROPERTY = "journalq.native";

    private static final Logger log = LoggerFactory.getLogger(NativeLibrary.class);

    private static final String PACKED_NAME = Environment.getJniLibraryFileName("rocksdb");

    /** The file name that {@link RocksDB#loadLibrary(List)} looks for. It differs from the name in the jar. */
    private static final String NAME = Environment.getJniLibraryFileName("rocksdbjni");

    private NativeLibrary() {}

    /** Loads the library, from the directory if it is there. */
    static void load() {
        Path directory = directory();
        if (directory != null && Files.exists(directory.resolve(NAME))) {
            try {
                RocksDB.loadLibrary(List.of(directory.toString()));
                return;
            } catch (UnsatisfiedLinkError unusable) {
                log.warn("cannot load {}, using the library in the jar", directory.resolve(NAME), unusable);
            }
        }
        RocksDB.loadLibrary();
    }

    /** Keeps the library for the next start. If this fails, the next start takes longer. */
    static void keep() {
        Path directory = directory();
        if (directory == null || Files.exists(directory.resolve(NAME))) {
            return;
        }
        Path unfinished = directory.resolve(NAME + "." + ProcessHandle.current().pid());
        try (InputStream packed = RocksDB.class.getResourceAsStream("/" + PACKED_NAME)) {
            if (packed == null) {
                return;
            }
            Files.createDirectories(directory);
            try (FileChannel out = FileChannel.open(
                    unfinished,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING)) {
                packed.transferTo(Channels.newOutputStream(out));
                // The rename must not become durable before the content, or a power loss could leave an incomplete file
                // under this name.
                out.force(true);
            }
            Files.move(unfinished, directory.resolve(NAME), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failure) {
            log.debug("cannot keep the native library: {}", failure.toString());
        }
    }

    private static Path directory() {
        String named = System.getProperty(DIRECTORY_PROPERTY);
        return named == null || named.isEmpty() ? null : Path.of(named);
    }
}
