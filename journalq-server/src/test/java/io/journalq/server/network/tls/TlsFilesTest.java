package io.journalq.server.network.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.tls.KeyFileFormat;
import io.journalq.server.network.NetworkCounters;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsFilesTest {
    private static final long INTERVAL_MS = 20;

    @TempDir
    private Path directory;

    private final NetworkCounters counters = new NetworkCounters();

    private void write(X509Bundle keys) throws Exception {
        Path part = directory.resolve("keys.part");
        Files.writeString(part, keys.getPrivateKeyPEM() + keys.getCertificatePathPEM());
        Files.move(part, keys(), StandardCopyOption.REPLACE_EXISTING);
    }

    private Path keys() {
        return directory.resolve("keys.pem");
    }

    private TlsFiles open() throws TlsException {
        TlsSettings settings = new TlsSettings(
                new TlsSettings.Store(keys(), KeyFileFormat.PEM, null, null),
                null,
                TlsSettings.ClientAuth.NONE,
                List.of("TLSv1.3"),
                List.of(),
                false);
        return TlsFiles.open(settings, counters, INTERVAL_MS);
    }

    private static X509Bundle validFrom(Instant from) throws Exception {
        return new CertificateBuilder()
                .subject("CN=broker")
                .setIsCertificateAuthority(true)
                .notBefore(from)
                .notAfter(from.plus(1, ChronoUnit.DAYS))
                .buildSelfSigned();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(15);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(deadlineNanos);
            Thread.sleep(1);
        }
    }

    @Test
    void shouldUseACertificateOnceItIsValid() throws Exception {
        // given
        write(validFrom(Instant.now().minus(1, ChronoUnit.HOURS)));
        try (TlsFiles files = open()) {
            // when
            Instant validFrom = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(3);
            write(validFrom(validFrom));
            await(() -> counters.tlsReloadFailures() > 0);
            await(() -> counters.tlsReloads() == 1);

            // then
            assertThat(files.transport().context().expiry()).isEqualTo(validFrom.plus(1, ChronoUnit.DAYS));
            assertThat(counters.tlsReloadFailures()).isEqualTo(1);
        }
    }
}
