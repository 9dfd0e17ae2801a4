package io.journalq.cli.message;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.Terminal;
import io.journalq.client.Consumer;
import io.journalq.client.Producer;
import io.journalq.common.file.FileProblem;
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

    /** Whether messages are sealed or opened. */
    boolean isUsed() {
        return file != null;
    }

    Producer.Builder apply(Producer.Builder builder) {
        return file == null ? builder : builder.seal(load((partition, offset) -> {}));
    }

    /** @param terminal is told which records are left out, because the keys of their subjects were destroyed */
    Consumer.Builder apply(Consumer.Builder builder, Terminal terminal) {
        return file == null
                ? builder
                : builder.open(load((partition, offset) -> terminal.warn("the record of " + partition + " at offset "
                        + offset + " is left out: the key of its subject was destroyed")));
    }

    private SealPolicy load(SealPolicy.ShreddedListener listener) {
        try {
            return SealPolicy.load(file, listener);
        } catch (IOException unusable) {
            throw new CommandFailure("cannot use the policy " + file + ": " + FileProblem.message(unusable));
        } catch (IllegalArgumentException unusable) {
            throw new CommandFailure("cannot use the policy " + file + ": " + unusable.getMessage());
        }
    }
}
