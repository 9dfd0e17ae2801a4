package io.journalq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.cli.shell.ExitCode;
import io.journalq.embedded.EmbeddedBroker;
import io.journalq.embedded.JournalQ;
import io.journalq.server.process.LoopbackPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the commands of the guide that take over rights and users. Another JournalQ broker takes the part of Kafka, and
 * the dump is one of a Kafka broker, which KafkaMigrationTest of the server records.
 */
class MigrationTest {
    private static final Path GUIDE = Path.of("..", "docs", "guides", "migrating-from-kafka.md");
    private static final String SECTION = "## Take over rights and users";
    private static final Pattern BLOCK = Pattern.compile("(?s)```sh\\n(.*?)```");
    private static final Pattern REDIRECTED = Pattern.compile("(.*) > (\\S+)");

    @TempDir
    private Path directory;

    private Path data;

    @BeforeEach
    void copyDump() throws IOException {
        data = directory.resolve("data");
        Files.copy(Path.of("src", "test", "resources", "kafka-4.3-users.dump"), directory.resolve("users.dump"));
    }

    private static List<String> commandsOfTheGuide() throws IOException {
        String guide = Files.readString(GUIDE);
        int start = guide.indexOf(SECTION);
        assertThat(start).as("the guide has the section '%s'", SECTION).isPositive();
        String section = guide.substring(start, guide.indexOf("\n## ", start + 1));
        List<String> commands = new ArrayList<>();
        Matcher blocks = BLOCK.matcher(section);
        while (blocks.find()) {
            commands.addAll(blocks.group(1).lines().toList());
        }
        return commands;
    }

    /** Runs a command whose files are in the directory of the test. */
    private CommandRun run(String command, Map<String, String> addresses) throws IOException {
        Matcher redirected = REDIRECTED.matcher(command);
        String words = redirected.matches() ? redirected.group(1) : command;
        List<String> arguments = new ArrayList<>();
        for (String word : words.split(" ", -1)) {
            boolean isFile = word.endsWith(".json") || word.endsWith(".dump");
            arguments.add(isFile ? directory.resolve(word).toString() : addresses.getOrDefault(word, word));
        }
        String program = arguments.remove(0);
        boolean isServer = program.equals("bin/journalq-server");
        if (isServer) {
            arguments.addAll(List.of("--set", "data.directories=" + data));
        }
        CommandRun run = isServer
                ? CommandRun.server(arguments.toArray(String[]::new))
                : CommandRun.journalq(arguments.toArray(String[]::new));
        if (redirected.matches()) {
            Files.writeString(directory.resolve(redirected.group(2)), run.out());
        }
        return run;
    }

    @Test
    void shouldTakeOverRightsAndUsersAsTheGuideSays() throws IOException {
        Map<String, String> rights = Map.of("authorization.enabled", "true", "super.users", "User:ANONYMOUS");
        List<String> said = new ArrayList<>();
        String login = "127.0.0.1:" + LoopbackPorts.next();
        try (CommandBroker kafka = new CommandBroker(directory.resolve("kafka"), rights)) {
            // given
            kafka.done("access", "grant", "--principal", "billing", "--operation", "read", "--topic", "orders");
            kafka.done(
                    "access",
                    "grant",
                    "--principal",
                    "eve",
                    "--operation",
                    "all",
                    "--topic",
                    "ord",
                    "--prefix",
                    "--deny");
            List<String> commands = commandsOfTheGuide();
            assertThat(commands).hasSize(4);

            // when users are imported, the broker is started, and the rights are copied
            said.addAll(run(commands.get(0), Map.of()).outLines());
            try (EmbeddedBroker journalq = JournalQ.embedded()
                    .inDirectory(data)
                    .set("listeners", "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://" + login)
                    .set("authorization.enabled", "true")
                    .set("super.users", "User:ANONYMOUS")
                    .start()) {
                String plain = journalq.bootstrapServers();
                Map<String, String> addresses = Map.of("kafka:9092", kafka.bootstrap(), "journalq:9092", plain);
                for (String command : commands.subList(1, commands.size())) {
                    CommandRun run = run(command, addresses);
                    assertThat(run.exitCode()).as(command + ": " + run.err()).isEqualTo(ExitCode.DONE);
                    said.addAll(run.outLines());
                }

                // then billing logs in with the password of Kafka, and the rights are the same
                Path password = Files.writeString(directory.resolve("password"), "password of billing", UTF_8);
                CommandRun listed = CommandRun.journalq(
                        "topics",
                        "list",
                        "--bootstrap",
                        login,
                        "--user",
                        "billing",
                        "--password-file",
                        password.toString(),
                        "--sasl-mechanism",
                        "SCRAM-SHA-512");
                assertThat(listed.exitCode()).as(listed.err()).isEqualTo(ExitCode.DONE);
                assertThat(CommandRun.journalq("access", "list", "--bootstrap", plain)
                                .outLines())
                        .containsExactlyElementsOf(kafka.done("access", "list").outLines());
            }
        }
        assertThat(said)
                .contains(
                        "added user audit: SCRAM-SHA-512(iterations=8192)",
                        "added user billing: SCRAM-SHA-256(iterations=4096), SCRAM-SHA-512(iterations=8192)",
                        "would add 2 ACLs; 0 existed, 0 left out, 0 users missing",
                        "added 2 ACLs; 0 existed, 0 left out, 0 users missing")
                .noneMatch(line -> line.contains("gone"));
    }

