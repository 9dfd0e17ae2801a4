package io.journalq.bench.driver;

import java.util.ArrayList;
import java.util.List;

/** The Java that runs this program and what it offers, the same for every broker that is started. Stateless. */
final class JvmOptions {
    private static final int COMPACT_HEADERS_SINCE = 25;
    private static final int NATIVE_ACCESS_SINCE = 24;
    private static final int UNSAFE_WARNINGS_SINCE = 23;

    private JvmOptions() {}

    /** The beginning of a command: Java, and the switches of bin/lib/journalq-env.sh for its version. */
    static List<String> java() {
        int version = Runtime.version().feature();
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        if (version >= COMPACT_HEADERS_SINCE) {
            command.add("-XX:+UseCompactObjectHeaders");
        }
        if (version >= NATIVE_ACCESS_SINCE) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        if (version >= UNSAFE_WARNINGS_SINCE) {
            command.add("--sun-misc-unsafe-memory-access=allow");
        }
        return command;
    }
}
