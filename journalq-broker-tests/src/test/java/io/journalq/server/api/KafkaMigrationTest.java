package io.journalq.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.admin.AclFilter;
import io.journalq.client.admin.UserDescription;
import io.journalq.client.security.SaslConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialAlteration;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.tools.DumpLogSegments;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What can be taken over from a Kafka cluster: ACLs and the names of users over the network, keys from its metadata. */
@Tag("long")
@Timeout(300)
class KafkaMigrationTest {
    /** What journalq-server users import is tested with. With -Djournalq.rewrite=true, it is written again. */
    private static final Path DUMP = Path.of("..", "journalq-cli", "src", "test", "resources", "kafka-4.3-users.dump");

    @Test
    void shouldReadWhatKafkaTellsWhenItsRightsAreTakenOver(@TempDir Path directory) throws Exception {
        try (KafkaBroker kafka = new KafkaBroker(directory)) {
            // given
            try (Admin admin = Admin.create(kafka.clientSettings("root"))) {
                admin.createAcls(List.of(
                                acl(ResourceType.TOPIC, PatternType.PREFIXED, "orders", AclOperation.READ),
                                acl(ResourceType.USER, PatternType.LITERAL, "ada", AclOperation.CREATE_TOKENS),
                                acl(ResourceType.CLUSTER, PatternType.LITERAL, "kafka-cluster", AclOperation.ALTER)))
                        .all()
                        .get(20, TimeUnit.SECONDS);
                for (String user : List.of("root", "billing", "audit", "gone")) {
                    alter(admin, upsertion(user, ScramMechanism.SCRAM_SHA_256, 4_096));
                    alter(admin, upsertion(user, ScramMechanism.SCRAM_SHA_512, 8_192));
                }
                alter(admin, new UserScramCredentialDeletion("gone", ScramMechanism.SCRAM_SHA_256));
                alter(admin, new UserScramCredentialDeletion("gone", ScramMechanism.SCRAM_SHA_512));
                alter(admin, new UserScramCredentialDeletion("audit", ScramMechanism.SCRAM_SHA_256));
            }

            // when
            Set<String> acls = new HashSet<>();
            List<UserDescription> users;
            try (io.journalq.client.Admin admin = io.journalq.client.Admin.builder()
                    .bootstrapServers(kafka.bootstrap())
                    .sasl(SaslConfig.scramSha256("root", "password of root".toCharArray()))
                    .build()) {
                admin.describeAcls(AclFilter.EVERY_ACL).forEach(acl -> acls.add(acl.toString()));
                users = admin.describeUsers();
            }

            // then
            assertThat(acls)
                    .containsExactlyInAnyOrder(
                            "ALLOW READ on TOPIC 'orders' (prefix) to User:ada",
                            "ALLOW CREATE_TOKENS on USER 'ada' to User:ada",
                            "ALLOW ALTER on CLUSTER 'kafka-cluster' to User:ada");
            assertThat(users)
                    .containsExactlyInAnyOrder(
                            new UserDescription("root", Map.of("SCRAM-SHA-256", 4_096, "SCRAM-SHA-512", 8_192)),
                            new UserDescription("billing", Map.of("SCRAM-SHA-256", 4_096, "SCRAM-SHA-512", 8_192)),
                            new UserDescription("audit", Map.of("SCRAM-SHA-512", 8_192)));
            String dump = dump(kafka.metadataLog());
            assertThat(dump).contains("payload: {\"type\":\"REMOVE_USER_SCRAM_CREDENTIAL_RECORD\"");
            if (Boolean.getBoolean("journalq.rewrite")) {
                Files.writeString(DUMP, dump);
            }
        }
    }

    private static void alter(Admin admin, UserScramCredentialAlteration alteration) throws Exception {
        admin.alterUserScramCredentials(List.of(alteration)).all().get(20, TimeUnit.SECONDS);
    }

    private static UserScramCredentialUpsertion upsertion(String user, ScramMechanism mechanism, int iterations) {
        return new UserScramCredentialUpsertion(
                user, new ScramCredentialInfo(mechanism, iterations), "password of " + user);
    }

    private static AclBinding acl(ResourceType type, PatternType pattern, String name, AclOperation operation) {
        return new AclBinding(
                new ResourcePattern(type, name, pattern),
                new AccessControlEntry("User:ada", "*", operation, AclPermissionType.ALLOW));
    }

    private static String dump(Path log) throws IOException {
        PrintStream usual = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            DumpLogSegments.main(new String[] {"--cluster-metadata-decoder", "--files", log.toString()});
        } finally {
            System.setOut(usual);
        }
        return printed.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.contains("SCRAM"))
                .reduce("", (text, line) -> text + line + "\n");
    }
}
