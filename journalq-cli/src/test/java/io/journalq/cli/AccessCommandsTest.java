package io.journalq.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands of {@code journalq access}, against a broker that enforces rights. */
class AccessCommandsTest {
    private static final int WAIT_SECONDS = 60;

    @TempDir
    private static Path shared;

    private static CommandBroker broker;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() {
        broker = new CommandBroker(
                shared.resolve("data"),
                Map.of("authorization.enabled", "true", "super.users", "User:ANONYMOUS;User:root"));
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @BeforeEach
    void removeAll() throws Exception {
        try (Admin admin = broker.admin()) {
            admin.deleteAcls(List.of(AclBindingFilter.ANY)).all().get(WAIT_SECONDS, TimeUnit.SECONDS);
        }
    }

    private static CommandRun run(String words) {
        return broker.run(words.split(" ", -1));
    }

    private static List<String> done(String words) {
        return broker.done(words.split(" ", -1)).outLines();
    }

    @Test
    void shouldListWhatWasGrantedAndOnlyWhatAppliesToTheResource() {
        // when
        assertThat(done("access grant --principal billing --operation read,alter-configs --topic orders"))
                .containsExactly(
                        "added: ALLOW READ on TOPIC 'orders' to User:billing",
                        "added: ALLOW ALTER_CONFIGS on TOPIC 'orders' to User:billing");
        done("access grant --principal eve --operation All --topic ord --prefix --deny --host 10.0.0.7");
        done("access grant --principal User:* --operation idempotent_write --cluster");

        // then
        assertThat(done("access list --topic orders"))
                .containsExactly(
                        "RULE   OPERATION      RESOURCE  NAME          PRINCIPAL     HOST",
                        "ALLOW  READ           TOPIC     orders        User:billing  *",
                        "ALLOW  ALTER_CONFIGS  TOPIC     orders        User:billing  *",
                        "DENY   ALL            TOPIC     ord (prefix)  User:eve      10.0.0.7");
        assertThat(done("access list --topic audit")).hasSize(1);
        assertThat(done("access list")).hasSize(5);
        assertThat(done("access list --operation read --principal User:billing"))
                .hasSize(2);
        assertThat(String.join("", done("access list --principal eve --output json")))
                .contains("\"patternType\" : \"PREFIXED\"", "\"host\" : \"10.0.0.7\"", "\"permission\" : \"DENY\"");
    }

    @Test
    void shouldRevokeOnlyWhatIsNamed() {
        done("access grant --principal billing --operation read,write --topic orders");
        done("access grant --principal billing --operation read --topic ord --prefix");
        done("access grant --principal billing --operation read --topic orders --deny");

        assertThat(done("access revoke --principal billing --operation read --topic orders"))
                .containsExactly("removed: ALLOW READ on TOPIC 'orders' to User:billing");
        assertThat(done("access list --principal billing")).hasSize(4);
        assertThat(done("access revoke --principal billing --topic orders"))
                .containsExactly("removed: ALLOW WRITE on TOPIC 'orders' to User:billing");

        CommandRun again = run("access revoke --principal billing --topic orders");
        assertThat(again.exitCode()).isOne();
        assertThat(again.errLines())
                .containsExactly("journalq: there is no such ACL; to list those that apply, run journalq access list"
                        + " --topic orders");
    }

    @Test
    void shouldExplainWhyAUserIsDeniedAndWhatIsMissing() {
        done("access grant --principal billing --operation write --topic ord");
        done("access grant --principal billing --operation read --topic orders");
        done("access grant --principal eve --operation write --topic orders");
        done("access grant --principal billing --operation write --topic orders --host 10.0.0.7");

        List<String> denied = done("access explain --principal billing --operation write --topic orders");
        assertThat(denied)
                .containsExactly(
                        "DENIED: User:billing WRITE on TOPIC 'orders'",
                        "decided by: ACLs apply to the resource, and none of them allows this",
                        "near miss:  ALLOW WRITE on TOPIC 'ord' to User:billing: it is for the name 'ord' exactly, not"
                                + " for names that begin with it",
                        "near miss:  ALLOW READ on TOPIC 'orders' to User:billing: it allows READ, not WRITE",
                        "near miss:  ALLOW WRITE on TOPIC 'orders' to User:billing from 10.0.0.7: it is for clients at"
                                + " 10.0.0.7",
                        "near miss:  ALLOW WRITE on TOPIC 'orders' to User:eve: it is for User:eve",
                        "to allow:   journalq access grant --principal User:billing --operation write --topic orders");

        // when the command that it names is run
        done(denied.get(6).replace("to allow:   journalq ", ""));

        // then
        assertThat(done("access explain --principal billing --operation describe --topic orders"))
                .containsExactly(
                        "ALLOWED: User:billing DESCRIBE on TOPIC 'orders'",
                        "decided by: ALLOW READ on TOPIC 'orders' to User:billing");
        assertThat(done("access explain --principal root --operation alter --cluster"))
                .contains("decided by: User:root is in super.users");
        done("access revoke --principal billing --topic ord");
    }

    @Test
    void shouldNameEveryRuleThatDeniesWhenSeveralDo() {
        done("access grant --principal User:* --operation all --topic ord --prefix --deny");
        done("access grant --principal billing --operation write --topic orders --deny --host 10.0.0.7");
        done("access grant --principal billing --operation write --topic orders");

        assertThat(done("access explain --principal billing --operation write --topic orders --host 10.0.0.7"))
                .startsWith("DENIED: User:billing WRITE on TOPIC 'orders' from 10.0.0.7")
                .endsWith(
                        "to allow:   journalq access revoke --deny --principal User:billing --operation write --topic"
                                + " orders --host 10.0.0.7",
                        "to allow:   journalq access revoke --deny --principal 'User:*' --operation all --topic ord"
                                + " --prefix");
        assertThat(String.join(
                        "", done("access explain --principal billing --operation write --topic orders --output json")))
                .contains("\"allowed\" : false", "\"verdict\" : \"DENIED\"", "(prefix) to User:*");
    }

    @Test
    void shouldSayWhatIsWrongWithTheOptions() {
        for (String[] wrong : new String[][] {
            {"access grant --principal billing --operation read", "a resource is missing"},
            {"access grant --operation read --topic orders", "--principal is missing"},
            {"access grant --principal billing --topic orders", "--operation is missing"},
            {"access grant --principal b --operation fly --topic t", "topics have all, read, write, create, delete"},
            {"access grant --principal b --operation create --group g", "groups have all, read, delete, describe"},
            {"access grant --principal b --operation all --cluster --prefix", "--cluster and --prefix are mutually"},
            {"access explain --principal b --operation read,write --topic t", "--operation must be one operation"},
            {"access explain --event 3", "--event and --audit-log belong together"}
        }) {
            CommandRun run = run(wrong[0]);
            assertThat(run.exitCode()).as(wrong[0]).isEqualTo(2);
            assertThat(run.errLines()).as(wrong[0]).singleElement().asString().contains(wrong[1]);
        }
        CommandRun refused = run("access grant --principal User: --operation read --topic orders");
        assertThat(refused.exitCode()).isOne();
        assertThat(refused.err()).contains("Could not parse principal");
    }

    @Test
    void shouldSayWhatToSetWhenTheBrokerDoesNotEnforceRights() {
        try (CommandBroker open = new CommandBroker(directory.resolve("open"))) {
            CommandRun run = open.run("access", "list");

            assertThat(run.exitCode()).isOne();
            assertThat(run.errLines()).singleElement().asString().contains("set authorization.enabled=true");
        }
    }

    /** A chain as the documents describe it, in lines of a logger, for a number of denials. */
    private static List<String> chain(int events) throws Exception {
        List<String> lines = new ArrayList<>();
        String previous = "";
        for (int seq = 1; seq <= events; seq++) {
            String hashed = "{\"audit\":1,\"seq\":" + seq + ",\"previous\":\"" + previous + "\",\"time\":\"2026-11-24T"
                    + "20:00:00Z\",\"event\":\"9a3f51c07be2d68" + seq
                    + "\",\"result\":\"DENIED\",\"principal\":\"User:billing\",\"host\":\"10.0.0.7\",\"api\":"
                    + "\"Produce\",\"operation\":\"WRITE\",\"resourceType\":\"TOPIC\",\"resourceName\":\"orders\","
                    + "\"rule\":\"NO_ACL\"";
            previous = HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(hashed.getBytes(UTF_8)));
            lines.add("20:00:00.000 INFO  [audit] journalq.audit - " + hashed + ",\"hash\":\"" + previous + "\"}");
        }
        return lines;
    }

