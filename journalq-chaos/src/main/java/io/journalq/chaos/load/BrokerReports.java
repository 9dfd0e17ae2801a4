package io.journalq.chaos.load;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Names in a data directory, and what a broker reports about faults. Everything that chaos expects in log lines, in
 * refusals to start and on the health page is defined here. Stateless.
 */
public final class BrokerReports {
    /** Directory of the metadata log, below the data directory. */
    public static final String METADATA_DIRECTORY = "metadata";

    /** File that identifies a data directory, directly below it. */
    public static final String IDENTITY_FILE = "journalq.identity";

    private static final int LONGEST_LINE = 300;
    private static final Pattern FENCING =
            Pattern.compile("^time=(\\S+) .* fencing brokers that do not respond: brokers=\\[([0-9, ]+)]");
    private static final Pattern CUT = Pattern.compile("^time=(\\S+) .* the end of the log differs from the leader's");

    private BrokerReports() {}

    /** Whether the log of a start names the file of a damaged batch and the position of the batch. */
    public static boolean namesDamage(String log, Path file, int position) {
        return log.lines()
                .anyMatch(line -> line.contains(lastTwoNames(file)) && line.contains("bytes " + position + " to "));
    }

    /**
     * Whether the broker refused to start because of a damaged metadata log, and named the file and the way to repair
     * it.
     */
    public static boolean refusesDamagedMetadata(String log, Path file) {
        return log.lines()
                .anyMatch(line -> line.contains(lastTwoNames(file))
                        && line.toLowerCase(Locale.ROOT).contains("repair"));
    }

    /** Whether the broker refused to start because it has partitions but no metadata. */
    public static boolean refusesMissingMetadata(String log, Path dataDirectory) {
        return log.lines()
                .anyMatch(line -> line.contains(dataDirectory.getFileName().toString())
                        && line.toLowerCase(Locale.ROOT).contains(METADATA_DIRECTORY)
                        && line.toLowerCase(Locale.ROOT).contains("partition"));
    }

    /** Whether the health page lists {@code dataDirectory} among the directories that are offline. */
    public static boolean saysOffline(String healthPage, Path dataDirectory) {
        int offline = healthPage.indexOf("\"offlineDirectories\":");
        return offline >= 0 && healthPage.indexOf("{\"directory\":\"" + dataDirectory + "\",", offline) >= 0;
    }

    /**
     * The first log line about a failure that neither a client nor an injected fault may cause, cut to
     * {@link #LONGEST_LINE} characters; null if there is none.
     */
    public static String unexpectedFailure(String log) {
        return log.lines()
                .filter(line -> line.contains("unexpected failure")
                        || line.contains("OutOfMemoryError")
                        || line.contains("A task raised an exception"))
                .map(line -> line.substring(0, Math.min(line.length(), LONGEST_LINE)))
                .findFirst()
                .orElse(null);
    }

    /** A controller has fenced a broker without heartbeats. */
    public record Fencing(Instant at, int broker) {}

    /** The brokers that a controller which logged this has fenced. */
    public static List<Fencing> fencings(String log) {
        return log.lines()
                .map(FENCING::matcher)
                .filter(Matcher::find)
                .flatMap(matcher -> Arrays.stream(matcher.group(2).split(", "))
                        .map(broker -> new Fencing(Instant.parse(matcher.group(1)), Integer.parseInt(broker))))
                .toList();
    }

    /** When the broker that logged this removed records that the leader of their partition does not have. */
    public static List<Instant> cuts(String log) {
        return log.lines()
                .map(CUT::matcher)
                .filter(Matcher::find)
                .map(matcher -> Instant.parse(matcher.group(1)))
                .toList();
    }

    private static String lastTwoNames(Path file) {
        return file.subpath(file.getNameCount() - 2, file.getNameCount()).toString();
    }
}
