package io.journalq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.seal.KeyVault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands of {@code journalq keys}, and of writing and reading with a policy: those of the guide, in its order. */
class KeysCommandsTest {
    private static final Path GUIDE = Path.of("..", "docs", "guides", "end-to-end-encryption.md");
    private static final Pattern BLOCK = Pattern.compile("(?s)```sh\\n(.*?)```");
    private static final Pattern COMMAND = Pattern.compile("(?:echo '([^']*)' \\| )?bin/journalq (.*)");
    private static final Pattern FILE = Pattern.compile("[a-z]+\\.(?:keys|seal)|passphrase|subjects-directory");
    private static final Pattern POLICY = Pattern.compile("(?s)cat > (\\S+) <<END\\n(.*?)END\\n");

    private static final int FEW_ITERATIONS = 1_000;

    @TempDir
    private Path directory;

    private CommandBroker broker;

    @BeforeEach
    void start() throws IOException {
        broker = new CommandBroker(Files.createDirectory(directory.resolve("data")));
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    /** A keyring that opens at once, where the default would take a second for each command. */
    private void createKeyring(String name, String passphrase) throws IOException {
        KeyVault.create(directory.resolve(name), passphrase.toCharArray(), FEW_ITERATIONS);
    }

    /** Runs a command with the files in the directory of this test. */
    private CommandRun run(String input, String words) {
        List<String> arguments = new ArrayList<>();
        for (String word : words.split(" ", -1)) {
            arguments.add(FILE.matcher(word).matches() ? directory.resolve(word).toString() : word);
        }
        return broker.runWithInput(input, arguments.toArray(String[]::new));
    }

    private CommandRun done(String input, String words) {
        CommandRun run = run(input, words);
        assertThat(run.exitCode()).as("%s: %s", words, run.err()).isZero();
        return run;
    }

    @Test
    void shouldDoWhatTheGuideSaysWhenItsCommandsAreRun() throws IOException {
        // given
        StringBuilder script = new StringBuilder();
        Matcher block = BLOCK.matcher(Files.readString(GUIDE));
        while (block.find()) {
            script.append(block.group(1));
        }
        Matcher policy = POLICY.matcher(script);
        while (policy.find()) {
            Files.writeString(directory.resolve(policy.group(1)), policy.group(2));
        }
        Files.writeString(directory.resolve("passphrase"), "correct horse battery staple\n");
        createKeyring("root.keys", "correct horse battery staple");
        createKeyring("auditors.keys", "correct horse battery staple");

        // when
        List<CommandRun> runs = new ArrayList<>();
        List<String> commands = POLICY.matcher(script).replaceAll("").lines().toList();
        for (String line : commands) {
            Matcher command = COMMAND.matcher(line);
            if (command.matches()) {
                runs.add(done(command.group(1) == null ? "" : command.group(1) + "\n", command.group(2)));
            } else {
                assertThat(line).isEqualTo("echo 'correct horse battery staple' > passphrase");
            }
        }

        // then
        List<String> consumed = runs.stream()
                .map(CommandRun::out)
                .filter(out -> out.contains("card 4711") || out.contains("\"offset\""))
                .toList();
        assertThat(consumed).hasSize(2);
        assertThat(consumed.get(0)).isEqualTo("card 4711\n");
        assertThat(consumed.get(1)).doesNotContain("card").contains("jqe1");
        assertThat(runs.stream().map(CommandRun::out).filter(out -> out.contains("version ")))
                .anySatisfy(shown -> assertThat(shown)
                        .contains("realm production", "role readers 2", "topic orders batch readers", "keyring role"));
        try (var files = Files.walk(directory.resolve("data"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                assertThat(new String(Files.readAllBytes(file), UTF_8))
                        .as("%s", file)
                        .doesNotContain("card 4711");
            }
        }
    }

    @Test
    void shouldFailWithoutSendingWhenTheSenderIsRevoked() throws IOException {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        Files.writeString(
                directory.resolve("billing.seal"),
                "realm=production\nroot=first-use\nkeyring=root.keys\npassphrase-file=passphrase\nsender=billing\n");
        String keyring = " --keyring root.keys --passphrase-file passphrase";
        done("", "topics create orders --partitions 1");
        done("", "keys init production" + keyring);
        done("", "keys identity billing" + keyring);
        done("", "keys role readers" + keyring);
        done("", "keys grant orders readers" + keyring);
        done("", "keys revoke --sender billing" + keyring);

        CommandRun refused = run("card 4711\n", "produce orders --policy billing.seal");

        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("sender billing may not send to topic orders");
        assertThat(done("", "consume orders --from beginning --until end --count")
                        .out())
                .contains("0 messages");
    }

    @Test
    void shouldCommitWhatDetectsRepetitionsWhenAMemberReadsSealedMessages() throws Exception {
        // given
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        Files.writeString(
                directory.resolve("billing.seal"),
                "realm=production\nroot=first-use\nkeyring=root.keys\npassphrase-file=passphrase\nsender=billing\n");
        String keyring = " --keyring root.keys --passphrase-file passphrase";
        done("", "topics create orders --partitions 1");
        done("", "keys init production" + keyring);
        done("", "keys identity billing" + keyring);
        done("", "keys role readers" + keyring);
        done("", "keys grant orders readers" + keyring);
        done("card 4711\ncard 4712\n", "produce orders --policy billing.seal");

        // when
        CommandRun read =
                done("", "consume orders --group readers --from beginning --timeout 1s --policy billing.seal");

        // then
        assertThat(read.out()).isEqualTo("card 4711\ncard 4712\n");
        try (Admin admin = broker.admin()) {
            assertThat(admin.listConsumerGroupOffsets("readers")
                            .partitionsToOffsetAndMetadata()
                            .get()
                            .get(new TopicPartition("orders", 0)))
                    .satisfies(committed -> {
                        assertThat(committed.offset()).isEqualTo(2);
                        assertThat(committed.metadata()).startsWith("jqe1:");
                    });
        }
    }

    @Test
    void shouldRefuseNamesThatTheRegistryCannotHave() throws IOException {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        String keyring = " --keyring root.keys --passphrase-file passphrase";
        done("", "keys init production" + keyring);

        for (String what : List.of("identity", "role", "role --algorithm rsa")) {
            CommandRun refused = run("", "keys " + what + " a/b" + keyring);

            assertThat(refused.exitCode()).isEqualTo(1);
            assertThat(refused.errLines())
                    .singleElement()
                    .asString()
                    .startsWith("journalq: ")
                    .contains("a/b")
                    .doesNotContain("unexpected");
        }
    }

    @Test
    void shouldNotRegisterASenderAgainWhenItIsRevokedOrTheKeyringLacksItsKey() throws IOException {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        createKeyring("other.keys", "secret");
        String keyring = " --keyring root.keys --passphrase-file passphrase";
        String other = " --keyring other.keys --passphrase-file passphrase";
        done("", "keys init production" + keyring);
        done("", "keys identity billing" + keyring);
        done("", "keys copy root --from root.keys" + other);

        CommandRun lacking = run("", "keys identity billing" + other);
        done("", "keys revoke --sender billing" + keyring);
        CommandRun revoked = run("", "keys identity billing" + keyring);

        assertThat(lacking.exitCode()).isEqualTo(1);
        assertThat(lacking.err()).contains("sender billing is registered, and its key is in another keyring");
        assertThat(revoked.exitCode()).isEqualTo(1);
        assertThat(revoked.err()).contains("sender billing was revoked");
        assertThat(done("", "keys show" + other).out())
                .containsPattern("sender billing \\S+ \\* revoked 0")
                .contains("keyring root\n");
    }

    @Test
    void shouldLetASenderSendToItsTopicsOnly() throws IOException {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        createKeyring("shop.keys", "secret");
        String keyring = " --keyring root.keys --passphrase-file passphrase";
        done("", "keys init production" + keyring);

        // when the key is made in a keyring without the root key
        String made = done(
                        "",
                        "keys identity shipping --topics orders,parcels --keyring shop.keys --passphrase-file passphrase")
                .out();
        Matcher line = Pattern.compile("journalq (keys identity \\S.*)").matcher(made);
        assertThat(line.find()).as(made).isTrue();
        done("", line.group(1) + keyring);

        // then the printed line registers it for these topics
        assertThat(done("", "keys show" + keyring).out()).containsPattern("(?m)^sender shipping \\S+ orders,parcels$");

        // and to register it again without topics changes none
        done("", "keys identity shipping --public " + line.group(1).replaceAll(".*--public (\\S+).*", "$1") + keyring);
        assertThat(done("", "keys show" + keyring).out()).containsPattern("(?m)^sender shipping \\S+ orders,parcels$");
    }

    @Test
    void shouldMakeNoKeyOfARoleThatCannotBeRegistered() throws IOException {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        for (String file : new String[] {"root.keys", "other.keys", "consumer.keys"}) {
            createKeyring(file, "secret");
        }
        String keyring = " --keyring root.keys --passphrase-file passphrase";
        String other = " --keyring other.keys --passphrase-file passphrase";
        String consumer = " --keyring consumer.keys --passphrase-file passphrase";
        done("", "keys init production" + keyring);
        done("", "keys role readers" + keyring);
        done("", "keys copy root --from root.keys" + other);

        // when
        CommandRun registered = run("", "keys role readers" + other);
        CommandRun rotated = run("", "keys rotate readers" + consumer);

        // then the right keys can still be copied
        assertThat(registered.exitCode()).isEqualTo(1);
        assertThat(registered.err()).contains("role readers is registered, and its key is in another keyring");
        assertThat(rotated.exitCode()).isEqualTo(1);
        assertThat(rotated.err()).contains("the keyring has no root key");
        done("", "keys rotate readers" + keyring);
        done("", "keys copy role/readers/1 --from root.keys" + other);
        done("", "keys copy role/readers/2 --from root.keys" + consumer);
    }

    @Test
    void shouldLeaveOutTheRecordsOfASubjectWhenItIsShredded() throws IOException {
        // given
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        Files.writeString(
                directory.resolve("billing.seal"),
                """
                realm=production
                root=first-use
                keyring=root.keys
                passphrase-file=passphrase
                sender=billing
                subjects=subjects-directory
                """);
        String keyring = " --keyring root.keys --passphrase-file passphrase";
        String subjects = " --subjects subjects-directory --passphrase-file passphrase";
        done("", "topics create patients --partitions 1 --config cleanup.policy=compact");
        done("", "keys init production" + keyring);
        done("", "keys identity billing" + keyring);
        done("", "keys role readers" + keyring);
        done("", "keys grant patients readers --mode subject" + keyring);
        done("", "keys subjects" + subjects);
        done("4711:flu\n4712:cold\n", "produce patients --key-separator : --policy billing.seal");

        // when
        CommandRun preview = done("", "keys shred patients 4711" + subjects);
        CommandRun unchanged = done("", "consume patients --from beginning --until end --policy billing.seal");
        CommandRun shred = done("", "keys shred patients 4711 --execute" + subjects);
        CommandRun again = done("", "keys shred patients 4711 --execute --output json" + subjects);

        // then
        assertThat(preview.out()).isEqualTo("the subject has a key in topic patients\n");
        assertThat(preview.err()).contains("Nothing was changed. To destroy the key, add --execute.");
        assertThat(unchanged.out()).isEqualTo("flu\ncold\n");
        assertThat(shred.out()).isEqualTo("key of the subject destroyed\n");
        assertThat(shred.err()).isEmpty();
        assertThat(again.out()).contains("\"before\" : \"destroyed\"", "\"executed\" : true");
        assertThat(done("", "keys shred patients 4713 --output json" + subjects).out())
                .contains("\"before\" : \"none\"", "\"executed\" : false");
        CommandRun read = done("", "consume patients --from beginning --until end --policy billing.seal");
        assertThat(read.out()).contains("cold").doesNotContain("flu");
        assertThat(read.err()).contains("patients-0 at offset 0 is left out: the key of its subject was destroyed");
        CommandRun refused = run("4711:flu\n", "produce patients --key-separator : --policy billing.seal");
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("a subject whose key was destroyed");
        assertThat(run("", "keys subjects" + subjects).err()).contains("exists");
    }

    @Test
    void shouldSayWhyAKeyOfAServiceCannotBeUsed() throws IOException {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        String role = "keys role auditors --keyring root.keys --passphrase-file passphrase";

        CommandRun two = run("", role + " --aws-region eu-central-1 --vault https://vault.example");
        CommandRun region = run("", role + " --aws-region Frankfurt");
        CommandRun file = run("", role + " --aws-region eu-central-1 --aws-credentials-file missing");

        assertThat(two.exitCode()).isEqualTo(2);
        assertThat(two.err()).contains("--public, --vault, --aws-region and --algorithm are mutually exclusive");
        assertThat(region.exitCode()).isEqualTo(1);
        assertThat(region.err()).contains("a region of AWS has a name such as eu-central-1: Frankfurt");
        assertThat(file.exitCode()).isEqualTo(1);
        assertThat(file.err()).contains("cannot read the credentials in missing");
    }

    /** Long: to derive the key of a new keyring from a passphrase takes 5 s of processor time without C2, each time. */
    @Test
    @Tag("long")
    void shouldCreateTheKeyringWhenItDoesNotExist() throws IOException {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        String keyring = " --keyring new.keys --passphrase-file passphrase";

        done("", "keys init production" + keyring);

        assertThat(KeyVault.open(directory.resolve("new.keys"), "secret".toCharArray())
                        .root())
                .isNotNull();
    }

    @Test
    void shouldGoOnWithTheRootKeyWhenTheRegistryCouldNotBePublished() throws IOException {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        KeyVault.open(directory.resolve("root.keys"), "secret".toCharArray()).makeRoot();
        String keyring = " --keyring root.keys --passphrase-file passphrase";

        done("", "keys init production" + keyring);

        assertThat(done("", "keys show" + keyring).out()).contains("version 1", "realm production");
    }

    @Test
    void shouldFailWithAReasonWhenARequestMakesNoSense() throws IOException {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        String keyring = " --keyring root.keys --passphrase-file passphrase";

        done("", "keys init production" + keyring);
        assertThat(run("", "keys init production" + keyring).err()).contains("has a root key");
        assertThat(run("", "keys grant orders nobody" + keyring).err()).contains("there is no role nobody");
        done("", "keys role readers" + keyring);
        done("", "keys grant prices readers --mode record" + keyring);
        done("", "keys grant prices readers" + keyring);
        assertThat(run("", "keys grant prices readers --mode batch" + keyring).err())
                .contains("the mode of topic prices is record");
        assertThat(run("", "keys grant prices readers --mode token" + keyring).err())
                .contains("the mode of topic prices is record");
        assertThat(run("", "keys rotate nobody" + keyring).err()).contains("there is no role nobody");
        assertThat(run("", "keys revoke --sender nobody" + keyring).err()).contains("there is no sender nobody");
        assertThat(run("", "keys revoke --sender a --role b" + keyring).exitCode())
                .isEqualTo(2);
        assertThat(run("", "keys show --keyring new.keys --passphrase-file passphrase")
                        .err())
                .contains("new.keys does not exist");
        assertThat(run("a\n", "produce orders --policy absent.seal").err())
                .contains("cannot use the policy " + directory.resolve("absent.seal") + ": ")
                .contains("absent.seal does not exist");
        Files.write(directory.resolve("passphrase"), new byte[] {(byte) 0xff, '\n'});
        assertThat(run("", "keys show" + keyring).err())
                .contains("the passphrase in " + directory.resolve("passphrase") + " is not text in UTF-8");
        Files.writeString(directory.resolve("passphrase"), "wrong\n");
        assertThat(run("", "keys show" + keyring).err())
                .contains("the passphrase of")
                .contains("is wrong");
    }

    @Test
    void shouldRegisterStrongRsaKeysOnly() throws Exception {
        Files.writeString(directory.resolve("passphrase"), "secret\n");
        createKeyring("root.keys", "secret");
        String keyring = " --keyring root.keys --passphrase-file passphrase";
        done("", "keys init production" + keyring);

        assertThat(run("", "keys role weak --public " + publicKey("weak.p12") + keyring)
                        .err())
                .contains("an RSA key must have 3072 to 8192 bits; this one has 2048");
        assertThat(done("", "keys role auditors --public " + publicKey("keytool.p12") + keyring)
                        .out())
                .contains("role auditors registered");
        assertThat(run("", "keys role a --public AAAA --algorithm rsa" + keyring)
                        .exitCode())
                .isEqualTo(2);
        assertThat(run("", "keys role a --vault http://192.0.2.1 --vault-token-file passphrase" + keyring)
                        .err())
                .contains("the token would be sent to 192.0.2.1 without encryption; use https");
        Files.writeString(directory.resolve("passphrase"), "short\n");
        assertThat(run("", "keys role a --keyring " + directory.resolve("new.p12") + " --passphrase-file passphrase")
                        .err())
                .contains("the passphrase of a PKCS#12 keyring must have 20 characters");
    }

    private static String publicKey(String keyStore) throws Exception {
        KeyStore store = KeyStore.getInstance(
                Path.of("..", "journalq-seal", "src", "test", "resources", keyStore)
                        .toFile(),
                "correct horse battery staple".toCharArray());
        return Base64.getEncoder()
                .encodeToString(
                        store.getCertificate("role/readers/1").getPublicKey().getEncoded());
    }
}
