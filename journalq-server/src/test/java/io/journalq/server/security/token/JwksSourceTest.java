package io.journalq.server.security.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JwksSourceTest {
    @TempDir
    private Path directory;

    private static String keySet(String id) throws GeneralSecurityException {
        byte[] encoded = KeyPairGenerator.getInstance("Ed25519")
                .generateKeyPair()
                .getPublic()
                .getEncoded();
        String x = Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length));
        return "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"" + id + "\",\"x\":\"" + x + "\"}]}";
    }

    @Test
    void shouldFindTheKeyForAllClientsWhenTheyLogInWithANewOneAtTheSameTime() throws Exception {
        // given a provider that has replaced its key
        Path file = directory.resolve("keys.json");
        Files.writeString(file, keySet("old"));
        AtomicLong nowNanos = new AtomicLong();
        try (JwksSource source = JwksSource.open(file.toUri(), null, nowNanos::get)) {
            Files.writeString(file, keySet("new"));
            nowNanos.addAndGet(JwksSource.MIN_INTERVAL_NANOS);

            // when
            List<CompletableFuture<JwksKeys>> found = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                found.add(source.keysFor("new"));
            }

            // then
            for (CompletableFuture<JwksKeys> keys : found) {
                assertThat(keys.get(10, TimeUnit.SECONDS).contains("new")).isTrue();
            }
        }
    }

    @Test
    void shouldSayWhyTheFileOfTheKeysCannotBeUsed() throws Exception {
        Path file = directory.resolve("keys.json");
        assertThatThrownBy(() -> JwksSource.open(file.toUri()))
                .isInstanceOf(IOException.class)
                .hasMessage(
                        "sasl.oauthbearer.jwks.endpoint.url: cannot use " + file.toUri() + ": there is no such file");
    }

    @Test
    void shouldSayInOneLineThatTheFileOfTheKeysIsNotJson() throws Exception {
        Path file = Files.writeString(directory.resolve("keys.json"), "-----BEGIN PUBLIC KEY-----\n");

        assertThatThrownBy(() -> JwksSource.open(file.toUri()))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(
                        "sasl.oauthbearer.jwks.endpoint.url: cannot use " + file.toUri() + ": not JSON: ")
                .hasMessageNotContaining("\n");
    }

    @Test
    void shouldReadTheKeysOnceAMinuteWhenTokensNameUnknownOnes() throws Exception {
        // given
        Path file = directory.resolve("keys.json");
        Files.writeString(file, keySet("old"));
        AtomicLong nowNanos = new AtomicLong();
        try (JwksSource source = JwksSource.open(file.toUri(), null, nowNanos::get)) {
            nowNanos.addAndGet(JwksSource.MIN_INTERVAL_NANOS);
            assertThat(source.keysFor("unknown").get(10, TimeUnit.SECONDS).contains("unknown"))
                    .isFalse();
            Files.writeString(file, keySet("new"));

            // when
            nowNanos.addAndGet(JwksSource.MIN_INTERVAL_NANOS - 1);
            JwksKeys within = source.keysFor("new").get(10, TimeUnit.SECONDS);
            nowNanos.incrementAndGet();
            JwksKeys after = source.keysFor("new").get(10, TimeUnit.SECONDS);

            // then
            assertThat(within.contains("new")).isFalse();
            assertThat(after.contains("new")).isTrue();
        }
    }
}