    @Test
    void shouldLeaveOutWhatJournalQDoesNotHaveAndNameMissingUsers() throws IOException {
        // given
        Path file = Files.writeString(
                directory.resolve("access.json"),
                """
                {"acls": [
                  {"permission": "ALLOW", "operation": "CREATE_TOKENS", "resourceType": "USER", "patternType": "LITERAL",
                   "resourceName": "ada", "principal": "User:ada", "host": "*"},
                  {"permission": "ALLOW", "operation": "READ", "resourceType": "GROUP", "patternType": "LITERAL",
                   "resourceName": "billing", "principal": "User:billing", "host": "10.0.0.7"}],
                 "users": [{"user": "billing", "iterations": {"SCRAM-SHA-256": 4096}}]}
                """);
        try (CommandBroker broker =
                new CommandBroker(data, Map.of("authorization.enabled", "true", "super.users", "User:ANONYMOUS"))) {
            // when
            CommandRun first = broker.run("access", "import", file.toString());
            CommandRun second = broker.run("access", "import", file.toString());

            // then
            assertThat(first.outLines()).containsExactly("added 1 ACL; 0 existed, 1 left out, 1 user missing");
            assertThat(String.join("\n", first.errLines()))
                    .contains(
                            "left out: ALLOW CREATE_TOKENS on USER 'ada' to User:ada: JournalQ has no delegation tokens",
                            "not imported: user billing: brokers do not return the keys of passwords");
            assertThat(second.outLines()).containsExactly("added 0 ACLs; 1 existed, 1 left out, 1 user missing");
            assertThat(broker.run("access", "import", directory.resolve("none").toString())
                            .err())
                    .contains("there is no such file");
            Files.writeString(file, "{\"acls\": [{\"principal\": \"User:ada\"}]}");
            assertThat(broker.run("access", "import", file.toString()).err())
                    .contains("it is not what journalq access export writes");
        }
    }

    @Test
    void shouldShowNoKeyWhenADumpIsMalformed() throws IOException {
        Path dump = Files.writeString(
                directory.resolve("cut.dump"),
                "| offset: 34 payload: {\"type\":\"USER_SCRAM_CREDENTIAL_RECORD\",\"data\":{\"name\":\"ada\",\"mechanism\":1,"
                        + "\"salt\":\"canary!");

        CommandRun run = CommandRun.server("users", "import", dump.toString(), "--set", "data.directories=" + data);

        assertThat(run.exitCode()).isEqualTo(ExitCode.FAILED);
        assertThat(run.err())
                .contains("cut.dump:1: the record of a user is malformed")
                .doesNotContain("canary");
        assertThat(CommandRun.server("users", "import", GUIDE.toString(), "--set", "data.directories=" + data)
                        .err())
                .contains("contains no record of Kafka's metadata");
    }
}
