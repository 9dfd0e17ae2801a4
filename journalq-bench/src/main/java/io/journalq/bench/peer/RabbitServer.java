package io.journalq.bench.peer;

import io.journalq.bench.BenchException;
import io.journalq.bench.measure.ProcessFinder;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;

/**
 * A running RabbitMQ server at {@code --bootstrap}, otherwise at the host of the environment variable {@code RABBITMQ_HOST},
 * otherwise on this machine. This program never starts, stops or freezes it. Immutable.
 */
final class RabbitServer {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(3);
    private static final String ENVIRONMENT = "RABBITMQ_HOST";

    private final PubSubSettings settings;
    private final int defaultPort;
    private final String install;

    /** {@code install} is the command after which a server listens at {@code defaultPort} of this machine. */
    RabbitServer(PubSubSettings settings, int defaultPort, String install) {
        this.settings = settings;
        this.defaultPort = defaultPort;
        this.install = install;
    }

    /** The command that installs the server, if nothing listens at the default address. Does not check --bootstrap. */
    Optional<String> missing() {
        return settings.isExternal() || listens(publishTarget(0)) ? Optional.empty() : Optional.of(install);
    }

    /** Throws if nothing listens at the addresses of publishers and subscribers. */
    void requireReachable() {
        for (String target : new String[] {publishTarget(0), subscribeTarget()}) {
            if (!listens(target)) {
                throw new BenchException(
                        "no RabbitMQ server responds at " + target, "start it; to install it here: " + install);
            }
        }
    }

    private boolean listens(String target) {
        try (Socket socket = new Socket()) {
            socket.connect(
                    new InetSocketAddress(host(target), port(target)), Math.toIntExact(CONNECT_TIMEOUT.toMillis()));
            return true;
        } catch (IOException notListening) {
            return false;
        }
    }

    long pid() {
        return ProcessFinder.listeningAt(publishTarget(0));
    }

    String publishTarget(int number) {
        return settings.isExternal() ? settings.publishTarget(number) : defaultTarget();
    }

    String subscribeTarget() {
        return settings.isExternal() ? settings.subscriberTarget() : defaultTarget();
    }

    private String defaultTarget() {
        return System.getenv().getOrDefault(ENVIRONMENT, "localhost") + ":" + defaultPort;
    }

    static String host(String target) {
        int colon = target.lastIndexOf(':');
        return colon < 0 ? target : target.substring(0, colon);
    }

    int port(String target) {
        int colon = target.lastIndexOf(':');
        try {
            return colon < 0 ? defaultPort : Integer.parseInt(target.substring(colon + 1));
        } catch (NumberFormatException e) {
            throw new BenchException("'" + target + "' has no port number", "use HOST:PORT", e);
        }
    }

    static BenchException failed(String what, Exception cause) {
        return new BenchException("RabbitMQ did not " + what + " (" + cause.getMessage() + ")", "check its log", cause);
    }
}
