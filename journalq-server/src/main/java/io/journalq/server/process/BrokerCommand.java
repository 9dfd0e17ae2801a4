package io.journalq.server.process;

import io.journalq.server.broker.BrokerMain;
import io.journalq.server.config.BrokerConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds the command that starts a broker in a process of its own, with the Java that runs this program. If the
 * distribution's script exists, the command runs it, and the process of the script becomes that of the broker. In a
 * build, which has no scripts yet, the command runs Java with the class path. Stateless.
 */
public final class BrokerCommand {
    private static final String HOME = BrokerConfig.HOME_PROPERTY;

    private BrokerCommand() {}

    /**
     * Returns the command, to which the caller appends the arguments of {@link BrokerMain}.
     *
     * @param heap the size of the heap, as in Java's options
     * @param javaOptions options in addition to those of the script
     */
    public static List<String> inForeground(String heap, List<String> javaOptions) {
        Path script = Path.of(System.getProperty(HOME, ""), "bin", "journalq-server");
        if (System.getProperty(HOME) != null && Files.isExecutable(script)) {
            return List.of(
                    "env",
                    "JOURNALQ_OPTS=" + String.join(" ", javaOptions),
                    "JOURNALQ_HEAP=" + heap,
                    "JAVA_HOME=" + System.getProperty("java.home"),
                    script.toString(),
                    "start",
                    "--foreground");
        }
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xms" + heap, "-Xmx" + heap));
        command.addAll(javaOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), BrokerMain.class.getName()));
        return command;
    }
}
