package io.journalq.server.broker;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How a program starts a broker in a process of its own, with the Java that runs the program: by the script, as anybody
 * would, whose process becomes the broker's. In a build, where there are no scripts yet, Java runs it from the class path.
 * Stateless.
 */
public final class BrokerCommand {
    private static final String HOME = "journalq.home";

    private BrokerCommand() {}

    /**
     * The command, behind which {@link BrokerMain}'s arguments belong.
     *
     * @param heap the size of the heap, as Java's options have it
     * @param javaOptions what differs from the script's
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
