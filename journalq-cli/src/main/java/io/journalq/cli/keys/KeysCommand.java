package io.journalq.cli.keys;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.Json;
import io.journalq.client.Admin;
import io.journalq.client.KeyTopics;
import io.journalq.client.admin.NewTopic;
import io.journalq.common.file.FileProblem;
import io.journalq.seal.KeyVault;
import io.journalq.seal.Registry;
import io.journalq.seal.RoleKey;
import io.journalq.seal.RsaRoleKey;
import io.journalq.seal.SealAdmin;
import io.journalq.seal.SealMode;
import io.journalq.seal.SealPolicy;
import io.journalq.seal.TokenKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code journalq keys}. */
@Command(
        name = "keys",
        description =
                "Manages the keys and the registry of end-to-end encryption: who may send to sealed topics, and who"
                        + " may read them.",
        subcommands = {
            KeysCommand.Init.class,
            KeysCommand.Identity.class,
            KeysCommand.Role.class,
            KeysCommand.Grant.class,
            KeysCommand.Copy.class,
            KeysCommand.Rotate.class,
            KeysCommand.Revoke.class,
            SubjectsCommand.class,
            ShredCommand.class,
            KeysCommand.Show.class
        })
public final class KeysCommand extends CommandGroup {
    /** A command that changes the registry with the root key. */
    abstract static class RegistryCommand extends ClientCommand {
        @Mixin
        private KeyringOptions keyring;

        KeyringOptions keyring() {
            return keyring;
        }

        static void requireRoot(KeyVault vault) {
            if (vault.root() == null) {
                throw new CommandFailure("the keyring has no root key, and only its owner can change the registry");
            }
        }

        /** Changes the registry, and reports the new version. */
        void change(KeyVault vault, String done, UnaryOperator<Registry> change) {
            requireRoot(vault);
            try {
                report(done, keyring.admin(program(), vault).change(change));
            } catch (IllegalArgumentException refused) {
                throw new CommandFailure(refused.getMessage());
            }
        }

        void report(String done, Registry registry) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("registryVersion", registry.version());
            report(done + "; the registry has version " + registry.version(), json);
        }

