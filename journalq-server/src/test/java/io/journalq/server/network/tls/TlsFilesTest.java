package io.journalq.server.network.tls;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.tls.KeyFileFormat;
import io.journalq.server.network.NetworkCounters;
import io.journalq.server.network.SharedMemory;
import io.journalq.server.network.TestLoopContext;
import io.journalq.server.network.TlsFailure;
import io.journalq.server.network.Transport;
import io.journalq.server.shard.partition.SteppedLoop;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
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

    private static TlsSettings requiringClients(Path keys, Path trusted) {
        return new TlsSettings(
                new TlsSettings.Store(keys, KeyFileFormat.PEM, null, null),
                new TlsSettings.Store(trusted, KeyFileFormat.PEM, null, null),
                TlsSettings.ClientAuth.REQUIRED,
                List.of("TLSv1.3"),
                List.of(),
                false);
    }

    /** Exchanges what two channels have written, until the handshake of a client is complete. */
    private static void connect(EmbeddedChannel client, EmbeddedChannel broker, BooleanSupplier isComplete)
            throws InterruptedException {
        await(() -> {
            for (Object sent = client.readOutbound(); sent != null; sent = client.readOutbound()) {
                broker.writeInbound(sent);
            }
            for (Object sent = broker.readOutbound(); sent != null; sent = broker.readOutbound()) {
                client.writeInbound(sent);
            }
            client.runPendingTasks();
            broker.runPendingTasks();
            return isComplete.getAsBoolean();
        });
    }

    @Test
    void shouldCloseTheConnectionsOfClientsOnlyWhenOtherCertificatesAreTrusted() throws Exception {
        // given a client whose certificate expires soon
        X509Bundle authority = validFrom(Instant.now().minus(1, ChronoUnit.HOURS));
        Instant expiry = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(4);
        X509Bundle identity = new CertificateBuilder()
                .subject("CN=client")
                .notBefore(Instant.now().minus(1, ChronoUnit.HOURS))
                .notAfter(expiry)
                .buildIssuedBy(authority);
        Path trusted = Files.writeString(directory.resolve("trusted.pem"), authority.getCertificatePEM());
        write(validFrom(Instant.now().minus(1, ChronoUnit.HOURS)));
        TlsTransport transport =
                new TlsTransport(TlsContext.build(requiringClients(keys(), trusted)), Runnable::run, counters);
        EmbeddedChannel broker = new EmbeddedChannel();
        Transport.Line line = transport.open(
                broker, TestLoopContext.of(new SteppedLoop(), SharedMemory.of(1 << 20, 1 << 20), counters));
        EmbeddedChannel client = new EmbeddedChannel(SslContextBuilder.forClient()
                .keyManager(identity.toKeyManagerFactory())
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null)
                .build()
                .newHandler(UnpooledByteBufAllocator.DEFAULT));
        connect(client, broker, () -> line.clientCertificate() != null);

        // when it has expired, and the broker gets a new certificate
        await(() -> Instant.now().isAfter(expiry));
        write(validFrom(Instant.now().minus(1, ChronoUnit.HOURS)));
        transport.use(TlsContext.build(requiringClients(keys(), trusted)));

        // then the connection goes on
        assertThat(broker.isOpen()).isTrue();

        // and when other certificates are trusted, it is closed
        Files.writeString(
                trusted, validFrom(Instant.now().minus(1, ChronoUnit.HOURS)).getCertificatePEM());
        transport.use(TlsContext.build(requiringClients(keys(), trusted)));
        broker.runPendingTasks();
        assertThat(broker.isOpen()).isFalse();
        assertThat(counters.tlsFailures(TlsFailure.NO_LONGER_TRUSTED)).isEqualTo(1);
        client.finishAndReleaseAll();
        broker.finishAndReleaseAll();
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

    @Test
    void shouldNoticeWhenItCannotLookAtTheFiles() throws Exception {
        // given files in a file system that ends
        write(validFrom(Instant.now().minus(1, ChronoUnit.HOURS)));
        FileSystem ending = FileSystems.newFileSystem(directory.resolve("keys.zip"), Map.of("create", "true"));
        Path inside = Files.copy(keys(), ending.getPath("keys.pem"));
        TlsSettings settings = new TlsSettings(
                new TlsSettings.Store(inside, KeyFileFormat.PEM, null, null),
                null,
                TlsSettings.ClientAuth.NONE,
                List.of("TLSv1.3"),
                List.of(),
                false);
        try (TlsFiles files = TlsFiles.open(settings, counters, INTERVAL_MS)) {
            TlsContext first = files.transport().context();

            // when
            ending.close();
            await(() -> counters.tlsReloadFailures() == 1);

            // then
            assertThat(files.transport().context()).isSameAs(first);
        }
    }
}