    private CommandRun verify(List<String> lines, String... options) throws Exception {
        Path file = Files.write(directory.resolve("audit.log"), lines);
        return CommandRun.journalq(
                Stream.concat(Stream.of("access", "verify-audit", file.toString()), Stream.of(options))
                        .toArray(String[]::new));
    }

    @Test
    void shouldNoticeEachChangeOfAnAuditLog() throws Exception {
        List<String> genuine = chain(5);
        String newest = genuine.get(4).replaceAll(".*\"hash\":\"(\\w+)\"}", "$1");
        List<String> restarted = new ArrayList<>(genuine);
        restarted.add("20:01:00.000 INFO  [main] i.j.s.b.Broker - started");
        restarted.addAll(chain(2));

        assertThat(verify(genuine).out()).contains("intact: 5 events; the newest has seq 5 and the hash " + newest);
        assertThat(verify(restarted, "--known-hash", newest).out()).contains("intact: 7 events");
        for (int i = 0; i < 5; i++) {
            List<String> changed = new ArrayList<>(genuine);
            changed.set(i, changed.get(i).replace("orders", "order"));
            assertRefused(verify(changed), "audit.log:" + (i + 1) + ": it has been changed");
        }
        for (int i = 1; i < 4; i++) {
            List<String> removed = new ArrayList<>(genuine);
            removed.remove(i);
            assertRefused(verify(removed), "audit.log:" + (i + 1) + ": lines before it are missing");
        }
        List<String> moved = new ArrayList<>(genuine);
        moved.add(1, moved.remove(3));
        assertRefused(verify(moved), "audit.log:2: lines before it are missing");
        assertRefused(verify(genuine.subList(0, 4), "--known-hash", newest), "no line has the hash");
        assertThat(verify(List.of("nothing")).err()).contains("no line of the audit log is in");
    }

