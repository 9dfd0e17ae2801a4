package io.journalq.server.cli;

import io.journalq.server.broker.StartException;
import io.journalq.server.broker.TestBroker;
import io.journalq.server.config.ConfigException;
import java.nio.file.Path;
import java.util.stream.Stream;

/** A real broker in this process, and commands that are run against it. */
public final class CommandBroker implements AutoCloseable {
    private final TestBroker broker;

    public CommandBroker(Path dataDirectory) throws ConfigException, StartException {
        this.broker = new TestBroker(dataDirectory).start();
    }

    /** What the commands run against, for other clients. */
    public TestBroker broker() {
        return broker;
    }

    /** Runs a command, however it ends. */
    public CommandRun run(String... words) {
        return runWithInput("", words);
    }

    /** Runs a command that reads this. */
    public CommandRun runWithInput(String input, String... words) {
        return CommandRun.journalqWithInput(
                input,
                Stream.concat(Stream.of(words), Stream.of("--bootstrap", broker.bootstrap()))
                        .toArray(String[]::new));
    }

    /** Runs a command that must succeed. */
    public CommandRun done(String... words) {
        return doneWithInput("", words);
    }

    /** Runs a command that reads this and must succeed. */
    public CommandRun doneWithInput(String input, String... words) {
        CommandRun run = runWithInput(input, words);
        if (run.exitCode() != 0) {
            throw new AssertionError(String.join(" ", words) + " ended with " + run.exitCode() + ": " + run.err());
        }
        return run;
    }

    @Override
    public void close() {
        broker.close();
    }
}
