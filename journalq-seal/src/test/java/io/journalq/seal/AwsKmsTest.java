package io.journalq.seal;

import static io.journalq.seal.FakeAwsKms.ALIAS;
import static io.journalq.seal.FakeAwsKms.KEY_ID;
import static io.journalq.seal.FakeAwsKms.REGION;
import static io.journalq.seal.FakeAwsKms.SECRET;
import static io.journalq.seal.SealedWorld.ORDERS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpExchange;
import io.journalq.client.error.SealViolationException;
import io.journalq.client.error.SealViolationException.Reason;
import io.journalq.client.error.SealingException;
import io.journalq.client.seal.BatchOpener;
import io.journalq.client.seal.KeyLog;
import io.journalq.common.record.CompressionCodec;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys in AWS KMS, against a server that speaks its API, checks its signatures, and has its faults. */
class AwsKmsTest {
    private static final String ROLE = "auditors";
    private static final Duration LONG = Duration.ofMinutes(2);
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Map<String, String> VARIABLES =
            Map.of("AWS_ACCESS_KEY_ID", KEY_ID, "AWS_SECRET_ACCESS_KEY", SECRET);

    @TempDir
    private Path directory;

    private SealedWorld world;
    private FakeAwsKms kms;

    @BeforeEach
    void begin() throws IOException {
        world = new SealedWorld();
        world.admin.change(registry -> registry.withRole(ROLE, 1, TestRsa.KEY.publicKey())
                .withTopic(ORDERS.topic(), SealMode.BATCH, List.of(ROLE)));
        kms = new FakeAwsKms(TestRsa.KEY);
    }

    @AfterEach
    void end() {
        kms.close();
        world.close();
    }

    private AwsKms.Builder builder() {
        return AwsKms.builder(REGION)
                .endpoint(kms.address())
                .roles(List.of(ROLE))
                .environment(VARIABLES)
                .timeout(LONG);
    }

    private BatchOpener opener(AwsKms keys) {
        return world.policy(KeyVault.inMemory()).roleKeys(keys).build().opener(world.keys);
    }

    private byte[] sealOne() {
        return SealedWorld.seal(world.sealer(), ORDERS, SealedWorld.batch(CompressionCodec.NONE, 1, 5), 0);
    }

    @Test
    void shouldOpenBatchesByAKeyThatNeverLeavesAwsKms() throws Exception {
        byte[] sealed = sealOne();
        BatchOpener opener = opener(builder().build());

        for (int i = 0; i < 3; i++) {
            assertThat(SealedWorld.open(opener, ORDERS, sealed)).hasSize(1);
        }

        assertThat(kms.requests)
                .as("AWS KMS is asked once for each epoch")
                .containsExactly("TrentService.GetPublicKey", "TrentService.Decrypt");
        assertThat(builder().build().find(ROLE, 1).publicKey()).isEqualTo(TestRsa.KEY.publicKey());
        assertThat(builder().build().find("others", 1)).isNull();
    }

    @Test
    void shouldAskAgainWhenAResponseIsLostOrAwsKmsIsBusy() throws Exception {
        byte[] sealed = sealOne();
        AwsKms keys = builder().build();
        keys.find(ROLE, 1);
        kms.requests.clear();

        for (FakeKeyService.Fault fault : List.of(
                FakeAwsKms.lost(),
                FakeAwsKms.error(500, "KMSInternalException", ""),
                FakeAwsKms.error(400, "ThrottlingException", "Rate exceeded"),
                FakeKeyService.huge())) {
            kms.faults.add(fault);
            assertThat(SealedWorld.open(opener(keys), ORDERS, sealed)).hasSize(1);
        }

        assertThat(kms.requests).hasSize(8);
    }

    @Test
    void shouldFailWithoutARecordAndReadOnWhenConnectionsAreNoLongerCut() throws Exception {
        // given
        byte[] sealed = sealOne();
        AwsKms keys = builder().build();
        keys.find(ROLE, 1);
        BatchOpener opener = opener(keys);
        for (int i = 0; i < AwsKms.MAX_ATTEMPTS; i++) {
            kms.faults.add(FakeAwsKms.lost());
        }

        // when
        assertThatThrownBy(() -> SealedWorld.open(opener, ORDERS, sealed))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("the key of role auditors, generation 1, cannot be used: AWS KMS gave no usable"
                        + " response to 3 requests; the last: ");

        // then
        assertThat(SealedWorld.open(opener, ORDERS, sealed)).hasSize(1);
    }

