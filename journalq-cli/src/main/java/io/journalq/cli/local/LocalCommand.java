package io.journalq.cli.local;

import io.journalq.cli.shell.Program;
import io.journalq.cli.shell.Terminal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A command about the broker of this machine that a configuration describes. Lives for one run, on the main thread. */
abstract class LocalCommand implements Callable<Integer> {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The broker's configuration (default: conf/journalq.yaml beside bin/).")
    private Path configFile;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description =
                    "Overrides one setting of it, such as data.directories=/var/lib/journalq; may be given several "
                            + "times.")
    private List<String> overrides = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    final Terminal terminal() {
        return ((Program) spec.root().userObject()).terminal();
    }

    /** The settings of the broker that is meant. */
    final LocalBroker broker() {
        return LocalBroker.of(configFile(), System.getenv(), overrides);
    }

    /** The configuration file as it was named, or the one that comes with JournalQ; null when that was taken away. */
    final Path configFile() {
        if (configFile != null) {
            return configFile;
        }
        Path shipped = home().resolve("conf").resolve("journalq.yaml");
        return Files.exists(shipped) ? shipped : null;
    }

    final List<String> overrides() {
        return overrides;
    }

    /** The folder that holds bin, conf and lib. */
    final Path home() {
        return Path.of(System.getProperty("journalq.home", "."));
    }
}
