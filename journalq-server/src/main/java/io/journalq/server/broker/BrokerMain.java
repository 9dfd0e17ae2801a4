package io.journalq.server.broker;

import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.SecuritySettings;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Runs a broker in the foreground until the process is told to stop. The exit code is 0 after a stop, 1 if the broker
 * cannot start, and 2 if the arguments are invalid.
 */
public final class BrokerMain {
    private static final int FAILED = 1;
    private static final int USAGE = 2;
    private static final String USAGE_LINE = "usage: [--config FILE] [--set key=value]... [--insecure]";
    private static final String INSECURE = "--insecure";

    /** A property of Netty: the share of buffers that are checked for leaks. Tests check every buffer. */
    private static final String LEAK_DETECTION = "io.netty.leakDetection.level";

    private BrokerMain() {}

    /** Starts a broker with {@code [--config FILE] [--set key=value]... [--insecure]}. */
    public static void main(String[] arguments) {
        // Netty's default is to check one of 128 buffers, which costs 2 to 4 % of the time of a request.
        if (System.getProperty(LEAK_DETECTION) == null) {
            System.setProperty(LEAK_DETECTION, "disabled");
        }
        int exitCode = run(List.of(arguments), System.getenv(), System.err);
        if (exitCode != 0) {
            System.exit(exitCode);
        }
    }

    private static void closeAtExit(Broker broker) {
        Runtime.getRuntime().addShutdownHook(new Thread(broker::close, "journalq-stop"));
    }

    /**
     * Starts a broker whose threads keep the process running until it is told to stop.
     *
     * @return the exit code if the broker cannot start, else 0
     */
    static int run(List<String> arguments, Map<String, String> environment, PrintStream errors) {
        Path file = null;
        List<String> assignments = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            if (argument.equals(INSECURE)) {
                assignments.add(SecuritySettings.ALLOW_INSECURE_LISTENERS.name() + "=true");
                continue;
            }
            int equals = argument.indexOf('=');
            String option = equals < 0 ? argument : argument.substring(0, equals);
            String value = equals >= 0 ? argument.substring(equals + 1) : null;
            if (value == null && i + 1 < arguments.size()) {
                value = arguments.get(++i);
            }
            if (option.equals("--config") && value != null) {
                file = Path.of(value);
            } else if (option.equals("--set") && value != null) {
                if (value.indexOf('=') <= 0) {
                    // Without the text, which may be a secret.
                    errors.println("--set must be followed by key=value; " + USAGE_LINE);
                    return USAGE;
                }
                assignments.add(value);
            } else {
                errors.println("what does " + argument + " mean? " + USAGE_LINE);
                return USAGE;
            }
        }
        try {
            Broker.start(BrokerConfigLoader.load(file, environment, assignments), BrokerMain::closeAtExit);
            return 0;
        } catch (ConfigException | StartException refused) {
            errors.println(refused.getMessage());
            return FAILED;
        }
    }
}