    private static void assertRefused(CommandRun run, String reason) {
        assertThat(run.exitCode()).isOne();
        assertThat(run.err()).contains(reason).contains("the audit log is not intact: ");
    }

    @Test
    void shouldExplainAnEventOfTheAuditLog() throws Exception {
        Path file = Files.write(directory.resolve("audit.log"), chain(3));
        done("access grant --principal billing --operation write --topic orders --host 10.0.0.7");

        assertThat(broker.done("access", "explain", "--event", "9a3f51c07be2d682", "--audit-log", file.toString())
                        .outLines())
                .containsExactly(
                        "event 9a3f51c07be2d682 at 2026-11-24T20:00:00Z: DENIED by NO_ACL (Produce)",
                        "ALLOWED: User:billing WRITE on TOPIC 'orders' from 10.0.0.7",
                        "decided by: ALLOW WRITE on TOPIC 'orders' to User:billing from 10.0.0.7");
        assertThat(broker.run("access", "explain", "--event", "2", "--audit-log", file.toString())
                        .err())
                .contains("no event in " + file + " has the id 2; look at the log of each broker");
    }

    @Test
    void shouldExplainARefusedLogin() throws Exception {
        String line = "{\"audit\":1,\"seq\":1,\"previous\":\"\",\"time\":\"2026-11-24T20:00:00Z\",\"event\":\"8c00\","
                + "\"result\":\"DENIED\",\"principal\":\"User:ada\",\"host\":\"10.0.0.7\",\"api\":"
                + "\"SaslAuthenticate\",\"correlationId\":3,\"mechanism\":\"SCRAM-SHA-256\","
                + "\"reason\":\"the password is wrong\",\"hash\":\"00\"}";
        Path file = Files.write(directory.resolve("audit.log"), List.of("20:00 INFO - " + line));

        assertThat(CommandRun.journalq("access", "explain", "--event", "8c00", "--audit-log", file.toString())
                        .outLines())
                .containsExactly(
                        "event 8c00 at 2026-11-24T20:00:00Z: login refused (SaslAuthenticate, SCRAM-SHA-256)",
                        "the client at 10.0.0.7 claimed to be User:ada: the password is wrong");
    }

    @Test
    void shouldShowNoControlCharactersThatAClientHasSent() throws Exception {
        String line = "{\"audit\":1,\"seq\":1,\"previous\":\"\",\"time\":\"2026-11-24T20:00:00Z\",\"event\":\"8c01\","
                + "\"result\":\"DENIED\",\"principal\":\"User:a\\u001b[2Jb\\n\",\"host\":\"10.0.0.7\",\"api\":"
                + "\"SaslAuthenticate\",\"correlationId\":3,\"mechanism\":\"PLAIN\","
                + "\"reason\":\"there is no such user\",\"hash\":\"00\"}";
        Path file = Files.write(directory.resolve("audit.log"), List.of(line));

        assertThat(CommandRun.journalq("access", "explain", "--event", "8c01", "--audit-log", file.toString())
                        .outLines())
                .endsWith("the client at 10.0.0.7 claimed to be User:a.[2Jb.: there is no such user");
    }

    @Test
    void shouldShowNoControlCharactersInAclsThatOthersHaveAdded() throws Exception {
        String principal = "User:a\u001b[2Jb";
        String shown = "ALLOW READ on TOPIC 'orders' to User:a.[2Jb";
        String exported = "{\"acls\":[{\"permission\":\"ALLOW\",\"operation\":\"READ\",\"resourceType\":"
                + "\"DELEGATION_TOKEN\",\"patternType\":\"LITERAL\",\"resourceName\":\"t\",\"principal\":"
                + "\"User:a\\u001b[2Jb\",\"host\":\"*\"}]}";
        Path file = Files.writeString(directory.resolve("access.json"), exported);

        String[] words = {"access", "grant", "--principal", principal, "--operation", "read", "--topic", "orders"};
        assertThat(broker.done(words).outLines()).containsExactly("added: " + shown);
        words[1] = "revoke";
        assertThat(broker.done(words).outLines()).containsExactly("removed: " + shown);
        assertThat(broker.done("access", "import", file.toString()).err())
                .contains("User:a.[2Jb")
                .doesNotContain("\u001b");
    }
}
