package io.journalq.server.broker;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Divides the files that this process may have open: connections get most of them and never all, so that no crowd of
 * clients can keep partitions from being written. Stateless.
 */
final class OpenFiles {
    private static final Logger log = LoggerFactory.getLogger(OpenFiles.class);

    /** What the Java machine has open itself, with libraries and the store of coordinators. */
    static final int FILES_OF_THE_PROCESS = 128;

    /** Of what is left; the rest is for journals. */
    static final double SHARE_FOR_CONNECTIONS = 0.75;

    private OpenFiles() {}

    /** How many connections there may be: as many as are wanted, or as the system's limit has room for. */
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
                "this process may have {} files open: at most {} connections are taken instead of max.connections={};"
                        + " raise that limit (ulimit -n, LimitNOFILE) for more",
                maxOpenFiles,
                room,
                wanted);
        return (int) room;
    }
}