    @Test
    void shouldNotWaitForASlowResponse() {
        AwsKms keys = builder().timeout(SHORT).build();
        for (int i = 0; i < AwsKms.MAX_ATTEMPTS; i++) {
            kms.faults.add(kms.slow());
        }

        assertThatThrownBy(() -> keys.find(ROLE, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("to 3 requests")
                .hasMessageContaining("no response within 300 ms");
    }

    @Test
    void shouldRefuseAnotherKeyAndASecretOfAnotherPacket() throws Exception {
        byte[] sealed = sealOne();

        // the alias belongs to another key
        kms.keys.put(FakeAwsKms.arn(2), RsaRoleKey.remote(TestRsa.KEY.publicKey(), ciphertext -> {
            throw new GeneralSecurityException("encrypted for another key");
        }));
        kms.aliases.put(ALIAS, FakeAwsKms.arn(2));
        assertThat(refusal(sealed))
                .hasMessageContaining("its key packet cannot be opened with the key of role auditors");
        assertThat(refusal(sealed).getCause())
                .hasMessage("AWS KMS refuses to decrypt (status 400: InvalidCiphertextException)");

        // the alias moves while the key is in use
        kms.aliases.put(ALIAS, FakeAwsKms.arn(1));
        AwsKms keys = builder().build();
        keys.find(ROLE, 1);
        kms.aliases.put(ALIAS, FakeAwsKms.arn(2));
        assertThat(SealedWorld.open(opener(keys), ORDERS, sealed)).hasSize(1);

        // AWS KMS has no encryption context for RSA keys: the secret itself says to which packet it belongs
        kms.aliases.put(ALIAS, FakeAwsKms.arn(1));
        List<KeyLog.Entry> packets = world.keys.entries(KeyPacket.TOPIC);
        KeyLog.Entry genuine = packets.get(0);
        KeyPacket packet = KeyPacket.decode(genuine.value());
        byte[] moved = new KeyPacket(
                        packet.epoch(),
                        packet.createdMs(),
                        packet.notAfterMs() + 1,
                        packet.commitment(),
                        packet.sender(),
                        packet.realm(),
                        packet.topic(),
                        packet.signsBatches(),
                        packet.recipients())
                .sign(world.senderVault.sender(SealedWorld.SENDER));
        packets.set(0, new KeyLog.Entry(0, genuine.key(), moved));
        assertThat(refusal(sealed).getCause()).hasMessage("the secret was encrypted for another packet or role");
        packets.set(0, genuine);

        // a response about another key
        AwsKms asked = builder().build();
        asked.find(ROLE, 1);
        kms.faults.add(
                FakeKeyService.response(200, "{\"KeyId\":\"" + FakeAwsKms.arn(2) + "\",\"Plaintext\":\"AAAA\"}"));
        assertThatThrownBy(() -> SealedWorld.open(opener(asked), ORDERS, sealed))
                .isInstanceOf(SealingException.class)
                .hasMessageContaining("the response of AWS KMS has no plaintext of key " + FakeAwsKms.arn(1));
    }

    private Throwable refusal(byte[] sealed) {
        Throwable refusal =
                catchThrowable(() -> SealedWorld.open(opener(builder().build()), ORDERS, sealed));
        assertThat(refusal).isInstanceOf(SealViolationException.class);
        assertThat(((SealViolationException) refusal).reason()).isEqualTo(Reason.NO_KEY);
        return refusal;
    }

    @Test
    void shouldNotAskAgainWhenThatMakesNoSense() {
        // a secret that is not that of the key
        AwsKms wrong = builder()
                .environment(Map.of("AWS_ACCESS_KEY_ID", KEY_ID, "AWS_SECRET_ACCESS_KEY", "other-canary"))
                .build();
        assertThatThrownBy(() -> wrong.find(ROLE, 1))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("AWS KMS refuses the credentials of the environment variable AWS_ACCESS_KEY_ID"
                        + " (status 400: InvalidSignatureException: The request signature")
                .hasMessageNotContaining("canary");

        // a signature for another region
        AwsKms otherRegion = AwsKms.builder("us-east-1")
                .endpoint(kms.address())
                .roles(List.of(ROLE))
                .environment(VARIABLES)
                .build();
        assertThatThrownBy(() -> otherRegion.find(ROLE, 1)).hasMessageContaining("InvalidSignatureException");

        // no right, a redirect, no key
        kms.faults.add(FakeAwsKms.error(400, "AccessDeniedException", "User: x is not authorized"));
        assertThatThrownBy(() -> builder().build().find(ROLE, 1))
                .isInstanceOf(IOException.class)
                .hasMessage("AWS KMS has no key " + ALIAS + " in region " + REGION + " that these credentials may read"
                        + " (status 400: AccessDeniedException: User: x is not authorized)");
        kms.faults.add(FakeKeyService.redirect());
        assertThatThrownBy(() -> builder().build().find(ROLE, 1))
                .hasMessageContaining("AWS KMS redirects the request, and nothing secret is sent to another server");
        assertThatThrownBy(() -> builder().build().find(ROLE, 2))
                .hasMessageContaining("AWS KMS has no key alias/journalq/auditors/2")
                .hasMessageContaining("NotFoundException");
        assertThat(kms.requests).hasSize(5);
    }

    @Test
    void shouldRefuseKeysAndSettingsThatDoNotFit() {
        kms.faults.add(FakeKeyService.response(
                200, "{\"KeyId\":\"" + FakeAwsKms.arn(1) + "\",\"KeyUsage\":\"SIGN_VERIFY\",\"PublicKey\":\"AAAA\"}"));
        assertThatThrownBy(() -> builder().build().find(ROLE, 1))
                .hasMessage("the key " + ALIAS + " in AWS KMS does not decrypt by RSAES_OAEP_SHA_256; it must have the"
                        + " key spec RSA_3072 or RSA_4096 and the key usage ENCRYPT_DECRYPT");
        kms.faults.add(FakeKeyService.response(
                200,
                "{\"KeyId\":\"" + FakeAwsKms.arn(1) + "\",\"KeyUsage\":\"ENCRYPT_DECRYPT\","
                        + "\"PublicKey\":\"MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC6\"}"));
        assertThatThrownBy(() -> builder().build().find(ROLE, 1))
                .hasMessageStartingWith("the key " + ALIAS + " in AWS KMS: ");
        for (Runnable wrong : List.<Runnable>of(
                () -> AwsKms.builder("Frankfurt"),
                () -> AwsKms.builder(REGION).endpoint(URI.create("http://192.0.2.1")),
                () -> AwsKms.builder(REGION).endpoint(URI.create("https://kms.example/path")),
                () -> AwsKms.builder(REGION).aliasPrefix("journalq/"),
                () -> AwsKms.builder(REGION).roles(List.of("a.b")),
                () -> AwsKms.builder(REGION).timeout(Duration.ZERO))) {
            assertThatThrownBy(wrong::run).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> AwsKms.builder(REGION).endpoint(URI.create("http://192.0.2.1")))
                .hasMessage("keys would be sent to 192.0.2.1 without encryption; use https");
    }

    @Test
    void shouldAcceptAKeyOfAServiceThatDoesNotNameItsAlgorithms() throws Exception {
        kms.faults.add(FakeKeyService.response(
                200,
                "{\"KeyId\":\"" + FakeAwsKms.arn(1) + "\",\"KeyUsage\":\"ENCRYPT_DECRYPT\",\"PublicKey\":\""
                        + Base64.getEncoder().encodeToString(TestRsa.KEY.publicKey()) + "\"}"));
        byte[] sealed = sealOne();

        assertThat(SealedWorld.open(opener(builder().build()), ORDERS, sealed)).hasSize(1);
    }

    @Test
    void shouldReadCredentialsOfAProfileForEachRequest() throws Exception {
        Path file = Files.writeString(
                directory.resolve("credentials"),
                "[default]\naws_access_key_id = OTHER\naws_secret_access_key = canary\n\n# comment\n[journalq]\n"
                        + "aws_access_key_id = " + KEY_ID + "\naws_secret_access_key=" + SECRET
                        + "\naws_session_token = token/1\n[last]\naws_access_key_id=LAST\n");
        kms.sessionToken = "token/1";
        AwsKms keys = builder().credentials(file, "journalq").build();

        assertThat(keys.find(ROLE, 1)).isNotNull();

        // replaced, for example by an agent
        byte[] sealed = sealOne();
        kms.sessionToken = "token/2";
        Files.writeString(file, Files.readString(file).replace("token/1", "token/2"));
        assertThat(SealedWorld.open(opener(keys), ORDERS, sealed)).hasSize(1);

        assertThatThrownBy(() -> builder().credentials(file, "none").build().find(ROLE, 1))
                .hasMessage(file + " has no profile none");
        assertThatThrownBy(() -> builder().credentials(file, "last").build().find(ROLE, 1))
                .hasMessage("profile last of " + file + " has no id and secret of a key, each in one line");
        Files.delete(file);
        assertThatThrownBy(() -> builder().credentials(file, "last").build().find(ROLE, 1))
                .hasMessage("cannot read the credentials in " + file);
        assertThatThrownBy(() -> builder().environment(Map.of()).build().find(ROLE, 1))
                .hasMessage("there are no credentials for AWS; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name"
                        + " a file with credentials");
    }

    /** The endpoint that ECS and EKS give to a container. */
    private static final class FakeContainer extends FakeKeyService {
        private volatile Instant expiration = Instant.now().plus(Duration.ofHours(1));

        FakeContainer() throws IOException {
            start();
        }

        @Override
        String name(HttpExchange exchange) {
            return exchange.getRequestURI() + " " + exchange.getRequestHeaders().getFirst("Authorization");
        }

        @Override
        void serve(HttpExchange exchange, String body) throws IOException {
            response(
                            OK,
                            "{\"RoleArn\":\"arn\",\"AccessKeyId\":\"" + KEY_ID + "\",\"SecretAccessKey\":\"" + SECRET
                                    + "\",\"Token\":\"token\",\"Expiration\":\"" + expiration + "\"}")
                    .happen(exchange);
        }
    }

    @Test
    void shouldAskTheContainerForCredentialsUntilTheyExpire() throws Exception {
        Path authorization = Files.writeString(directory.resolve("authorization"), "opaque\n");
        kms.sessionToken = "token";
        try (FakeContainer container = new FakeContainer()) {
            Map<String, String> variables = Map.of(
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                    container.address() + "/v1/credentials",
                    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
                    authorization.toString());
            byte[] sealed = sealOne();
            AwsKms keys = builder().environment(variables).build();

            assertThat(SealedWorld.open(opener(keys), ORDERS, sealed)).hasSize(1);
            assertThat(container.requests).containsExactly("/v1/credentials opaque");

            container.expiration = Instant.now().plus(Duration.ofMinutes(1));
            AwsKms often = builder().environment(variables).build();
            assertThat(SealedWorld.open(opener(often), ORDERS, sealed)).hasSize(1);
            assertThat(container.requests)
                    .as("once for each request of AWS KMS")
                    .hasSize(3);

            container.faults.add(FakeKeyService.response(404, "canary"));
            assertThatThrownBy(() -> often.find(ROLE, 2))
                    .hasMessage("the container has no credentials for AWS (status 404)");
        }
        assertThatThrownBy(() -> builder()
                        .environment(Map.of("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://192.0.2.1/"))
                        .build()
                        .find(ROLE, 1))
                .hasMessage(
                        "AWS_CONTAINER_CREDENTIALS_FULL_URI cannot be used: the authorization of the container would"
                                + " be sent to 192.0.2.1 without encryption; use https");
    }

    @Test
    void shouldBeUsedByAPolicyWithoutAKeyring() throws Exception {
        byte[] sealed = sealOne();
        Files.writeString(
                directory.resolve("credentials"),
                "[default]\naws_access_key_id=" + KEY_ID + "\naws_secret_access_key=" + SECRET + "\n");
        String policy = "realm=tests\nroot=" + world.root + "\naws.region=" + REGION + "\naws.endpoint=" + kms.address()
                + "\naws.credentials-file=credentials\naws.roles=auditors, others\n";
        Path file = Files.writeString(directory.resolve("auditors.seal"), policy);

        BatchOpener opener = SealPolicy.load(file).opener(world.keys);

        assertThat(SealedWorld.open(opener, ORDERS, sealed)).hasSize(1);
        assertThat(directory.resolve("auditors.seal.trust")).exists();
        Files.writeString(file, policy + "vault.address=https://vault.example\n");
        assertThatThrownBy(() -> SealPolicy.load(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the keys of roles can be in one service only");
        Files.writeString(file, "realm=tests\nroot=first-use\naws.region=" + REGION + "\n");
        assertThatThrownBy(() -> SealPolicy.load(file))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lacks the property aws.roles");
    }
}
