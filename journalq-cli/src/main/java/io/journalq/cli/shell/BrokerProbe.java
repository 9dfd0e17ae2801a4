package io.journalq.cli.shell;

import io.journalq.client.Admin;
import io.journalq.client.error.AuthenticationFailedException;
import io.journalq.client.error.JournalQException;
import io.journalq.client.error.TlsFailedException;
import io.journalq.client.security.SaslConfig;
import io.journalq.client.security.TlsConfig;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Determines within {@link #LIMIT} whether a broker responds at an address, and if not, why. A client would retry
 * silently for a long time, which does not help a user who mistyped the host or the port. Stateless.
 */
final class BrokerProbe {
    /** The time for the name lookup, the connection and the response together. */
    static final Duration LIMIT = Duration.ofSeconds(4);

    /** ApiVersions in version 0, which every broker serves: the frame without its length. */
    private static final short API_VERSIONS = 18;

    private static final int CORRELATION_ID = 0x4a51_0001;
    private static final byte[] CLIENT_ID = "journalq-cli".getBytes(StandardCharsets.US_ASCII);
    private static final int REQUEST_BYTES = 10 + CLIENT_ID.length;
    /** No response to this request is larger. */
    private static final int MAX_RESPONSE_BYTES = 1 << 20;

    private static final int HTTP = 0x4854_5450;
    /** A TLS alert and its major version. */
    private static final int TLS_ALERT = 0x1503;

    private static final int TLS_ALERT_SHIFT = 16;

    private BrokerProbe() {}

    /** An address as the user has written it. */
    record Address(String host, int port) {
        @Override
        public String toString() {
            return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
        }
    }

    /**
     * Returns normally if a broker responds at one of the addresses.
     *
     * @param tls null if connections are not encrypted
     * @param sasl null if the commands do not log in
     */
    static void reach(List<Address> addresses, TlsConfig tls, SaslConfig sasl) {
        List<CompletableFuture<String>> problems = new ArrayList<>();
        for (Address address : addresses) {
            problems.add(inBackground(() -> problem(address, tls, sasl)));
        }
        List<String> found = new ArrayList<>();
        for (CompletableFuture<String> problem : problems) {
            String text = await(problem);
            if (text == null) {
                return;
            }
            found.add(text);
        }
        throw new CommandFailure(
                found.size() == 1
                        ? found.get(0)
                        : "none of " + found.size() + " addresses is that of a broker: " + String.join(" | ", found));
    }

    private static String await(CompletableFuture<String> problem) {
        try {
            return problem.get();
        } catch (ExecutionException impossible) {
            throw new IllegalStateException(impossible.getCause());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new CommandFailure("interrupted while connecting");
        }
    }

    /** Returns what is wrong at an address and what to do about it, or null if a broker responds. */
    private static String problem(Address address, TlsConfig tls, SaslConfig sasl) {
        long endNs = System.nanoTime() + LIMIT.toNanos();
        InetAddress host;
        try {
            CompletableFuture<InetAddress> lookup = inBackground(() -> InetAddress.getByName(address.host()));
            host = lookup.get(leftMs(endNs), TimeUnit.MILLISECONDS);
        } catch (ExecutionException unknown) {
            return "unknown host " + address.host() + "; check the name in --bootstrap";
        } catch (TimeoutException slow) {
            return "the name server did not resolve " + address.host() + " within " + LIMIT.toSeconds()
                    + " s; check the name in --bootstrap, or use an IP address";
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return "interrupted while looking up " + address.host();
        }
        try (Socket socket = new Socket()) {
            // Leaves time for the response.
            socket.connect(new InetSocketAddress(host, address.port()), halfOf(leftMs(endNs)));
            String problem = tls == null ? responseProblem(address, socket, endNs) : null;
            return problem != null || (tls == null && sasl == null)
                    ? problem
                    : clientProblem(address, tls, sasl, endNs);
        } catch (SocketTimeoutException swallowed) {
            return "no connection to " + address + " within " + LIMIT.toSeconds() / 2
                    + " s; check the address, and the firewalls on the way to it";
        } catch (ConnectException refused) {
            return "no program is listening at " + address
                    + "; start a broker with bin/journalq-server start, or set another address with --bootstrap";
        } catch (IOException unreachable) {
            return "cannot connect to " + address + ": " + unreachable.getMessage()
                    + "; check the address and the network";
        }
    }

    /** A client makes the handshake and logs in, because it says what is wrong with certificates and users. */
    private static String clientProblem(Address address, TlsConfig tls, SaslConfig sasl, long endNs) {
        Duration left = Duration.ofMillis(leftMs(endNs));
        Admin.Builder builder = Admin.builder();
        if (tls != null) {
            builder.tls(tls);
        }
        if (sasl != null) {
            builder.sasl(sasl);
        }
        try (Admin admin = builder.bootstrapServers(address.toString())
                .clientId("journalq-cli")
                .connectTimeout(left)
                .callTimeout(left)
                .build()) {
            admin.describeCluster();
            return null;
        } catch (TlsFailedException refused) {
            return refused.getMessage() + "; see --tls-ca, --tls-cert and --tls-key";
        } catch (AuthenticationFailedException refused) {
            return refused.getMessage() + "; see --user, --password-file, --sasl-mechanism and --token-file";
        } catch (JournalQException failed) {
            return failed.getMessage();
        }
    }

    private static String responseProblem(Address address, Socket socket, long endNs) {
        String program = "the program at " + address + " is not a broker";
        String remedy = "; check the port in --bootstrap";
        try {
            socket.setSoTimeout(leftMs(endNs));
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.write(request());
            out.flush();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            int sizeBytes = in.readInt();
            if (sizeBytes == HTTP) {
                return program + ": it responds with HTTP" + remedy;
            }
            if (sizeBytes >>> TLS_ALERT_SHIFT == TLS_ALERT) {
                return program
                        + " without TLS: it responds with a TLS alert; use --tls-ca, or check the port in --bootstrap";
            }
            if (sizeBytes < Integer.BYTES || sizeBytes > MAX_RESPONSE_BYTES || in.readInt() != CORRELATION_ID) {
                return program + ": it does not speak the Kafka protocol" + remedy;
            }
            return null;
        } catch (SocketTimeoutException silent) {
            return "the program at " + address + " accepts connections but did not respond as a broker within "
                    + LIMIT.toSeconds() + " s" + remedy + ", or try again if the broker is overloaded";
        } catch (EOFException | java.net.SocketException closed) {
            return program + ": it closed the connection without a response" + remedy
                    + ", or use --tls-ca if the broker requires TLS";
        } catch (IOException failed) {
            return program + ": " + failed.getMessage() + remedy;
        }
    }

    private static byte[] request() throws IOException {
        java.io.ByteArrayOutputStream bytes = new java.io.ByteArrayOutputStream();
        DataOutputStream frame = new DataOutputStream(bytes);
        frame.writeInt(REQUEST_BYTES);
        frame.writeShort(API_VERSIONS);
        frame.writeShort(0);
        frame.writeInt(CORRELATION_ID);
        frame.writeShort(CLIENT_ID.length);
        frame.write(CLIENT_ID);
        return bytes.toByteArray();
    }

    /** Never 0, which would be no limit at all. */
    static int halfOf(int ms) {
        return Math.max(1, ms / 2);
    }

    private static int leftMs(long endNs) {
        return (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime()));
    }

    /** A task that blocks, such as a name lookup, which cannot be given a timeout. */
    private interface Blocking<T> {
        T run() throws IOException;
    }

    private static <T> CompletableFuture<T> inBackground(Blocking<T> task) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        result.complete(task.run());
                    } catch (IOException | RuntimeException failed) {
                        result.completeExceptionally(failed);
                    }
                },
                "journalq-probe");
        thread.setDaemon(true);
        thread.start();
        return result;
    }
}
