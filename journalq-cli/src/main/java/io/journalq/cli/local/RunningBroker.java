package io.journalq.cli.local;

import io.journalq.server.broker.BrokerMain;
import io.journalq.server.directory.LockHolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A broker process on this machine, whatever its configuration is. Immutable.
 *
 * @param dataDirectory its data directory; null if this user cannot see the files of the process
 * @param address the address for clients on this machine, {@code host:port}; null if it is not known
 */
record RunningBroker(long processId, Path dataDirectory, String address) {
    private static final String LOCK_FILE = ".lock";

    /** Finds all broker processes, in the order of their ids. */
    static List<RunningBroker> all() {
        return ProcessHandle.allProcesses()
                .filter(RunningBroker::isBroker)
                .map(process -> of(process.pid()))
                .sorted(Comparator.comparingLong(RunningBroker::processId))
                .toList();
    }

    /** The command line also contains the name in a shell that starts a broker. */
    private static boolean isBroker(ProcessHandle process) {
        return process.info().command().orElse("").endsWith("java")
                && process.info().commandLine().orElse("").contains(BrokerMain.class.getName());
    }

    /** A broker keeps the lock file of each data directory open. The first one also holds the metadata. */
    private static RunningBroker of(long processId) {
        try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(processId), "fd"))) {
            return files.map(RunningBroker::target)
                    .filter(file -> file.endsWith(LOCK_FILE))
                    .map(Path::getParent)
                    .min(Comparator.comparing((Path directory) -> !Files.exists(directory.resolve("metadata")))
                            .thenComparing(Comparator.naturalOrder()))
                    .map(directory -> new RunningBroker(
                            processId,
                            directory,
                            LockHolder.read(directory).map(LockHolder::address).orElse(null)))
                    .orElseGet(() -> new RunningBroker(processId, null, null));
        } catch (IOException ofAnotherUserOrSystem) {
            return new RunningBroker(processId, null, null);
        }
    }

    private static Path target(Path link) {
        try {
            return Files.readSymbolicLink(link);
        } catch (IOException closedMeanwhile) {
            return link;
        }
    }

    /** Describes the broker in a few words. */
    @Override
    public String toString() {
        return "process " + processId
                + (address == null ? "" : " at " + address)
                + (dataDirectory == null ? " (its files are not visible to this user)" : ", data in " + dataDirectory);
    }

    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("processId", processId);
        json.put("address", address);
        json.put("dataDirectory", dataDirectory);
        return json;
    }
}
