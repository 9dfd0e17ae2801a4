package io.journalq.cli.local;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.ExitCode;
import io.journalq.cli.shell.Passwords;
import io.journalq.cli.shell.Terminal;
import io.journalq.common.sasl.ScramCredential;
import io.journalq.server.broker.OfflineUsers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq-server users}. */
@Command(
        name = "users",
        description =
                "Creates users who log in with passwords, or imports those of Kafka, while the broker is not running.",
        subcommands = {UsersCommand.Add.class, UsersCommand.Import.class})
public final class UsersCommand extends CommandGroup {
    /** {@code journalq-server users add}. */
    @Command(
            name = "add",
            description = {
                "Creates a user, or gives an existing one another password. The broker must not be running.",
                "The user can log in on listeners of SASL_SSL and SASL_PLAINTEXT. The broker stores keys from which the"
                        + " password cannot be computed. While the broker is running, users are changed with the Admin"
                        + " API, for example with kafka-configs.sh."
            },
            footerHeading = "%nExamples:%n",
            footer = {
                "  journalq-server users add admin",
                "  journalq-server users add billing --password-file billing.password",
                "  journalq-server users add admin --config /etc/journalq/journalq.yaml"
            })
    static final class Add extends LocalCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the user.")
        private String name;

        @Option(
                names = "--password-file",
                paramLabel = "FILE",
                description = "File with the password (default: the command asks for it).")
        private Path passwordFile;

        @Override
        public Integer call() throws IOException {
            OfflineUsers users = new OfflineUsers(config());
            char[] password = passwordFile == null ? Passwords.ask(terminal(), name) : Passwords.read(passwordFile);
            byte[] utf8 = utf8(password);
            Arrays.fill(password, '\0');
            try {
                boolean existed = users.add(name, utf8);
                terminal().printLine((existed ? "changed the password of user " : "added user ") + name);
            } catch (IOException refused) {
                throw new CommandFailure(refused.getMessage());
            } finally {
                Arrays.fill(utf8, (byte) 0);
            }
            return ExitCode.DONE;
        }

        private static byte[] utf8(char[] password) {
            ByteBuffer encoded = StandardCharsets.UTF_8.encode(CharBuffer.wrap(password));
            byte[] bytes = new byte[encoded.remaining()];
            encoded.get(bytes);
            return bytes;
        }
    }

    /** {@code journalq-server users import}. */
    @Command(
            name = "import",
            description = {
                "Takes over the users of a Kafka cluster with their passwords. The broker must not be running.",
                "Brokers do not return the keys of passwords, so that they have to be read from the metadata of a"
                        + " controller of Kafka. Dump its newest snapshot (*.checkpoint) and the logs after it with"
                        + " kafka-dump-log.sh --cluster-metadata-decoder.",
                "The dump contains keys with which passwords can be guessed. Keep it secret (umask 077), and delete it."
            },
            footerHeading = "%nExamples:%n",
            footer = "  journalq-server users import users.dump")
    static final class Import extends LocalCommand {
        @Parameters(
                arity = "1..*",
                paramLabel = "FILE",
                description = "Output of kafka-dump-log.sh, the oldest file first.")
        private List<Path> files;

        @Override
        public Integer call() throws IOException {
            KafkaUsers users = new KafkaUsers();
            files.forEach(users::read);
            if (users.credentials().isEmpty()) {
                throw new CommandFailure("the dump contains no user with a password; dump the newest snapshot as well");
            }
            List<OfflineUsers.Result> results;
            try {
                results = new OfflineUsers(config()).addAll(users.credentials());
            } catch (IOException refused) {
                throw new CommandFailure(refused.getMessage());
            }
            long failed = 0;
            for (OfflineUsers.Result result : results) {
                if (result.refusal() != null) {
                    failed++;
                    terminal().tell("not imported: user " + result.user() + ": " + result.refusal());
                    continue;
                }
                String mechanisms = users.credentials().get(result.user()).stream()
                        .map(ScramCredential::toString)
                        .collect(Collectors.joining(", "));
                terminal()
                        .printLine(
                                Terminal.printable((result.existed() ? "changed the password of user " : "added user ")
                                        + result.user()
                                        + ": "
                                        + mechanisms));
            }
            if (failed > 0) {
                throw new CommandFailure(failed + " of " + results.size()
                        + " users were not imported; add them with: journalq-server users add NAME");
            }
            return ExitCode.DONE;
        }
    }
}
