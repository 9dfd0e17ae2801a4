package io.journalq.cli.message;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.client.Consumer;
import io.journalq.client.Producer;
import io.journalq.seal.SealPolicy;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The policy of end-to-end encryption of a command that writes or reads messages. For one run. */
final class SealPolicies {
    @Option(
            names = "--policy",
            paramLabel = "FILE",
            description =
                    "Policy of end-to-end encryption: messages are sealed when they are written, and must be sealed"
                            + " to be read. See journalq keys --help.")
    private Path file;

    Producer.Builder apply(Producer.Builder builder) {
        return file == null ? builder : builder.seal(load());
    }

    Consumer.Builder apply(Consumer.Builder builder) {
        return file == null ? builder : builder.open(load());
    }

    private SealPolicy load() {
        try {
            return SealPolicy.load(file);
        } catch (IOException | IllegalArgumentException unusable) {
            throw new CommandFailure("cannot use the policy " + file + ": " + unusable.getMessage());
        }
    }
}
