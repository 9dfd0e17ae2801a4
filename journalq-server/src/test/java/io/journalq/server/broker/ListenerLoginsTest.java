package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.sasl.ScramMechanism;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.metadata.security.ScramImage;
import io.journalq.server.security.AuditLog;
import io.journalq.server.security.sasl.HttpLogin;
import io.journalq.server.security.sasl.HttpLogins;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Logins over HTTP, whose passwords are checked by other threads. */
class ListenerLoginsTest {
    /** More than the threads that check passwords. */
    private static final int MAX_FAILURES = Runtime.getRuntime().availableProcessors() + 1;

    private static final byte[] SALT = new byte[16];

    private final SocketAddress client = new InetSocketAddress(InetAddress.getLoopbackAddress(), 4711);

    private static ListenerLogins open() throws Exception {
        BrokerConfig config = BrokerConfig.defaults()
                .with("gateway.listener", "SASL_SSL://127.0.0.1:0", ConfigOrigin.COMMAND_LINE)
                .with("max.authentication.failures.per.ip", Integer.toString(MAX_FAILURES), ConfigOrigin.COMMAND_LINE);
        ScramMechanism mechanism = ScramMechanism.SCRAM_SHA_256;
        ScramImage users = ScramImage.NONE.with(
                "ada",
                mechanism.credential(
                        mechanism.saltedPassword(
                                "right".getBytes(StandardCharsets.UTF_8), SALT, ScramMechanism.MIN_ITERATIONS),
                        SALT,
                        ScramMechanism.MIN_ITERATIONS));
        return ListenerLogins.open(config, () -> users, new SecureRandom());
    }

    private static String basic(String password) {
        return "Basic " + Base64.getEncoder().encodeToString(("ada:" + password).getBytes(StandardCharsets.UTF_8));
    }

    private static HttpLogin result(CompletionStage<HttpLogin> login) throws Exception {
        return login.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupted) {
            throw new AssertionError("nobody interrupts a check", interrupted);
        }
    }

    @Test
    void shouldTellNothingAboutGuessesThatWereSentAtTheSameTimeOnceTooManyHaveFailed() throws Exception {
        try (ListenerLogins logins = open()) {
            // given guesses that wait until the right one waits behind them
            CountDownLatch allSent = new CountDownLatch(1);
            HttpLogins gateway = logins.gateway(() -> {
                await(allSent);
                return AuditLog.OFF;
            });
            List<CompletionStage<HttpLogin>> wrong = new ArrayList<>();
            for (int i = 0; i < 2 * MAX_FAILURES; i++) {
                wrong.add(gateway.check(basic("wrong" + i), client));
            }
            CompletionStage<HttpLogin> right = gateway.check(basic("right"), client);

            // when
            allSent.countDown();

            // then
            assertThatThrownBy(() -> result(right)).hasCauseInstanceOf(RejectedExecutionException.class);
            assertThatThrownBy(() -> result(wrong.get(wrong.size() - 1)))
                    .as("as the right one")
                    .hasCauseInstanceOf(RejectedExecutionException.class);
            assertThatThrownBy(() -> gateway.check(basic("right"), client))
                    .isInstanceOf(RejectedExecutionException.class);
        }
    }

    @Test
    void shouldAcceptTheRightPasswordWhenFewHaveFailed() throws Exception {
        try (ListenerLogins logins = open()) {
            HttpLogins gateway = logins.gateway(() -> AuditLog.OFF);
            for (int i = 1; i < MAX_FAILURES; i++) {
                assertThat(result(gateway.check(basic("wrong"), client)).succeeded())
                        .isFalse();
            }

            assertThat(result(gateway.check(basic("right"), client)).succeeded())
                    .isTrue();
        }
    }
}
