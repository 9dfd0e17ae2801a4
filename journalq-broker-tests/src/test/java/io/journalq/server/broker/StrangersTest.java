package io.journalq.server.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.journalq.common.protocol.ApiKey;
import io.journalq.common.protocol.ErrorCode;
import io.journalq.common.protocol.message.ApiVersionsRequest;
import io.journalq.common.protocol.message.ApiVersionsResponse;
import io.journalq.common.protocol.message.MetadataRequest;
import io.journalq.common.protocol.message.MetadataResponse;
import io.journalq.common.protocol.message.SaslAuthenticateResponse;
import io.journalq.common.sasl.ScramMechanism;
import io.journalq.common.sasl.ScramMessages.ClientFirst;
import io.journalq.common.sasl.ScramMessages.ServerFirst;
import io.journalq.server.network.AuthenticationFailure;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients can do on a listener that requires a login, before it. */
class StrangersTest {
    private static final String PASSWORD = "canary-5d1f";
    private static final int MAX_FRAME_BYTES = 32 * 1024;

    @TempDir
    private Path directory;

    private TestBroker broker;
    private WireClient client;
    private SaslClient sasl;

    @BeforeEach
    void start() throws Exception {
        broker = new TestBroker(directory)
                .with("listeners", "SASL_PLAINTEXT://127.0.0.1:0")
                .with("admin.listener", "127.0.0.1:0");
        TestUsers.add(broker, "ada", PASSWORD, ScramMechanism.values());
        broker.start();
        connect();
    }

    private void connect() throws IOException {
        client = new WireClient(broker.port());
        sasl = new SaslClient(client);
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        broker.close();
    }

    @Test
    void shouldServeOnlyALoginBeforeIt() throws Exception {
        assertThat(client.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0)
                        .apiKeys())
                .isNotEmpty();

