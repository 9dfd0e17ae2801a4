package io.journalq.cli.local;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Program;
import io.journalq.cli.shell.Terminal;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** A command for the broker on this machine that a configuration describes. Used for one run, on the main thread. */
abstract class LocalCommand implements Callable<Integer> {
    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The broker's configuration (default: conf/journalq.yaml next to bin/).")
    private Path configFile;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            converter = AssignmentConverter.class,
            description = "Overrides one setting, such as data.directories=/var/lib/journalq. Can be repeated.")
    private List<String> overrides = new ArrayList<>();

    @Spec
    private CommandSpec spec;

    final Terminal terminal() {
        return ((Program) spec.root().userObject()).terminal();
    }

    /** The broker that the options describe. */
    final LocalBroker broker() {
        return LocalBroker.of(configFile(), System.getenv(), overrides);
    }

    /** The configuration that the options describe. */
    final BrokerConfig config() {
        try {
            return BrokerConfigLoader.load(configFile(), System.getenv(), overrides);
        } catch (ConfigException wrong) {
            throw new CommandFailure(wrong.getMessage());
        }
    }

    /** The given configuration file, or the one that is delivered with JournalQ; null if that has been deleted. */
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

    /** Refuses what is no assignment as wrong usage. Its error does not contain the text, which may be a secret. */
    static final class AssignmentConverter implements ITypeConverter<String> {
        @Override
        public String convert(String text) {
            if (text.indexOf('=') <= 0) {
                throw new TypeConversionException("it must be KEY=VALUE");
            }
            return text;
        }
    }

    /** The directory that contains bin, conf and lib. */
    final Path home() {
        return Path.of(System.getProperty(BrokerConfig.HOME_PROPERTY, "."));
    }
}
