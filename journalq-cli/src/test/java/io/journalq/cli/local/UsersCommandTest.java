package io.journalq.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.CommandRun;
import io.journalq.cli.shell.ExitCode;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command that creates the first user, and the commands of a user that log in. */
class UsersCommandTest {
    private static final String CANARY = "canary-19fe-Ä";

    @TempDir
    private Path directory;

    private Path data;
    private Path passwordFile;

    @BeforeEach
    void writePassword() throws IOException {
        data = directory.resolve("data");
        passwordFile = Files.writeString(directory.resolve("password"), CANARY + "\n");
    }

    @Test
    void shouldLetAUserLogInWhenItWasAddedWhileTheBrokerWasStopped() {
        // given
        assertThat(add("ada").out()).isEqualTo("added user ada\n");
        assertThat(add("ada").out()).isEqualTo("changed the password of user ada\n");

        try (EmbeddedBroker broker = JournalQ.embedded()
                .inDirectory(data)
                .set("listeners", "SASL_PLAINTEXT://127.0.0.1:0")
                .start()) {
            String address = broker.bootstrapServers();
            for (String mechanism : List.of("SCRAM-SHA-256", "scram-sha-512")) {
                // when
                CommandRun listed = asAda("topics list --sasl-mechanism " + mechanism + " --bootstrap " + address);

                // then
                assertThat(listed.exitCode()).as(listed.err()).isEqualTo(ExitCode.DONE);
            }
            assertThat(asAda("topics list --sasl-mechanism PLAIN --bootstrap " + address)
                            .err())
                    .contains("--sasl-mechanism PLAIN sends the password, and needs --tls");

            // and while the broker runs, no user can be added
            CommandRun refused = add("bob");
            assertThat(refused.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(refused.err()).contains(data.toString()).contains("use");
        }
    }

    @Test
    void shouldLogInAsTheProfileSays() {
        add("ada");
        Map<String, String> user = Map.of("XDG_CONFIG_HOME", directory.toString());
        try (EmbeddedBroker broker = JournalQ.embedded()
                .inDirectory(data)
                .set("listeners", "SASL_PLAINTEXT://127.0.0.1:0")
                .start()) {
            CommandRun added = CommandRun.journalq(
                    "", user, words("profile add ada --bootstrap " + broker.bootstrapServers(), login("ada")));
            assertThat(added.exitCode()).as(added.err()).isEqualTo(ExitCode.DONE);

            CommandRun listed = CommandRun.journalq("", user, words("topics list --profile ada", List.of()));

            assertThat(listed.exitCode()).as(listed.err()).isEqualTo(ExitCode.DONE);
            assertThat(CommandRun.journalq("", user, words("profile list --output json", List.of()))
                            .out())
                    .contains(passwordFile.toString())
                    .doesNotContain(CANARY);
        }
    }

    @Test
    void shouldSayThatTheLoginFailedWhenTheUserDoesNotExist() {
        add("ada");
        try (EmbeddedBroker broker = JournalQ.embedded()
                .inDirectory(data)
                .set("listeners", "SASL_PLAINTEXT://127.0.0.1:0")
                .start()) {
            CommandRun refused =
                    CommandRun.journalq(words("topics list --bootstrap " + broker.bootstrapServers(), login("eve")));

            assertThat(refused.exitCode()).isEqualTo(ExitCode.FAILED);
            assertThat(refused.err())
                    .contains("refused the login of user eve", "--password-file")
                    .doesNotContain(CANARY);
        }
    }

    @Test
    void shouldLeaveNoPasswordAndNoReadableFileBehind() throws IOException {
        add("lovelace");

        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1))
                        .as(file.toString())
                        .doesNotContain("canary-19fe");
            }
        }
        Path metadata = data.resolve("metadata");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(metadata)))
                .isEqualTo("rwx------");
        try (Stream<Path> files = Files.list(metadata)) {
            assertThat(files.toList()).isNotEmpty().allSatisfy(file -> assertThat(
                            PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .as(file.toString())
                    .isEqualTo("rw-------"));
        }
        CommandRun dump = CommandRun.journalq("journal", "dump", metadata.toString(), "--records");
        assertThat(dump.out()).contains("value (not shown: the keys of a user)").doesNotContain("lovelace");
    }

    @Test
    void shouldShowNoKeysInADumpWhateverTheDirectoryIsCalled() throws IOException {
        add("lovelace");
        Path metadata = data.resolve("metadata");
        Path copy = Files.createDirectory(directory.resolve("copy"));
        try (Stream<Path> files = Files.list(metadata)) {
            for (Path file : files.toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }

        for (Path named : new Path[] {metadata.resolve("."), copy}) {
            CommandRun dump = CommandRun.journalq("journal", "dump", named.toString(), "--records");

            assertThat(dump.out())
                    .as("%s", named)
                    .contains("value (not shown: the keys of a user)")
                    .doesNotContain("lovelace");
        }
    }

    @Test
    void shouldRefuseAnEmptyPasswordAndABadName() throws IOException {
        Files.writeString(passwordFile, "\n");
        assertThat(add("ada").err()).contains("the password in " + passwordFile + " is empty");
        Files.writeString(passwordFile, CANARY);
        assertThat(add("a\tb").err()).contains("must not contain control characters");
        assertThat(CommandRun.server("users", "add", "ada", "--set", "data.directories=" + data)
                        .err())
                .contains("no terminal to ask for the password; use --password-file");
    }

    private CommandRun add(String name) {
        return CommandRun.server(
                "users", "add", name, "--password-file", passwordFile.toString(), "--set", "data.directories=" + data);
    }

    private CommandRun asAda(String command) {
        return CommandRun.journalq(words(command, login("ada")));
    }

    private List<String> login(String user) {
        return List.of("--user", user, "--password-file", passwordFile.toString());
    }

    private static String[] words(String command, List<String> more) {
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        words.addAll(more);
        return words.toArray(String[]::new);
    }
}
