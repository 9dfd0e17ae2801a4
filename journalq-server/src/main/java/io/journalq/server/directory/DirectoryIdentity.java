package io.journalq.server.directory;

import io.journalq.common.id.Uuid;
import io.journalq.server.journal.file.CorruptJournalException;
import io.journalq.server.journal.file.NewerFormatException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * The identity of a data directory, stored in the file {@link #FILE_NAME} at its root: a few lines of text that end
 * with their CRC32C. Immutable.
 *
 * @param clusterId id of the cluster, as in the metadata
 * @param nodeId id of the broker in the cluster
 * @param directoryId id of this directory, unique among all data directories
 * @param directories in the directory that holds the metadata: the ids of all data directories of the broker, including
 *     this one; empty in the other directories
 */
record DirectoryIdentity(String clusterId, int nodeId, Uuid directoryId, List<Uuid> directories) {
    static final String FILE_NAME = "journalq.identity";

    /** The format version that this release writes and reads. */
    static final int VERSION = 1;

    /** Large enough for the ids of 1,000 data directories. */
    static final int MAX_FILE_BYTES = 32 << 10;

    private static final String CRC_BEGIN = "crc32c=";

    byte[] encode() {
        String lines = "version=" + VERSION + "\ncluster.id=" + clusterId + "\nnode.id=" + nodeId + "\ndirectory.id="
                + directoryId + "\ndirectories="
                + directories.stream().map(Uuid::toString).collect(Collectors.joining(",")) + "\n";
        return (lines + CRC_BEGIN + crc(lines) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Decodes the content of an identity file.
     *
     * @throws IOException when the content is damaged or written by a newer release; the message is one line that says
     *     what to do
     */
    static DirectoryIdentity decode(Path file, byte[] content) throws IOException {
        String text = new String(content, StandardCharsets.UTF_8);
        String lines = text.substring(0, Math.max(0, text.lastIndexOf(CRC_BEGIN)));
        if (!text.equals(lines + CRC_BEGIN + crc(lines) + "\n")) {
            throw damaged(file);
        }
        Map<String, String> values = new HashMap<>();
        for (String line : lines.split("\n", -1)) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        try {
            int version = Integer.parseInt(values.getOrDefault("version", ""));
            if (version > VERSION) {
                throw new NewerFormatException(file, "the identity of a data directory", version, VERSION);
            }
            return new DirectoryIdentity(
                    Optional.ofNullable(values.get("cluster.id")).orElseThrow(),
                    Integer.parseInt(values.getOrDefault("node.id", "")),
                    Uuid.parse(values.getOrDefault("directory.id", "")),
                    Stream.of(values.getOrDefault("directories", "").split(","))
                            .filter(id -> !id.isEmpty())
                            .map(Uuid::parse)
                            .toList());
        } catch (RuntimeException incomplete) {
            throw damaged(file);
        }
    }

    private static IOException damaged(Path file) {
        return new CorruptJournalException(
                file,
                "damaged; restore it from a backup or, if every data directory is the right one, delete " + FILE_NAME
                        + " in each of them: the next start writes them again");
    }

    private static String crc(String lines) {
        CRC32C crc = new CRC32C();
        crc.update(lines.getBytes(StandardCharsets.UTF_8));
        return String.format(Locale.ROOT, "%08x", crc.getValue());
    }
}
