package io.journalq.cli.local;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ConfigOrigin;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.config.ListenerSettings;
import io.journalq.server.directory.DataLocks;
import io.journalq.server.directory.LockHolder;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The broker on this machine that a configuration describes, as seen from outside. Immutable.
 *
 * @param dataDirectory the first data directory, absolute; it identifies the broker
 * @param named whether the configuration names the data directory, and does not only have the default
 * @param address the address for clients on this machine, {@code host:port}; null while the broker is starting
 * @param openAddresses the addresses that other machines can reach, separated by commas; empty if there are none
 * @param adminAddress the address of the health page, {@code host:port}, or {@code https://host:port} if it is
 *     encrypted; null if there is none
 */
record LocalBroker(Path dataDirectory, boolean named, String address, String openAddresses, String adminAddress) {
    private static final String HTTPS = "https://";
    private static final int CHECK_TIMEOUT_MS = 1_000;
    private static final int HTTP_OK = 200;

    /** Reads a configuration in the same way as the broker. */
    static LocalBroker of(Path configFile, Map<String, String> environment, List<String> assignments) {
        try {
            BrokerConfig config = BrokerConfigLoader.load(configFile, environment, assignments);
            String admin = config.get(ListenerSettings.ADMIN_LISTENER);
            String scheme = config.adminProtocol().isEncrypted() ? HTTPS : "";
            return new LocalBroker(
                    config.dataDirectories().get(0).toAbsolutePath().normalize(),
                    config.origin(BrokerSettings.DATA_DIRECTORIES) != ConfigOrigin.DEFAULT,
                    config.listeners().get(0).reachableHere(),
                    "",
                    admin.isEmpty()
                            ? null
                            : scheme + ListenerAddress.parse(admin).reachableHere());
        } catch (ConfigException wrong) {
            throw new CommandFailure(wrong.getMessage());
        }
    }

    /** Returns the running process that has locked the data directory. */
    Optional<LockHolder> holder() {
        return LockHolder.read(dataDirectory).filter(who -> who.process().isPresent());
    }

    /**
     * Whether the data directory is locked by a process that is not visible here, in another container or on another
     * machine that shares the directory. Call only if there is no holder, because this tries to acquire the lock.
     */
    boolean heldByAnUnseenProcess() {
        try {
            return DataLocks.isHeld(dataDirectory);
        } catch (IOException unreadable) {
            throw new CommandFailure("cannot read the data directory " + dataDirectory + ": " + unreadable
                    + "; run this as the user who started the broker");
        }
    }

    /**
     * Returns the message for the case that no process has locked the data directory.
     *
     * @param others all brokers on this machine
     */
    String notRunning(List<RunningBroker> others) {
        StringBuilder text = new StringBuilder("no broker is running with ").append(dataDirectory);
        if (others.isEmpty() && somebodyListens()) {
            return text.append(", but another program is listening at ")
                    .append(address)
                    .toString();
        }
        text.append("; start one with bin/journalq-server start");
        for (RunningBroker other : others) {
            text.append("\nrunning with another data directory: ").append(other);
        }
        return text.append(others.isEmpty() ? "" : "\nto select one of these, add --set data.directories=DIRECTORY")
                .toString();
    }

    /**
     * Returns this broker with the addresses that the process with the lock reports. They are null if it has not reported
     * any yet.
     */
    LocalBroker asReported() {
        return LockHolder.read(dataDirectory)
                .map(this::as)
                .orElseGet(() -> new LocalBroker(dataDirectory, named, null, "", null));
    }

    /** Returns this broker with the addresses that its process reports, which the configuration can leave open. */
    LocalBroker as(LockHolder who) {
        return new LocalBroker(dataDirectory, named, who.address(), who.openAddresses(), who.adminAddress());
    }

    /** Returns a warning about addresses that other machines can reach; null if there are none. */
    String warning() {
        return openAddresses.isEmpty()
                ? null
                : "open to other machines, without authentication and encryption: " + openAddresses;
    }

    /** Whether the broker responds, on its health page if it has one. */
    boolean ready() {
        if (address == null) {
            return false;
        }
        if (adminAddress == null || adminAddress.startsWith(HTTPS)) {
            // This program may not trust the certificate. A broker reports its address when it serves clients.
            return somebodyListens();
        }
        try {
            HttpURLConnection connection = (HttpURLConnection)
                    URI.create("http://" + adminAddress + "/health").toURL().openConnection();
            connection.setConnectTimeout(CHECK_TIMEOUT_MS);
            connection.setReadTimeout(CHECK_TIMEOUT_MS);
            try {
                return connection.getResponseCode() == HTTP_OK;
            } finally {
                connection.disconnect();
            }
        } catch (IOException notThere) {
            return false;
        }
    }

    /** The address of the health page as a URL; null if there is none. */
    String adminUrl() {
        return adminAddress == null || adminAddress.startsWith(HTTPS) ? adminAddress : "http://" + adminAddress;
    }

    /** Whether any program is listening at the address for clients. */
    boolean somebodyListens() {
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, colon).replaceAll("[\\[\\]]", "");
        try (Socket socket = new Socket()) {
            socket.connect(
                    new InetSocketAddress(host, Integer.parseInt(address.substring(colon + 1))), CHECK_TIMEOUT_MS);
            return true;
        } catch (IOException nobody) {
            return false;
        }
    }
}
