package io.journalq.cli.access;

import io.journalq.cli.shell.ClientCommand;
import io.journalq.client.admin.AclBinding;
import io.journalq.client.admin.AclBinding.Operation;
import io.journalq.client.admin.AclBinding.PatternType;
import io.journalq.client.admin.AclBinding.ResourceType;
import io.journalq.server.metadata.security.AclOperation;
import io.journalq.server.metadata.security.AclResourceType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The resource, user and operations that a command is about. */
final class ResourceOptions {
    private static final String USER = "User:";

    @ArgGroup
    private Resource resource;

    @Option(
            names = "--principal",
            paramLabel = "USER",
            description = "The user: billing or User:billing; User:* for all.")
    private String principal;

    @Option(
            names = "--operation",
            paramLabel = "OPERATION",
            split = ",",
            description = "Operations, separated by commas: read, write, create, delete, alter, describe, "
                    + "describe-configs, alter-configs, cluster-action, idempotent-write, all.")
    private List<String> operations = List.of();

    @Option(names = "--host", paramLabel = "IP", description = "The IP address of the client.")
    private String host;

    /** Exactly one of these. */
    static final class Resource {
        @Option(names = "--topic", paramLabel = "NAME", description = "A topic; '*' for all.")
        private String topic;

        @Option(names = "--group", paramLabel = "ID", description = "A consumer group; '*' for all.")
        private String group;

        @Option(names = "--transactional-id", paramLabel = "ID", description = "A transactional id; '*' for all.")
        private String transactionalId;

        @Option(names = "--cluster", description = "The cluster.")
        private boolean cluster;
    }

    /** The type of the resource; null if none is given. */
    ResourceType type() {
        if (resource == null) {
            return null;
        }
        return resource.topic != null
                ? ResourceType.TOPIC
                : resource.group != null
                        ? ResourceType.GROUP
                        : resource.cluster ? ResourceType.CLUSTER : ResourceType.TRANSACTIONAL_ID;
    }

    /** The name of the resource; null if none is given. */
    String name() {
        if (resource == null) {
            return null;
        }
        return switch (type()) {
            case TOPIC -> resource.topic;
            case GROUP -> resource.group;
            case CLUSTER -> AclBinding.CLUSTER_NAME;
            default -> resource.transactionalId;
        };
    }

    /** In the form {@code User:name}; null if none is given. */
    String principal() {
        return principal == null || principal.startsWith(USER) ? principal : USER + principal;
    }

    /** Null if none is given. */
    String host() {
        return host;
    }

    /** The operations; empty if none is given. */
    List<Operation> operations(ClientCommand command) {
        List<Operation> found = new ArrayList<>();
        for (String text : operations) {
            String wanted = text.strip().replace("-", "").replace("_", "");
            found.add(Stream.of(Operation.values())
                    .filter(operation -> operation.name().replace("_", "").equalsIgnoreCase(wanted))
                    .filter(this::applies)
                    .findFirst()
                    .orElseThrow(() -> command.wrongUsage("--operation " + text + ": "
                            + (type() == null ? "operations are " : wordsOf(type()) + " have ") + allowed())));
        }
        return found;
    }

    private boolean applies(Operation operation) {
        if (operation == Operation.ALL) {
            return true;
        }
        AclOperation known = AclOperation.of(operation.code());
        return known != null
                && (type() == null || AclResourceType.of(type().code()).has(known));
    }

    private String allowed() {
        return String.join(
                ", ",
                Stream.of(Operation.values())
                        .filter(this::applies)
                        .map(ResourceOptions::word)
                        .toList());
    }

    private static String wordsOf(ResourceType type) {
        return type == ResourceType.CLUSTER ? "clusters" : word(type.name()) + "s";
    }

    /** Throws unless a resource and a user are given. */
    void require(ClientCommand command) {
        if (resource == null) {
            throw command.wrongUsage("a resource is missing: --topic, --group, --transactional-id or --cluster");
        }
        if (principal == null) {
            throw command.wrongUsage("--principal is missing");
        }
        if (name().isEmpty()) {
            throw command.wrongUsage("the name of the resource is empty");
        }
    }

    /** The word on the command line: {@code alter-configs}. */
    static String word(Enum<?> value) {
        return word(value.name());
    }

    private static String word(String name) {
        return name.toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The options that name these resources. */
    static String text(ResourceType type, PatternType pattern, String name) {
        if (type == ResourceType.CLUSTER) {
            return "--cluster";
        }
        return "--" + word(type) + " " + quoted(name) + (pattern == PatternType.PREFIXED ? " --prefix" : "");
    }

    /** As a shell reads it. */
    static String quoted(String word) {
        return word.matches("[A-Za-z0-9_.:,/=@-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