        assertThatThrownBy(() -> metadata()).isInstanceOf(IOException.class);
    }

    @Test
    void shouldServeEverythingAfterALogin() throws Exception {
        assertThat(sasl.choose("SCRAM-SHA-512").mechanisms()).containsExactly("SCRAM-SHA-256", "SCRAM-SHA-512");
        assertThat(sasl.scram(ScramMechanism.SCRAM_SHA_512, "ada", PASSWORD).errorCode())
                .isZero();

        metadata();
        // and a frame above the limit of strangers
        client.call(
                MetadataResponse.class,
                new MetadataRequest()
                        .setAllowAutoTopicCreation(false)
                        .setTopics(java.util.stream.IntStream.range(0, 4_000)
                                .mapToObj(i -> new MetadataRequest.MetadataRequestTopic().setName("topic-" + i))
                                .toList()),
                12);
    }

    @Test
    void shouldRespondToAFailedLoginOnlyAfterAWhile() throws Exception {
        sasl.choose("SCRAM-SHA-256");
        long startNanos = System.nanoTime();

        SaslAuthenticateResponse response = sasl.scram(ScramMechanism.SCRAM_SHA_256, "ada", "wrong");

        assertThat(ErrorCode.of(response.errorCode())).isEqualTo(ErrorCode.SASL_AUTHENTICATION_FAILED);
        assertThat(System.nanoTime() - startNanos).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(100));
        assertEnded();
    }

    @Test
    void shouldChallengeAnUnknownUserLikeAKnownOne() throws Exception {
        List<ServerFirst> challenges = new ArrayList<>();
        for (String user : List.of("ada", "eve", "eve")) {
            sasl.choose("SCRAM-SHA-256");
            challenges.add(sasl.challenge(ClientFirst.of(user, "abc")));
            client.close();
            connect();
        }

        assertThat(challenges.get(1).iterations()).isEqualTo(challenges.get(0).iterations());
        assertThat(challenges.get(1).salt())
                .hasSameSizeAs(challenges.get(0).salt())
                .isEqualTo(challenges.get(2).salt())
                .isNotEqualTo(challenges.get(0).salt());
        assertThat(challenges.get(1).nonce()).isNotEqualTo(challenges.get(2).nonce());
    }

    @Test
    void shouldRefuseATokenWithoutAMechanism() throws Exception {
        assertThat(ErrorCode.of(sasl.send("n,,n=ada,r=abc").errorCode())).isEqualTo(ErrorCode.ILLEGAL_SASL_STATE);
        assertEnded();
    }

    @Test
    void shouldRefuseASecondChoiceOfAMechanism() throws Exception {
        sasl.choose("SCRAM-SHA-256");

        assertThat(ErrorCode.of(sasl.choose("SCRAM-SHA-256").errorCode())).isEqualTo(ErrorCode.ILLEGAL_SASL_STATE);
        assertEnded();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "n,,n=ada", "\0ada\0canary-5d1f", "c=biws,r=abc,p=AAAA", "p=tls-exporter,,n=ada,r=abc"})
    void shouldRefuseAMessageThatIsNotTheNextOne(String message) throws Exception {
        sasl.choose("SCRAM-SHA-256");

        assertThat(ErrorCode.of(sasl.send(message).errorCode())).isEqualTo(ErrorCode.SASL_AUTHENTICATION_FAILED);
        assertEnded();
    }

    @Test
    void shouldRefuseAProofForAnotherNonce() throws Exception {
        sasl.choose("SCRAM-SHA-256");
        sasl.challenge(ClientFirst.of("ada", "abc"));

        SaslAuthenticateResponse response = sasl.send("c=biws,r=abcdef,p=" + "A".repeat(43) + "=");

        assertThat(ErrorCode.of(response.errorCode())).isEqualTo(ErrorCode.SASL_AUTHENTICATION_FAILED);
        assertEnded();
    }

    @Test
    void shouldRefuseALoginForAnotherUser() throws Exception {
        sasl.choose("SCRAM-SHA-256");

        assertThat(ErrorCode.of(sasl.send("n,a=bob,n=ada,r=abc").errorCode()))
                .isEqualTo(ErrorCode.SASL_AUTHENTICATION_FAILED);
        assertEnded();
    }

    @Test
    void shouldServeNothingBehindAFailureWhenFramesAreSentTogether() throws Exception {
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        frames.write(WireClient.frame(
                1, new io.journalq.common.protocol.message.SaslHandshakeRequest().setMechanism("SCRAM-SHA-256"), 1));
        frames.write(WireClient.frame(2, SaslClient.request("garbage"), 2));
        frames.write(WireClient.frame(3, new MetadataRequest().setTopics(null), 12));
        client.out.write(frames.toByteArray());

        client.receiveFrame();
        SaslAuthenticateResponse refused =
                client.receive(SaslAuthenticateResponse.class, ApiKey.SASL_AUTHENTICATE, 2, 2);
        assertThat(ErrorCode.of(refused.errorCode())).isEqualTo(ErrorCode.SASL_AUTHENTICATION_FAILED);
        assertThatThrownBy(() -> client.receiveFrame()).isInstanceOf(IOException.class);
    }

    @Test
    void shouldServeRequestsOneAfterTheOtherWhenFramesAreSentTogether() throws Exception {
        int count = 200;
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        for (int i = 1; i <= count; i++) {
            frames.write(WireClient.frame(i, new ApiVersionsRequest(), 0));
        }
        client.out.write(frames.toByteArray());

        for (int i = 1; i <= count; i++) {
            client.receive(ApiVersionsResponse.class, ApiKey.API_VERSIONS, 0, i);
        }
    }

    @Test
    void shouldCloseTheConnectionWhenAFrameIsTooLong() throws Exception {
        try (InputTrace trace = new InputTrace(broker)) {
            client.out.writeInt(MAX_FRAME_BYTES + 1);

            assertEnded();
            broker.await(() -> !trace.lines().isEmpty());
            assertThat(trace.lines()).singleElement().asString().contains("before authentication");
        }
    }

    @Test
    void shouldCloseTheConnectionWhenTheBytesAreNotThoseOfTheProtocol() throws Exception {
        client.out.write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

        assertEnded();
    }

    @Test
    void shouldCloseTheNewConnectionWhenAnAddressHasTooManyWithoutALogin() throws Exception {
        List<WireClient> strangers = new ArrayList<>();
        try (InputTrace trace = new InputTrace(broker)) {
            // given as many as allowed: this client and 19 others
            for (int i = 1; i < 20; i++) {
                strangers.add(new WireClient(broker.port()));
            }
            broker.await(() -> broker.network().unauthenticatedConnections() == 20);

            // when
            try (WireClient refused = new WireClient(broker.port())) {
                assertThatThrownBy(refused::receiveFrame).isInstanceOf(IOException.class);
            }

            // then
            trace.assertOneLine("max.unauthenticated.connections.per.ip");
            assertThat(broker.network().authenticationFailures(AuthenticationFailure.ADDRESS))
                    .isEqualTo(1);

            // and a login makes room for another client
            sasl.choose("SCRAM-SHA-256");
            sasl.scram(ScramMechanism.SCRAM_SHA_256, "ada", PASSWORD);
            try (WireClient another = new WireClient(broker.port())) {
                another.call(ApiVersionsResponse.class, new ApiVersionsRequest(), 0);
            }
        } finally {
            for (WireClient stranger : strangers) {
                stranger.close();
            }
        }
        broker.await(() -> broker.network().unauthenticatedConnections() == 0);
    }

    @Test
    void shouldLockTheAddressOutWhenTooManyLoginsFail() throws Exception {
        // given a client that has logged in, and failed logins
        restartWith("max.authentication.failures.per.ip", "3");
        try (WireClient loggedIn = new WireClient(broker.port());
                InputTrace trace = new InputTrace(broker)) {
            SaslClient known = new SaslClient(loggedIn);
            known.choose("SCRAM-SHA-256");
            known.scram(ScramMechanism.SCRAM_SHA_256, "ada", PASSWORD);
            for (int i = 0; i < 3; i++) {
                sasl.choose("SCRAM-SHA-256");
                sasl.scram(ScramMechanism.SCRAM_SHA_256, "ada", "wrong");
                assertEnded();
                connect();
            }

            // then the last connection was closed without a login, and the log says what to do
            assertEnded();
            assertThat(broker.network().authenticationFailures(AuthenticationFailure.LOCKED_OUT))
                    .isEqualTo(1);
            broker.await(() -> trace.lines().size() == 5);
            assertThat(trace.lines())
                    .anyMatch(line -> line.startsWith("address locked out: client=/127.0.0.1 ")
                            && line.contains("raise max.authentication.failures.per.ip"))
                    .last()
                    .asString()
                    .contains("correct the password and wait a minute");

            // and who has logged in goes on
            loggedIn.call(MetadataResponse.class, new MetadataRequest().setTopics(List.of()), 12);
        }
    }

    private void restartWith(String key, String value) throws Exception {
        client.close();
        broker.stop();
        broker.with(key, value).start();
        connect();
    }

    @Test
    @Tag("long")
    void shouldCloseASilentConnectionAfterTenSeconds() throws Exception {
        long startNanos = System.nanoTime();

        assertEnded();

        assertThat(System.nanoTime() - startNanos).isBetween(TimeUnit.SECONDS.toNanos(9), TimeUnit.SECONDS.toNanos(14));
        assertThat(broker.network().authenticationFailures(AuthenticationFailure.TIMEOUT))
                .isEqualTo(1);
    }

    @Test
    @Tag("long")
    void shouldDropTheOldestStrangerWhenThereAreTooMany() throws Exception {
        restartWith("max.unauthenticated.connections.per.ip", "2000");
        List<WireClient> strangers = new ArrayList<>();
        try {
            for (int i = 0; i < 1_000; i++) {
                strangers.add(new WireClient(broker.port()));
            }

            assertEnded();
            assertThat(broker.network().authenticationFailures(AuthenticationFailure.OVERLOAD))
                    .isEqualTo(1);
            SaslClient youngest = new SaslClient(strangers.get(999));
            youngest.choose("SCRAM-SHA-256");
            assertThat(youngest.scram(ScramMechanism.SCRAM_SHA_256, "ada", PASSWORD)
                            .errorCode())
                    .isZero();
        } finally {
            for (WireClient stranger : strangers) {
                stranger.close();
            }
        }
    }

    /** The broker has ended the connection. */
    private void assertEnded() {
        assertThatThrownBy(() -> client.receiveFrame()).isInstanceOf(IOException.class);
    }

    private void metadata() throws IOException {
        client.call(MetadataResponse.class, new MetadataRequest().setTopics(List.of()), 12);
    }
}
