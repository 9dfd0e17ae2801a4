package io.journalq.server.network.tls;

import io.journalq.server.network.NetworkCounters;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.security.cert.X509Certificate;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of keys and certificates. Looks every {@value #INTERVAL_MS} ms whether their content has changed. If it has,
 * it builds a context from the new content and gives it to the {@link TlsTransport}. If that fails, for example because
 * only one of two files has been replaced yet, the previous context stays in use. The same content is tried again each
 * time, because a certificate can become valid, and memory can become free. A thread of its own, as files may be slow.
 */
public final class TlsFiles implements AutoCloseable {
    static final long INTERVAL_MS = 10_000;

    private static final Logger log = LoggerFactory.getLogger(TlsFiles.class);

    private final TlsSettings settings;
    private final HandshakePool handshakes = new HandshakePool();
    private final NetworkCounters counters;
    private final TlsTransport transport;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("journalq-tls-files", true));
    /** Of the content that was looked at last, whether it could be used or not; of unreadable files, the reason. */
    private String seen;

    /** Why that cannot be used; null if it is in use. */
    private String problem;

    private TlsFiles(TlsSettings settings, NetworkCounters counters) throws TlsException {
        this.settings = settings;
        this.counters = counters;
        TlsContext first = TlsContext.build(settings);
        counters.onTlsContext(settings, first.expiry());
        this.seen = first.digest();
        this.transport = new TlsTransport(first, handshakes, counters);
    }

    /**
     * Reads the files and begins to watch them.
     *
     * @throws TlsException when TLS cannot be set up with them, with one line for the operator
     */
    public static TlsFiles open(TlsSettings settings, NetworkCounters counters) throws TlsException {
        return open(settings, counters, INTERVAL_MS);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // ends with the thread; look() reports its failures
    static TlsFiles open(TlsSettings settings, NetworkCounters counters, long intervalMs) throws TlsException {
        TlsFiles files = new TlsFiles(settings, counters);
        files.thread.scheduleWithFixedDelay(files::look, intervalMs, intervalMs, TimeUnit.MILLISECONDS);
        log.info(
                "TLS: provider={} certificateExpires={} clientAuth={}",
                TlsContext.providerName(settings),
                files.transport.context().expiry(),
                settings.clientAuth());
        return files;
    }

    /** Encrypts connections with what the files hold. */
    public TlsTransport transport() {
        return transport;
    }

    /**
     * Presents the newest certificate, for connections of other libraries. The settings must allow connections to other
     * brokers.
     */
    public X509ExtendedKeyManager keys() {
        return new NewestKeys(() -> transport.context().outbound().keys());
    }

    /**
     * Checks certificates against the newest trusted ones, for connections of other libraries.
     *
     * @param accepts the owners of certificates that are trusted
     */
    public X509ExtendedTrustManager trust(Predicate<X509Certificate> accepts) {
        return new NewestTrust(
                () -> (X509ExtendedTrustManager) transport.context().trust(), accepts);
    }

    private void look() {
        String found;
        try {
            found = TlsMaterial.digestOf(settings);
        } catch (TlsException unreadable) {
            found = unreadable.getMessage();
        } catch (RuntimeException | Error failure) {
            // Such as a lack of memory, which must not end the looks either: the certificate would expire.
            if (isNew(failure.toString(), false)) {
                log.error("cannot look at the TLS files; the previous ones stay in use", failure);
            }
            return;
        }
        boolean changed = !found.equals(seen);
        if (!changed && problem == null) {
            return;
        }
        seen = found;
        try {
            TlsContext newest = TlsContext.build(settings);
            transport.use(newest);
            problem = null;
            counters.onTlsReload(settings, newest.expiry());
            log.info("TLS files reloaded: certificateExpires={}", newest.expiry());
        } catch (TlsException unusable) {
            if (isNew(unusable.getMessage(), changed)) {
                log.error(
                        "TLS files changed and cannot be used; the previous ones stay in use: {}",
                        unusable.getMessage());
            }
        } catch (RuntimeException | Error failure) {
            // Also an error must not end the looks.
            if (isNew(failure.toString(), changed)) {
                log.error("TLS files changed and cannot be used; the previous ones stay in use", failure);
            }
        }
    }

    /**
     * Notes why the files cannot be used. Counts that once for each content and reason.
     *
     * @param changed whether the content has changed
     */
    private boolean isNew(String reason, boolean changed) {
        boolean isNew = changed || !reason.equals(problem);
        problem = reason;
        if (isNew) {
            counters.onTlsReloadFailure();
        }
        return isNew;
    }

    @Override
    public void close() {
        thread.shutdownNow();
        handshakes.close();
    }
}
