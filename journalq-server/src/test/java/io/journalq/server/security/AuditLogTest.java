package io.journalq.server.security;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.security.AclImage;
import io.journalq.server.security.Authorizer.Asker;
import io.journalq.server.security.Authorizer.Denial;
import java.lang.ref.WeakReference;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AuditLogTest {
    private static final Asker ADA = new Asker(Principal.user("ada"), "10.0.0.1", "Fetch", "billing-1", 4711);

    private static final Uuid ID = new Uuid(1, 0x9a3f51c07be2d684L);

    private final List<String> lines = new ArrayList<>();
    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final Clock clock = Clock.fixed(Instant.parse("2026-11-24T20:00:00Z"), ZoneOffset.UTC);

    @Test
    void shouldWriteDenialsAsLinkedLines() {
        AuditLog log = AuditLog.to(clock, Runnable::run, () -> ID, false, lines::add);
        Authorizer authorizer = new Authorizer(() -> AclImage.NONE, Set.of("User:root"), false, log);

        Denial denial = authorizer.check(AclImage.NONE, ADA, Right.READ_TOPIC, "or\"d\ners\u00e9");
        authorizer.check(AclImage.NONE, ADA, Right.WRITE_TOPIC, "orders");
        authorizer.check(
                AclImage.NONE,
                new Asker(Principal.user("root"), "10.0.0.1", "Fetch", null, 0),
                Right.READ_TOPIC,
                "orders");

        assertThat(lines).hasSize(2);
        assertThat(lines.get(0))
                .startsWith("{\"audit\":1,\"seq\":1,\"previous\":\"\",\"time\":\"2026-11-24T20:00:00Z\",")
                .contains("\"event\":\"9a3f51c07be2d684\"")
                .contains("\"result\":\"DENIED\",\"principal\":\"User:ada\",\"host\":\"10.0.0.1\",\"api\":\"Fetch\"")
                .contains(",\"clientId\":\"billing-1\",\"correlationId\":4711,")
                .contains("\"resourceName\":\"or\\\"d\\u000aers\\u00e9\",\"rule\":\"NO_ACL\"");
        assertThat(denial.message()).isEqualTo("Authorization failed (event 9a3f51c07be2d684)");
        assertThat(authorizer.denials()).isEqualTo(2);
        assertThat(problems(lines)).containsOnlyNulls();
    }

    @Test
    void shouldWriteWhyALoginWasRefused() {
        AuditLog log = AuditLog.to(clock, Runnable::run, () -> ID, false, lines::add);
        Asker stranger = new Asker(Principal.ANONYMOUS, "10.0.0.1", "SaslAuthenticate", null, 3);

        String event = log.loginRefused(stranger, "ad\"a", "SCRAM-SHA-256", "the password is wrong");

        assertThat(event).isEqualTo("9a3f51c07be2d684");
        assertThat(lines)
                .singleElement()
                .asString()
                .contains("\"event\":\"9a3f51c07be2d684\",\"result\":\"DENIED\",\"principal\":\"User:ad\\\"a\"")
                .contains("\"mechanism\":\"SCRAM-SHA-256\",\"reason\":\"the password is wrong\"")
                .doesNotContain("operation");
        assertThat(problems(lines)).containsOnlyNulls();
        assertThat(AuditLog.OFF.loginRefused(stranger, null, "PLAIN", "the password is wrong"))
                .isNull();
    }

    @Test
    void shouldWriteWhatIsAllowedWhenItIsAskedTo() {
        AuditLog log = AuditLog.to(clock, Runnable::run, () -> ID, true, lines::add);
        Authorizer authorizer = new Authorizer(() -> AclImage.NONE, Set.of("User:ada"), false, log);

        authorizer.check(AclImage.NONE, ADA, Right.READ_TOPIC, "orders");

        assertThat(lines).singleElement().asString().contains("\"result\":\"ALLOWED\"", "\"rule\":\"super user\"");
    }

    @Test
    void shouldFindLinesThatWereChangedRemovedOrMoved() {
        AuditLog log = AuditLog.to(clock, Runnable::run, () -> ID, false, lines::add);
        for (int i = 0; i < 5; i++) {
            log.denied(ADA, Right.READ_TOPIC, "topic" + i, "NO_ACL");
        }
        List<String> changed = new ArrayList<>(lines);
        changed.set(2, lines.get(2).replace("topic2", "topic9"));
        List<String> removed = new ArrayList<>(lines);
        removed.remove(2);
        List<String> moved = new ArrayList<>(lines);
        moved.add(1, moved.remove(3));
        List<String> cut = new ArrayList<>(lines);
        cut.set(4, cut.get(4).substring(0, 100));

        assertThat(problems(lines)).containsOnlyNulls();
        assertThat(problems(changed)).contains("it has been changed");
        assertThat(problems(removed)).anyMatch(problem -> problem != null && problem.contains("are missing"));
        assertThat(problems(moved)).anyMatch(problem -> problem != null && problem.contains("are missing"));
        assertThat(problems(cut)).contains("it is not complete");
    }

    @Test
    void shouldBeginAgainWhenTheBrokerHasRestarted() {
        AuditLog.to(clock, Runnable::run, () -> ID, false, lines::add).denied(ADA, Right.READ_TOPIC, "a", "NO_ACL");
        AuditLog.to(clock, Runnable::run, () -> ID, false, lines::add).denied(ADA, Right.READ_TOPIC, "b", "NO_ACL");

        assertThat(problems(lines)).containsOnlyNulls();
    }

    @Test
    void shouldCountWhatDoesNotFitAndSaySoInTheNextLine() {
        AuditLog log = AuditLog.to(clock, tasks::add, () -> ID, false, lines::add);
        for (int i = 0; i < AuditLog.MAX_WAITING; i++) {
            log.denied(ADA, Right.READ_TOPIC, "t", "NO_ACL");
        }
        for (int i = 0; i < 3; i++) {
            assertThat(log.denied(ADA, Right.READ_TOPIC, "t", "NO_ACL"))
                    .as("no client gets the id of an event that nobody can find")
                    .isNull();
        }

        assertThat(tasks).hasSize(1);
        tasks.poll().run();

        assertThat(lines).hasSize(AuditLog.MAX_WAITING);
        assertThat(log.dropped()).isEqualTo(3);
        assertThat(lines.get(0)).contains("\"dropped\":3");
        assertThat(lines.get(1)).doesNotContain("dropped");
    }

    @Test
    void shouldNotKeepTheLongNamesOfClientsWhileEventsWait() {
        AuditLog log = AuditLog.to(clock, tasks::add, () -> ID, false, lines::add);
        WeakReference<String> longId = deniedWithALongId(log);

        for (int i = 0; i < 100 && longId.get() != null; i++) {
            System.gc();
        }

        assertThat(longId.get()).isNull();
        tasks.poll().run();
        assertThat(lines)
                .singleElement()
                .asString()
                .contains("\"clientId\":\"" + "c".repeat(AuditLog.MAX_NAME_LENGTH) + "\",");
    }

    private static WeakReference<String> deniedWithALongId(AuditLog log) {
        String id = "c".repeat(Short.MAX_VALUE);
        log.denied(new Asker(Principal.user("ada"), "10.0.0.1", "Fetch", id, 1), Right.READ_TOPIC, "t", "NO_ACL");
        return new WeakReference<>(id);
    }

    @Test
    void shouldGoOnWhenALineCannotBeWritten() {
        AuditLog log = AuditLog.to(clock, Runnable::run, () -> ID, false, line -> {
            if (lines.isEmpty()) {
                lines.add("failed");
                throw new IllegalStateException("planted");
            }
            lines.add(line);
        });
        log.denied(ADA, Right.READ_TOPIC, "a", "NO_ACL");
        log.denied(ADA, Right.READ_TOPIC, "b", "NO_ACL");

        assertThat(log.dropped()).isEqualTo(1);
        assertThat(lines).last().asString().contains("\"resourceName\":\"b\"", "\"dropped\":1");
    }

    @Test
    void shouldGoOnWhenMemoryRunsOut() {
        AuditLog log = AuditLog.to(clock, tasks::add, () -> ID, false, line -> {
            if (lines.isEmpty()) {
                lines.add("failed");
                throw new OutOfMemoryError("planted");
            }
            lines.add(line);
        });
        log.denied(ADA, Right.READ_TOPIC, "a", "NO_ACL");
        runTasks();
        log.denied(ADA, Right.READ_TOPIC, "b", "NO_ACL");
        runTasks();

        assertThat(lines).last().asString().contains("\"resourceName\":\"b\"", "\"dropped\":1");
    }

    /** As a pool does, whose threads survive a failure. */
    private void runTasks() {
        while (!tasks.isEmpty()) {
            try {
                tasks.remove().run();
            } catch (OutOfMemoryError planted) {
                assertThat(planted).hasMessage("planted");
            }
        }
    }

    @Test
    void shouldGoOnWhenTheTaskThatWritesCannotBeStarted() {
        AtomicInteger starts = new AtomicInteger();
        AuditLog log = AuditLog.to(
                clock,
                task -> {
                    if (starts.incrementAndGet() == 1) {
                        throw new OutOfMemoryError("unable to create native thread (planted)");
                    }
                    task.run();
                },
                () -> ID,
                false,
                lines::add);

        assertThat(log.denied(ADA, Right.READ_TOPIC, "a", "NO_ACL"))
                .as("the event is written with the next one")
                .isNotNull();
        log.denied(ADA, Right.READ_TOPIC, "b", "NO_ACL");

        assertThat(lines)
                .satisfiesExactly(
                        first -> assertThat(first).contains("\"resourceName\":\"a\""),
                        second -> assertThat(second).contains("\"resourceName\":\"b\""));
        assertThat(problems(lines)).containsOnlyNulls();
    }

    /** A full disk or a power loss leaves a part of a line, behind which the logger goes on. */
    @Test
    void shouldTellALineThatWasNotWrittenCompletelyFromThoseBehindIt() {
        AuditLog.to(clock, Runnable::run, () -> ID, false, lines::add).denied(ADA, Right.READ_TOPIC, "a", "NO_ACL");
        AuditLog restarted = AuditLog.to(clock, Runnable::run, () -> ID, false, lines::add);
        restarted.denied(ADA, Right.READ_TOPIC, "b", "NO_ACL");
        restarted.denied(ADA, Right.READ_TOPIC, "c", "NO_ACL");
        String torn = lines.get(0).substring(0, 60) + "time=now " + lines.get(1);

        assertThat(problems(List.of(torn, lines.get(2)))).containsExactly("a line before it is not complete", null);
        assertThat(AuditChain.event(torn)).isEqualTo(lines.get(1));
    }

    private static List<String> problems(List<String> lines) {
        AuditChain chain = new AuditChain();
        List<String> problems = new ArrayList<>();
        lines.forEach(line -> problems.add(chain.check("time=now " + line + "\r")));
        return problems;
    }
}
