package io.journalq.cli.keys;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.cli.shell.CommandFailure;
import io.journalq.cli.shell.CommandGroup;
import io.journalq.cli.shell.Json;
import io.journalq.client.Admin;
import io.journalq.client.KeyTopics;
import io.journalq.client.admin.NewTopic;
import io.journalq.seal.KeyVault;
import io.journalq.seal.Registry;
import io.journalq.seal.SealAdmin;
import io.journalq.seal.SealMode;
import java.io.IOException;
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
            KeysCommand.Rotate.class,
            KeysCommand.Revoke.class,
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

        /** Changes the registry, and reports the new version. */
        void change(KeyVault vault, String done, UnaryOperator<Registry> change) {
            if (vault.root() == null) {
                throw new CommandFailure("the keyring has no root key, and only its owner can change the registry");
            }
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
            if (vault.root() != null) {
                throw new CommandFailure(keyring().keyring() + " has a root key");
            }
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
                description = "Topics to which it may send, separated by commas (default: *, all).")
        private List<String> topics = List.of("*");

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
                        ? vault.makeSender(name).publicKey()
                        : vault.sender(name).publicKey();
            }
            if (publicKey == null && vault.root() == null) {
                reportKey("key of sender " + name, "identity " + name, key);
                return;
            }
            change(vault, "sender " + name + " registered", registry -> registry.withSender(name, key, topics));
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
                "  journalq keys role auditors --keyring audit.keys --passphrase-file pw"
            })
    static final class Role extends RegistryCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the role.")
        private String name;

        @Option(names = "--public", paramLabel = "KEY", description = "Registers a key from another keyring.")
        private String publicKey;

        @Override
        protected void execute() throws IOException {
            KeyVault vault =
                    publicKey == null ? keyring().openOrCreate() : keyring().open();
            if (publicKey == null && vault.root() == null) {
                reportKey(
                        "key of role " + name,
                        "role " + name,
                        vault.makeRole(name, 1).publicKey());
                return;
            }
            byte[] key = publicKey != null
                    ? KeyringOptions.publicKey(publicKey)
                    : vault.role(name, 1) != null
                            ? vault.role(name, 1).publicKey()
                            : vault.makeRole(name, 1).publicKey();
            change(vault, "role " + name + " registered", registry -> registry.withRole(name, 1, key));
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
                paramLabel = "batch|record",
                description =
                        "What is sealed as one piece: batches, or for compacted topics the values of single records"
                                + " (default: batch). It cannot be changed later.")
        private SealMode mode = SealMode.BATCH;

        @Override
        protected void execute() {
            change(keyring().open(), "topic " + topic + " granted", registry -> {
                Registry.Topic known = registry.topic(topic);
                List<String> all = new ArrayList<>(known == null ? List.of() : known.roles());
                roles.stream().filter(role -> !all.contains(role)).forEach(all::add);
                return registry.withTopic(topic, known == null ? mode : known.mode(), all);
            });
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

        @Option(names = "--public", paramLabel = "KEY", description = "Registers a key from another keyring.")
        private String publicKey;

        @Override
        protected void execute() throws IOException {
            KeyVault vault = keyring().open();
            Registry.Role known = keyring().admin(program(), vault).registry().role(name);
            if (known == null) {
                throw new CommandFailure("there is no role " + name);
            }
            int next = known.generation() + 1;
            byte[] key = publicKey != null
                    ? KeyringOptions.publicKey(publicKey)
                    : vault.makeRole(name, next).publicKey();
            change(vault, "role " + name + " has generation " + next, registry -> registry.withRole(name, next, key));
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
