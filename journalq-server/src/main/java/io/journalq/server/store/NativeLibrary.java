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
 * RocksDB's library for this machine. It lies packed in its jar, and to unpack it costs every start a third of a second of a
 * processor: the scripts name a folder beside the jars, in which a broker that stops leaves it unpacked for the next one. Any
 * thread; blocks.
 */
final class NativeLibrary {
    /** The system property with that folder, which is as trusted as the jars, and never used with others. */
    static final String FOLDER_PROPERTY = "journalq.native";

    private static final Logger log = LoggerFactory.getLogger(NativeLibrary.class);

    private static final String PACKED_NAME = Environment.getJniLibraryFileName("rocksdb");

    /** What {@link RocksDB#loadLibrary(List)} looks for, which is not what it is called in the jar. */
    private static final String NAME = Environment.getJniLibraryFileName("rocksdbjni");

    private NativeLibrary() {}

    /** Loads it, from the folder when it is there. */
    static void load() {
        Path folder = folder();
        if (folder != null && Files.exists(folder.resolve(NAME))) {
            try {
                RocksDB.loadLibrary(List.of(folder.toString()));
                return;
            } catch (UnsatisfiedLinkError unusable) {
                log.warn("{} cannot be loaded, its jar is used", folder.resolve(NAME), unusable);
            }
        }
        RocksDB.loadLibrary();
    }

    /** Leaves it for the next start; a failure is no loss but of time. */
    static void keep() {
        Path folder = folder();
        if (folder == null || Files.exists(folder.resolve(NAME))) {
            return;
        }
        Path unfinished = folder.resolve(NAME + "." + ProcessHandle.current().pid());
        try (InputStream packed = RocksDB.class.getResourceAsStream("/" + PACKED_NAME)) {
            if (packed == null) {
                return;
            }
            Files.createDirectories(folder);
            try (FileChannel out = FileChannel.open(
                    unfinished,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.TRUNCATE_EXISTING)) {
                packed.transferTo(Channels.newOutputStream(out));
                // What a power cut leaves of it under its name must be all of it.
                out.force(true);
            }
            Files.move(unfinished, folder.resolve(NAME), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failure) {
            log.debug("the library is not kept: {}", failure.toString());
        }
    }

    private static Path folder() {
        String named = System.getProperty(FOLDER_PROPERTY);
        return named == null || named.isEmpty() ? null : Path.of(named);
    }
}
