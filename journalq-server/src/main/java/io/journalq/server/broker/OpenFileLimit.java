package io.journalq.server.broker;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Divides the open files that this process is allowed. Connections get most of them but never all, so that clients
 * cannot use up the files that partitions need. Stateless.
 */
final class OpenFileLimit {
    private static final Logger log = LoggerFactory.getLogger(OpenFileLimit.class);

    /** Files that the JVM, its libraries and the coordinator store keep open. */
    static final int FILES_OF_THE_PROCESS = 128;

    /** Share of connections in the remaining files. The rest is for journals. */
    static final double SHARE_FOR_CONNECTIONS = 0.75;

    private OpenFileLimit() {}

    /**
     * The maximum number of connections: {@code wanted}, or less if the system's limit on open files has no room for
     * them.
     */
    static int connections(int wanted) {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                ? connections(wanted, system.getMaxFileDescriptorCount())
                : wanted;
    }

    static int connections(int wanted, long maxOpenFiles) {
        long room = Math.max(1, (long) ((maxOpenFiles - FILES_OF_THE_PROCESS) * SHARE_FOR_CONNECTIONS));
        if (maxOpenFiles <= 0 || wanted <= room) {
            return wanted;
        }
        log.warn(
                "this process may open {} files: accepting at most {} connections instead of"
                        + " max.connections={}; raise that limit (ulimit -n, LimitNOFILE) for more",
                maxOpenFiles,
                room,
                wanted);
        return (int) room;
    }
}