        /** Reports a key that was made in a keyring without the root key. */
        void reportKey(String what, String command, byte[] publicKey) {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("publicKey", KeyringOptions.text(publicKey));
            report(
                    what + " made; its public key is " + KeyringOptions.text(publicKey)
                            + "; the owner of the root key registers it with: journalq keys " + command + " --public "
                            + KeyringOptions.text(publicKey),
                    json);
        }
    }

    /** {@code journalq keys init}. */
    @Command(
            name = "init",
            description = "Makes a root key, the topics jqe1.keys and jqe1.registry, and an empty registry. Prints the"
                    + " fingerprint that policies pin.",
            footerHeading = "%nExamples:%n",
            footer = "  journalq keys init production --keyring my.keys --passphrase-file pw")
    static final class Init extends RegistryCommand {
        @Parameters(paramLabel = "REALM", description = "Name of the realm; all policies must have the same.")
        private String realm;

        @Option(
                names = "--replicas",
                paramLabel = "NUMBER",
                description = "Replicas of the topics (default: the default of the broker).")
        private int replicas = NewTopic.BROKER_DEFAULT;

        @Override
        protected void execute() throws IOException {
            KeyVault vault = keyring().openOrCreate();
            try (Admin admin = openAdmin()) {
                SealAdmin.createTopics(admin, replicas);
            }
            try {
                SealAdmin.found(
                        realm,
                        vault,
                        KeyTopics.of(program().configure(Admin.builder())),
                        keyring().trust(vault));
            } catch (IllegalArgumentException | IllegalStateException refused) {
                throw new CommandFailure(refused.getMessage());
            }
            String fingerprint = Registry.fingerprint(vault.root().publicKey());
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("realm", realm);
            json.put("root", fingerprint);
            report("registry of realm " + realm + " created; its root key has the fingerprint " + fingerprint, json);
        }
    }

    /** {@code journalq keys identity}. */
    @Command(
            name = "identity",
            description = "Makes the key of a sender and registers it. If the keyring has no root key, only prints the"
                    + " public key, which the owner of the root key registers with --public.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  journalq keys identity billing --keyring my.keys --passphrase-file pw",
                "  journalq keys identity shipping --keyring shop.keys --passphrase-file pw"
            })
    static final class Identity extends RegistryCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the sender, as in its policy.")
        private String name;

        @Option(
                names = "--topics",
                paramLabel = "TOPICS",
                split = ",",
                description = "Topics to which it may send, separated by commas (default: *, all; for a sender that is"
                        + " registered, those that it has).")
        private List<String> topics;

        @Option(names = "--public", paramLabel = "KEY", description = "Registers a key from another keyring.")
        private String publicKey;

        @Override
        protected void execute() throws IOException {
            KeyVault vault =
                    publicKey == null ? keyring().openOrCreate() : keyring().open();
            byte[] key;
            if (publicKey != null) {
                key = KeyringOptions.publicKey(publicKey);
            } else {
                key = vault.sender(name) == null
                        ? makeSender(vault)
                        : vault.sender(name).publicKey();
            }
            if (publicKey == null && vault.root() == null) {
                String options = topics == null ? "" : " --topics " + String.join(",", topics);
                reportKey("key of sender " + name, "identity " + name + options, key);
                return;
            }
            change(
                    vault,
                    "sender " + name + " registered",
                    registry -> registry.withSender(name, key, topics(registry.sender(name))));
        }

        /** To register a sender again must not let it send to more topics. */
        private List<String> topics(Registry.Sender known) {
            if (topics != null) {
                return topics;
            }
            return known == null ? List.of("*") : known.topics();
        }

        /** Makes no key that cannot be registered: it would hide that the keyring lacks the right one. */
        private byte[] makeSender(KeyVault vault) throws IOException {
            if (vault.root() != null
                    && keyring().admin(program(), vault).registry().sender(name) != null) {
                throw new CommandFailure("sender " + name + " is registered, and its key is in another keyring; copy it"
                        + " with journalq keys copy, or register a sender with another name");
            }
            try {
                return vault.makeSender(name).publicKey();
            } catch (IllegalArgumentException refused) {
                throw new CommandFailure(refused.getMessage());
            }
        }
    }

    /** The kind of key that a role gets. For one run. */
    static final class RoleKeyOptions {
        @Option(
                names = "--algorithm",
                paramLabel = "x25519|rsa",
                description = "Kind of key: x25519, or rsa (RSA-OAEP with SHA-256 and 3072 bits) for consumers whose"
                        + " keys must be RSA keys (default: x25519).")
        private Algorithm algorithm;

        @Option(
                names = "--public",
                paramLabel = "KEY",
                description = "Registers a key from another keyring: 32 bytes of X25519, or an RSA key of at least"
                        + " 3072 bits as SubjectPublicKeyInfo, in base64.")
        private String publicKey;

        @Mixin
        private TransitOptions transit;

        @Mixin
        private AwsKmsOptions aws;

        /** The kinds of keys. */
        enum Algorithm {
            X25519,
            RSA
        }

        /** Whether the private key is not in the keyring. */
        boolean isGiven() {
            return publicKey != null || transit.isGiven() || aws.isGiven();
        }

        /** The key that was given, or that of the keyring, which is made if it is not there. */
        byte[] publicKey(ClientCommand command, KeyVault vault, String role, int generation) throws IOException {
            if (isGiven()) {
                int given = (publicKey == null ? 0 : 1) + (transit.isGiven() ? 1 : 0) + (aws.isGiven() ? 1 : 0);
                if (algorithm != null || given > 1) {
                    throw command.wrongUsage("--public, --vault, --aws-region and --algorithm are mutually exclusive");
                }
                if (publicKey != null) {
                    return KeyringOptions.publicKey(publicKey);
                }
                return transit.isGiven() ? transit.publicKey(role, generation) : aws.publicKey(role, generation);
            }
            RoleKey known = vault.role(role, generation);
            if (known != null) {
                return known.publicKey();
            }
            try {
                if (algorithm != Algorithm.RSA) {
                    return vault.makeRole(role, generation).publicKey();
                }
                RsaRoleKey made = RsaRoleKey.generate();
                vault.addRole(role, generation, made);
                return made.publicKey();
            } catch (IllegalArgumentException refused) {
                throw new CommandFailure(refused.getMessage());
            }
        }
    }

    /** {@code journalq keys role}. */
    @Command(
            name = "role",
            description = "Makes the key of a role, which its consumers share, and registers it. If the keyring has no"
                    + " root key, only prints the public key.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  journalq keys role readers --keyring my.keys --passphrase-file pw",
                "  journalq keys role auditors --keyring audit.keys --passphrase-file pw",
                "  journalq keys role vault --algorithm rsa --keyring v.p12 --passphrase-file pw"
            })
    static final class Role extends RegistryCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the role.")
        private String name;

        @Mixin
        private RoleKeyOptions key;

        @Override
        protected void execute() throws IOException {
            KeyVault vault = key.isGiven() ? keyring().open() : keyring().openOrCreate();
            // Makes no key that cannot be registered: it would hide that the keyring lacks the right one.
            if (!key.isGiven()
                    && vault.root() != null
                    && vault.role(name, 1) == null
                    && keyring().admin(program(), vault).registry().role(name) != null) {
                throw new CommandFailure("role " + name + " is registered, and its key is in another keyring; copy it"
                        + " with journalq keys copy, or register a role with another name");
            }
            byte[] publicKey = key.publicKey(this, vault, name, 1);
            if (!key.isGiven() && vault.root() == null) {
                reportKey("key of role " + name, "role " + name, publicKey);
                return;
            }
            change(vault, "role " + name + " registered", registry -> registry.withRole(name, 1, publicKey));
        }
    }

    /** {@code journalq keys grant}. */
    @Command(
            name = "grant",
            description = "Makes a topic sealed and lets roles read it, in addition to those that already may.",
            footerHeading = "%nExamples:%n",
            footer = "  journalq keys grant orders readers --keyring my.keys --passphrase-file pw")
    static final class Grant extends RegistryCommand {
        @Parameters(index = "0", paramLabel = "TOPIC", description = "Name of the topic.")
        private String topic;

        @Parameters(index = "1..*", arity = "1..*", paramLabel = "ROLE", description = "Roles that may read it.")
        private List<String> roles;

        @Option(
                names = "--mode",
                paramLabel = "batch|record|token|subject",
                description =
                        "What is sealed as one piece: batches, or for compacted topics the values of single records"
                                + " (default: batch). With token, the keys of records are sealed, too, and the broker sees"
                                + " tokens, for which the command makes a key that all senders need. With subject, each"
                                + " record needs the key of its subject as well, which journalq keys shred destroys. It"
                                + " cannot be changed later.")
        private SealMode mode;

        @Option(
                names = "--sign-batches",
                negatable = true,
                description =
                        "Lets senders sign each batch from now on, so that consumers refuse batches that a reader has"
                                + " made. Only with --mode batch. --no-sign-batches ends it.")
        private Boolean signBatches;

        @Override
        protected void execute() throws IOException {
            KeyVault vault = keyring().open();
            Registry.Topic before = vault.root() == null
                    ? null
                    : keyring().admin(program(), vault).registry().topic(topic);
            byte[] tokens = before == null && mode == SealMode.TOKEN && vault.root() != null ? tokens(vault) : null;
            change(vault, "topic " + topic + " granted", registry -> {
                Registry.Topic known = registry.topic(topic);
                List<String> all = new ArrayList<>(known == null ? List.of() : known.roles());
                roles.stream().filter(role -> !all.contains(role)).forEach(all::add);
                SealMode standard = known == null ? SealMode.BATCH : known.mode();
                Registry granted = known == null && tokens != null
                        ? registry.withTokenTopic(topic, all, tokens)
                        : registry.withTopic(topic, mode == null ? standard : mode, all);
                return signBatches == null ? granted : granted.withSignatures(topic, signBatches);
            });
        }

        /** The commitment to the key of the tokens of the topic, which is made if it is not there. */
        private byte[] tokens(KeyVault vault) throws IOException {
            TokenKey known = vault.tokenKey(topic);
            if (known == null) {
                known = TokenKey.random();
                vault.addTokenKey(topic, known);
            }
            return known.commitment(topic);
        }
    }

    /** {@code journalq keys copy}. */
    @Command(
            name = "copy",
            description =
                    "Copies a key from another keyring, such as the key of a role to a new consumer, or the key of"
                            + " the tokens of a topic to a new sender.",
            footerHeading = "%nExamples:%n",
            footer = "  journalq keys copy root --from my.keys --keyring b.keys --passphrase-file pw")
    static final class Copy extends RegistryCommand {
        @Parameters(
                paramLabel = "KEY",
                description = "Name of the key, as journalq keys show prints it: root, sender/NAME,"
                        + " role/NAME/GENERATION or token/TOPIC.")
        private String key;

        @Option(names = "--from", paramLabel = "FILE", required = true, description = "Keyring that has the key.")
        private Path from;

        @Option(
                names = "--from-passphrase-file",
                paramLabel = "FILE",
                description = "File with the passphrase of --from (default: that of --passphrase-file).")
        private Path fromPassphrase;

        @Override
        protected void execute() {
            Path itsPassphrase = fromPassphrase == null ? keyring().passphraseFile() : fromPassphrase;
            try {
                KeyVault other = KeyVault.open(from, SealPolicy.passphrase(itsPassphrase));
                keyring().openOrCreate().copy(other, key);
            } catch (IOException refused) {
                throw new CommandFailure(FileProblem.message(refused));
            }
            report("key " + key + " copied to " + keyring().keyring(), new LinkedHashMap<>(Map.of("key", key)));
        }
    }

    /** {@code journalq keys rotate}. */
    @Command(
            name = "rotate",
            description =
                    "Gives a role a new key. Producers use it within 5 minutes. The old key stays in the keyring for"
                            + " old messages. Give the new key only to consumers that may go on reading.",
            footerHeading = "%nExamples:%n",
            footer = "  journalq keys rotate readers --keyring my.keys --passphrase-file pw")
    static final class Rotate extends RegistryCommand {
        @Parameters(paramLabel = "ROLE", description = "Name of the role.")
        private String name;

        @Mixin
        private RoleKeyOptions key;

        @Override
        protected void execute() throws IOException {
            KeyVault vault = keyring().open();
            requireRoot(vault); // before a key is made
            Registry.Role known = keyring().admin(program(), vault).registry().role(name);
            if (known == null) {
                throw new CommandFailure("there is no role " + name);
            }
            int next = known.generation() + 1;
            byte[] publicKey = key.publicKey(this, vault, name, next);
            change(
                    vault,
                    "role " + name + " has generation " + next,
                    registry -> registry.withRole(name, next, publicKey));
        }
    }

    /** {@code journalq keys revoke}. */
    @Command(
            name = "revoke",
            description =
                    "Revokes a sender, or the right of a role to read a topic. What was sent before stays readable.",
            footerHeading = "%nExamples:%n",
            footer = "  journalq keys revoke --sender billing --keyring my.keys --passphrase-file pw")
    static final class Revoke extends RegistryCommand {
        @Option(names = "--sender", paramLabel = "NAME", description = "Sender to revoke.")
        private String sender;

        @Option(names = "--topic", paramLabel = "TOPIC", description = "Topic that --role may no longer read.")
        private String topic;

        @Option(names = "--role", paramLabel = "ROLE", description = "Role that loses the right.")
        private String role;

        @Override
        protected void execute() {
            boolean ofRole = topic != null && role != null && sender == null;
            if (!ofRole && (sender == null || topic != null || role != null)) {
                throw wrongUsage("revoke takes either --sender, or --topic and --role");
            }
            KeyVault vault = keyring().open();
            if (ofRole) {
                change(vault, "right of role " + role + " to read topic " + topic + " revoked", registry -> {
                    Registry.Topic known = registry.topic(topic);
                    if (known == null || !known.roles().contains(role)) {
                        throw new IllegalArgumentException("role " + role + " may not read topic " + topic);
                    }
                    List<String> rest = new ArrayList<>(known.roles());
                    rest.remove(role);
                    return registry.withTopic(topic, known.mode(), rest);
                });
                return;
            }
            try {
                report(
                        "sender " + sender + " revoked",
                        keyring().admin(program(), vault).revokeSender(sender));
            } catch (IllegalArgumentException | IllegalStateException refused) {
                throw new CommandFailure(refused.getMessage());
            }
        }
    }

    /** {@code journalq keys show}. */
    @Command(
            name = "show",
            description = "Shows the registry as its root key has signed it, and the names of the keys in the keyring.",
            footerHeading = "%nExamples:%n",
            footer = "  journalq keys show --keyring my.keys --passphrase-file pw")
    static final class Show extends ClientCommand {
        @Mixin
        private KeyringOptions keyring;

        @Override
        protected void execute() {
            KeyVault vault = keyring.open();
            Registry registry = keyring.admin(program(), vault).registry();
            List<String> names = vault.names().stream().sorted().toList();
            if (wantsJson()) {
                Map<String, Object> json = new LinkedHashMap<>();
                json.put("registry", registry.toString().lines().toList());
                json.put("keyring", names);
                terminal().printLine(Json.document(json));
                return;
            }
            registry.toString().lines().forEach(terminal()::printLine);
            terminal().printLine("keyring " + String.join(" ", names));
        }
    }
}
