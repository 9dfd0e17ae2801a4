package io.journalq.server.security.token;

import io.journalq.common.file.FileProblem;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of the identity provider. Reads them once an hour, and when a token names a key that is not known, but then at
 * most once a minute. If that fails, the previous keys stay in use. One thread of its own reads. Any thread.
 */
public final class JwksSource implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(JwksSource.class);

    private static final long REFRESH_INTERVAL_MS = TimeUnit.HOURS.toMillis(1);
    static final long MIN_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int HTTP_OK = 200;
    private static final int HTTP_GONE_WRONG = 0;

    private final URI address;
    private final SSLContext tls;
    private final LongSupplier nanoTime;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(new DefaultThreadFactory("journalq-jwks", true));
    private volatile JwksKeys keys = JwksKeys.NONE;
    /** Guarded by this. */
    private long readNanos;
    /** The last read because of an unknown key, which may not be done. Guarded by this. */
    private CompletableFuture<JwksKeys> reading = CompletableFuture.completedFuture(JwksKeys.NONE);

    private JwksSource(URI address, SSLContext tls, LongSupplier nanoTime) {
        this.address = address;
        this.tls = tls;
        this.nanoTime = nanoTime;
        this.readNanos = nanoTime.getAsLong();
    }

    /**
     * Reads the keys for the first time, and goes on reading them.
     *
     * @throws IOException if they are in a file that cannot be used. If a provider does not respond, logins are refused
     *     until it does
     */
    public static JwksSource open(URI address) throws IOException {
        return open(address, null, System::nanoTime);
    }

    /** @param tls null for that of the Java runtime */
    @SuppressWarnings("FutureReturnValueIgnored") // ends with the thread; refresh() reports its failures
    static JwksSource open(URI address, SSLContext tls, LongSupplier nanoTime) throws IOException {
        JwksSource source = new JwksSource(address, tls, nanoTime);
        try {
            source.keys = source.read();
        } catch (IOException unusable) {
            if (isFile(address)) {
                source.close();
                throw new IOException(
                        "sasl.oauthbearer.jwks.endpoint.url: cannot use " + address + ": "
                                + FileProblem.reason(unusable),
                        unusable);
            }
            log.error("cannot read the keys of tokens: address={} reason=\"{}\"", address, unusable.getMessage());
        }
        source.thread.scheduleWithFixedDelay(
                source::refresh, REFRESH_INTERVAL_MS, REFRESH_INTERVAL_MS, TimeUnit.MILLISECONDS);
        return source;
    }

    private static boolean isFile(URI address) {
        return address.getScheme().equals("file");
    }

    /**
     * The keys, read again if they do not contain this one and that was not done within the last minute. While they are
     * being read, all who ask for an unknown one wait: after a change at the provider, clients log in at the same time.
     */
    CompletableFuture<JwksKeys> keysFor(String keyId) {
        JwksKeys known = keys;
        return known.contains(keyId) ? CompletableFuture.completedFuture(known) : newestKeys();
    }

    private synchronized CompletableFuture<JwksKeys> newestKeys() {
        if (!reading.isDone()) {
            return reading;
        }
        long nowNanos = nanoTime.getAsLong();
        if (nowNanos - readNanos < MIN_INTERVAL_NANOS) {
            return CompletableFuture.completedFuture(keys);
        }
        readNanos = nowNanos;
        try {
            reading = CompletableFuture.supplyAsync(
                    () -> {
                        refresh();
                        return keys;
                    },
                    thread);
        } catch (RejectedExecutionException closed) {
            return CompletableFuture.completedFuture(keys);
        }
        return reading;
    }

    private void refresh() {
        try {
            keys = read();
        } catch (IOException | RuntimeException | Error unusable) {
            // Also an error, such as a thread that cannot be created: no refresh would follow, and keys that were
            // withdrawn would stay trusted.
            log.error(
                    "cannot read the keys of tokens; the previous ones stay in use: address={} reason=\"{}\"",
                    address,
                    unusable.getMessage());
        }
    }

    private JwksKeys read() throws IOException {
        return JwksKeys.parse(isFile(address) ? readFile() : download());
    }

    private byte[] readFile() throws IOException {
        try (InputStream in = Files.newInputStream(Path.of(address))) {
            return in.readNBytes(JwksKeys.MAX_SIZE_BYTES + 1);
        }
    }

    private byte[] download() throws IOException {
        HttpClient.Builder builder =
                HttpClient.newBuilder().connectTimeout(TIMEOUT).followRedirects(HttpClient.Redirect.NEVER);
        HttpClient client = (tls == null ? builder : builder.sslContext(tls)).build();
        HttpRequest request = HttpRequest.newBuilder(address).timeout(TIMEOUT).build();
        int status = HTTP_GONE_WRONG;
        try {
            HttpResponse<InputStream> response = client.send(request, HttpResponse.BodyHandlers.ofInputStream());
            status = response.statusCode();
            try (InputStream in = response.body()) {
                if (status == HTTP_OK) {
                    return readWithin(TIMEOUT, in);
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        throw new IOException("status " + status);
    }

    /** The timeout of the request ends with the head of the response. A provider can stop in the middle of the body. */
    private static byte[] readWithin(Duration timeout, InputStream in) throws IOException {
        CompletableFuture<Void> limit = CompletableFuture.runAsync(
                () -> {
                    try {
                        in.close();
                    } catch (IOException closed) {
                        log.debug("cannot close the response with the keys of tokens", closed);
                    }
                },
                CompletableFuture.delayedExecutor(timeout.toMillis(), TimeUnit.MILLISECONDS));
        try {
            return in.readNBytes(JwksKeys.MAX_SIZE_BYTES + 1);
        } finally {
            limit.cancel(false);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
