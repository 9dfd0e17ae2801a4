package io.journalq.seal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLContext;

/**
 * Requests to a service that has keys or credentials, over HTTP: limited in size, time and number. A request that gets no
 * response, or one that may be different the next time, is sent again. Redirects are not followed. Any thread.
 */
final class KeyService {
    /** Maximum number of times that a request is sent. */
    static final int MAX_ATTEMPTS = 3;

    static final int OK = 200;
    static final int BAD_REQUEST = 400;
    static final int FORBIDDEN = 403;
    static final int TOO_MANY_REQUESTS = 429;

    private static final int FIRST_REDIRECT = 300;
    private static final int MAX_RESPONSE_BYTES = 256 * 1024;
    private static final int MAX_MESSAGE_LENGTH = 300;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final long PAUSE_MS = 200;

    private final String name;
    private final Duration timeout;
    private final Language language;
    private final HttpClient client;

    /** How a service says what went wrong. */
    interface Language {
        /** Whether the same request may get another response the next time. */
        boolean isPassing(Response response);

        /** What a response that is an error says, as the service has written it; empty if it says nothing. */
        String message(Response response);
    }

    /** The status and the body of a response. */
    record Response(int status, String body) {}

    /** Builds a request, for each time that it is sent. */
    interface Requests {
        /**
         * The request, with the time and the secrets of now.
         *
         * @throws IOException if it cannot be built, so that nothing is sent
         */
        HttpRequest next() throws IOException;
    }

    /**
     * Begins without a connection.
     *
     * @param name of the service, for messages
     * @param timeout how long one request can take
     * @param tls null for the authorities of Java
     */
    KeyService(String name, Duration timeout, SSLContext tls, Language language) {
        this.name = name;
        this.timeout = timeout;
        this.language = language;
        HttpClient.Builder http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_TIMEOUT);
        this.client = (tls == null ? http : http.sslContext(tls)).build();
    }

    /**
     * Sends a request up to {@value #MAX_ATTEMPTS} times.
     *
     * @throws IOException if no response is one to rely on; the message says why, in one line
     */
    Response ask(Requests requests) throws IOException {
        String problem = null;
        for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
            if (attempt > 1) {
                pause(attempt);
            }
            HttpRequest request = requests.next();
            Response response;
            try {
                response = send(request);
            } catch (InterruptedIOException stop) {
                throw stop;
            } catch (IOException lost) {
                problem = lost.getMessage() == null ? lost.getClass().getSimpleName() : lost.getMessage();
                continue;
            }
            if (response.status >= FIRST_REDIRECT && response.status < BAD_REQUEST) {
                throw new IOException(name + " redirects the request, and nothing secret is sent to another server;"
                        + " use the address of the server that responds");
            }
            if (!language.isPassing(response)) {
                return response;
            }
            problem = inWords(response);
        }
        throw new IOException(name + " gave no usable response to " + MAX_ATTEMPTS + " requests; the last: " + problem);
    }

    /** What a response says, in one line, without what was decrypted: only errors are shown. */
    String inWords(Response response) {
        String said = language.message(response).strip();
        String shown = said.length() > MAX_MESSAGE_LENGTH ? said.substring(0, MAX_MESSAGE_LENGTH) : said;
        String line = shown.replace("\\n", " ").replaceAll("[^ -~]", " ");
        return "status " + response.status + (line.isEmpty() ? "" : ": " + line);
    }

    private void pause(int attempt) throws InterruptedIOException {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS << attempt);
        } catch (InterruptedException stop) {
            throw interrupted();
        }
    }

    private InterruptedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("interrupted while waiting for " + name);
    }

    private Response send(HttpRequest request) throws IOException {
        CompletableFuture<HttpResponse<byte[]>> pending = client.sendAsync(request, info -> new LimitedBody());
        try {
            HttpResponse<byte[]> done = pending.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            return new Response(done.statusCode(), new String(done.body(), UTF_8));
        } catch (TimeoutException slow) {
            throw new IOException("no response within " + timeout.toMillis() + " ms", slow);
        } catch (InterruptedException stop) {
            throw interrupted();
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof IOException lost ? lost : new IOException(failed.getCause());
        } finally {
            pending.cancel(true);
        }
    }

    /** A body of limited size, which is complete within the time of the request. */
    private static final class LimitedBody implements BodySubscriber<byte[]> {
        private final CompletableFuture<byte[]> body = new CompletableFuture<>();
        private final ByteArrayOutputStream received = new ByteArrayOutputStream();
        private Flow.Subscription subscription;

        @Override
        public CompletionStage<byte[]> getBody() {
            return body;
        }

        @Override
        public void onSubscribe(Flow.Subscription begun) {
            subscription = begun;
            begun.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> parts) {
            for (ByteBuffer part : parts) {
                if (received.size() + part.remaining() > MAX_RESPONSE_BYTES) {
                    subscription.cancel();
                    body.completeExceptionally(
                            new IOException("a response of more than " + MAX_RESPONSE_BYTES + " bytes"));
                    return;
                }
                byte[] bytes = new byte[part.remaining()];
                part.get(bytes);
                received.writeBytes(bytes);
            }
        }

        @Override
        public void onError(Throwable failure) {
            body.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            body.complete(received.toByteArray());
        }
    }

    /**
     * Checks the address of a service.
     *
     * @param what would be sent to it
     * @throws IllegalArgumentException if it is of another form, or would be reached without encryption on another machine
     */
    static void checkAddress(String name, URI address, String what) {
        boolean https = "https".equals(address.getScheme());
        if ((!https && !"http".equals(address.getScheme())) || address.getHost() == null) {
            throw new IllegalArgumentException(
                    "the address of " + name + " has the form https://HOST:PORT: " + address);
        }
        if (!https && !isOfThisMachine(address.getHost())) {
            throw new IllegalArgumentException(
                    what + " would be sent to " + address.getHost() + " without encryption; use https");
        }
    }

    private static boolean isOfThisMachine(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException unknown) {
            return false;
        }
    }

    /** Checks how long a request can take. */
    static Duration checkTimeout(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("the timeout must be more than zero");
        }
        return timeout;
    }
}
