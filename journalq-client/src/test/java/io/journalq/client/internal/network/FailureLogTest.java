package io.journalq.client.internal.network;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.client.error.ClientClosedException;
import io.journalq.client.error.ConnectionFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.internal.network.FailureLog.Cause;
import io.journalq.common.protocol.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The intervals between the lines of a failure log, with a clock that the test sets. */
final class FailureLogTest {
    private final List<String> lines = new ArrayList<>();
    /** Starts shortly before the clock overflows, as {@link System#nanoTime} may. */
    private long nowNanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(10);

    private final FailureLog log = new FailureLog(new Lines(), "till-7", () -> nowNanos);

    @Test
    void shouldLogAtOnceAndThenEveryThirtySecondsWhenACausePersists() {
        for (int second = 0; second <= 90; second++) {
            log.report(Cause.NO_BROKER, "[localhost:9092]", failure("refused in second " + second));
            nowNanos += TimeUnit.SECONDS.toNanos(1);
        }
        assertThat(lines)
                .containsExactly(
                        "WARNING [till-7] no broker of [localhost:9092] can be reached: refused in second 0",
                        "WARNING [till-7] no broker of [localhost:9092] can be reached: refused in second 30"
                                + " (failures not logged before: 29)",
                        "WARNING [till-7] no broker of [localhost:9092] can be reached: refused in second 60"
                                + " (failures not logged before: 29)",
                        "WARNING [till-7] no broker of [localhost:9092] can be reached: refused in second 90"
                                + " (failures not logged before: 29)");
        assertThat(log.total(Cause.NO_BROKER)).isEqualTo(91);
        assertThat(log.lastFailure()).hasMessage("refused in second 90");
    }

    @Test
    void shouldLogEachCauseAndSubjectAtOnceWhenSeveralFail() {
        log.report(Cause.FAILED_FETCH, "broker 0", failure("broke"));
        log.report(Cause.FAILED_FETCH, "broker 1", failure("broke"));
        log.report(Cause.LOST_COORDINATOR, "group billing", failure("broke"));
        log.report(Cause.UNKNOWN_TOPIC, "ordrs", failure("topic ordrs does not exist"));
        log.report(Cause.FAILED_FETCH, "broker 0", failure("broke"));
        assertThat(lines)
                .containsExactly(
                        "WARNING [till-7] a fetch from broker 0 failed: broke",
                        "WARNING [till-7] a fetch from broker 1 failed: broke",
                        "WARNING [till-7] the coordinator of group billing is lost: broke",
                        "WARNING [till-7] topic ordrs does not exist");
        assertThat(log.total(Cause.FAILED_FETCH)).isEqualTo(3);
    }

    @Test
    void shouldLogARefusedAuthorizationAsSuchWhateverItsCause() {
        log.report(Cause.FAILED_FETCH, "topic orders", refusal());
        log.reportIfRefused("topic orders", refusal());
        log.reportIfRefused("topic orders", failure("broke"));
        assertThat(lines).hasSize(1);
        assertThat(lines.get(0)).contains("authorization was refused: orders-0");
        assertThat(log.total(Cause.FAILED_FETCH)).isEqualTo(1);
        assertThat(log.total(Cause.NOT_AUTHORIZED)).isEqualTo(2);
    }

    @Test
    void shouldSayNothingWhenTheClientIsClosedOrTheFailureIsRoutine() {
        log.report(Cause.FAILED_FETCH, "broker 0", new ClientClosedException("closed"));
        log.count(Cause.FAILED_FETCH);
        assertThat(lines).isEmpty();
        assertThat(log.total(Cause.FAILED_FETCH)).isEqualTo(1);
        assertThat(log.lastFailure()).isNull();
    }

    @Test
    void shouldCountButNotLogTheErrorsOfAMoveWhenTheyEndSoon() {
        for (int move = 0; move < 10; move++) {
            for (int i = 0; i < 49; i++) {
                log.report(Cause.FAILED_FETCH, "topic orders", moved());
                nowNanos += TimeUnit.MILLISECONDS.toNanos(100);
            }
            nowNanos += FailureLog.MOVE_NANOS;
        }
        assertThat(lines).isEmpty();
        assertThat(log.total(Cause.FAILED_FETCH)).isEqualTo(490);
        assertThat(log.lastFailure()).isNull();
    }

    @Test
    void shouldLogTheErrorsOfAMoveWhenTheyLast() {
        for (int second = 0; second <= 40; second++) {
            log.report(Cause.FAILED_FETCH, "topic orders", moved());
            nowNanos += TimeUnit.SECONDS.toNanos(1);
        }
        // in seconds 5 and 35
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0))
                .startsWith("WARNING [till-7] a fetch from topic orders failed: orders-0")
                .endsWith("(failures not logged before: 5)");
        assertThat(lines.get(1)).endsWith("(failures not logged before: 29)");
        assertThat(log.lastFailure().errorCode()).isEqualTo(ErrorCode.NOT_LEADER_OR_FOLLOWER);
    }

    @Test
    void shouldRememberABoundedNumberOfSubjects() {
        log.report(Cause.UNKNOWN_TOPIC, "first", failure("first"));
        for (int i = 0; i < FailureLog.MAX_SUBJECTS; i++) {
            log.report(Cause.UNKNOWN_TOPIC, "topic " + i, failure("topic " + i));
        }
        log.report(Cause.UNKNOWN_TOPIC, "topic 1", failure("topic 1"));
        log.report(Cause.UNKNOWN_TOPIC, "first", failure("first"));
        assertThat(lines).hasSize(FailureLog.MAX_SUBJECTS + 2);
    }

    private static ConnectionFailedException failure(String message) {
        return new ConnectionFailedException(message);
    }

    private static JournalQException moved() {
        return Errors.of(ErrorCode.NOT_LEADER_OR_FOLLOWER, "orders-0", null);
    }

    private static JournalQException refusal() {
        return Errors.of(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "orders-0", null);
    }

    private final class Lines implements System.Logger {
        @Override
        public String getName() {
            return "test";
        }

        @Override
        public boolean isLoggable(Level level) {
            return true;
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
            lines.add(level + " " + message);
        }

        @Override
        public void log(Level level, ResourceBundle bundle, String format, Object... parameters) {
            lines.add(level + " " + format);
        }
    }
}
