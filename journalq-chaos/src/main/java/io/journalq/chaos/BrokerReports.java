package io.journalq.chaos;

import java.nio.file.Path;
import java.util.Locale;

/**
 * Names in a data directory, and what a broker says when something is wrong with it: everything that chaos expects of log
 * lines, refusals and the health page stands here. Stateless.
 */
final class BrokerReports {
    /** The directory of the metadata log, in the data directory. */
    static final String METADATA_DIRECTORY = "metadata";

    /** The file by which a data directory is known, in the data directory. */
    static final String IDENTITY_FILE = "journalq.identity";

    private static final int LONGEST_LINE = 300;

    private BrokerReports() {}

    /** Whether a start named a damaged batch of a partition: its file, and where the bad bytes begin. */
    static boolean namesDamage(String log, Path file, int position) {
        return log.lines()
                .anyMatch(line -> line.contains(lastTwoNames(file)) && line.contains("bytes " + position + " to "));
    }

    /** Whether a start was refused because of a damaged metadata log, with the file and the way to repair it. */
    static boolean refusesDamagedMetadata(String log, Path file) {
        return log.lines()
                .anyMatch(line -> line.contains(lastTwoNames(file))
                        && line.toLowerCase(Locale.ROOT).contains("repair"));
    }

    /** Whether a start was refused because there are partitions and no metadata. */
    static boolean refusesMissingMetadata(String log, Path dataDirectory) {
        return log.lines()
                .anyMatch(line -> line.contains(dataDirectory.getFileName().toString())
                        && line.toLowerCase(Locale.ROOT).contains(METADATA_DIRECTORY)
                        && line.toLowerCase(Locale.ROOT).contains("partition"));
    }

    /** Whether the health page lists {@code dataDirectory} among the directories that are offline. */
    static boolean saysOffline(String healthPage, Path dataDirectory) {
        int offline = healthPage.indexOf("\"offlineDirectories\":");
        return offline >= 0 && healthPage.indexOf("{\"directory\":\"" + dataDirectory + "\",", offline) >= 0;
    }

    /** The beginning of the first line about something that neither a client nor a fault may cause; null when there is none. */
    static String unexpectedFailure(String log) {
        return log.lines()
                .filter(line -> line.contains("unexpected failure")
                        || line.contains("OutOfMemoryError")
                        || line.contains("A task raised an exception"))
                .map(line -> line.substring(0, Math.min(line.length(), LONGEST_LINE)))
                .findFirst()
                .orElse(null);
    }

    private static String lastTwoNames(Path file) {
        return file.subpath(file.getNameCount() - 2, file.getNameCount()).toString();
    }
}
