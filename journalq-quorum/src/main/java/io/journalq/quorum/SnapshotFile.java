package io.journalq.quorum;

import io.journalq.server.journal.file.FileStore;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.util.MD5FileUtil;

/** A snapshot in the one file in which Ratis finds and ships it, with its checksum in a file beside it. Stateless. */
final class SnapshotFile {
    private SnapshotFile() {}

    /** Writes a snapshot, durably. There is never one without a checksum. */
    static MD5Hash write(FileStore store, File file, byte[] content) throws IOException {
        MD5Hash checksum = MD5Hash.newInstance(MD5FileUtil.newMD5().digest(content));
        MD5FileUtil.saveMD5File(file, checksum);
        store.replace(file.toPath(), ByteBuffer.wrap(content), true);
        return checksum;
    }

    /**
     * Makes a snapshot durable that Ratis has received: it syncs neither the file nor the directories. It also deletes
     * the entries that the snapshot replaces, so that a power loss would leave a voter with neither.
     */
    static void makeDurable(FileStore store, Path file) throws IOException {
        store.replace(file, ByteBuffer.wrap(store.read(file, Integer.MAX_VALUE)), true);
        store.syncDirectory(file.getParent().getParent());
    }

    /** Reads a snapshot, and fails if it does not match its checksum. */
    static byte[] read(FileStore store, Path file) throws IOException {
        MD5FileUtil.verifySavedMD5(file.toFile(), MD5FileUtil.computeMd5ForFile(file.toFile()));
        return store.read(file, Integer.MAX_VALUE);
    }
}
