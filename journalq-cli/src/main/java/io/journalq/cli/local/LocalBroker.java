package io.journalq.cli.local;

import io.journalq.cli.shell.CommandFailure;
import io.journalq.server.config.BrokerConfig;
import io.journalq.server.config.BrokerConfigLoader;
import io.journalq.server.config.BrokerSettings;
import io.journalq.server.config.ConfigException;
import io.journalq.server.config.ListenerAddress;
import io.journalq.server.folder.DataLocks;
import io.journalq.server.folder.LockHolder;
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
 * The broker of this machine that a configuration describes, seen from outside. Immutable.
 *
 * @param dataDirectory absolute; the first one, which also tells whose broker it is
 * @param address where clients on this machine reach it, {@code host:port}; null while it is starting
 * @param adminAddress of the health page, {@code host:port}; null when there is none
 */
record LocalBroker(Path dataDirectory, String address, String adminAddress) {
    private static final int CHECK_TIMEOUT_MS = 1_000;
    private static final int HTTP_OK = 200;

    /** Reads a configuration as the broker itself does. */
    static LocalBroker of(Path configFile, Map<String, String> environment, List<String> assignments) {
        try {
            BrokerConfig config = BrokerConfigLoader.load(configFile, environment, assignments);
            String admin = config.get(BrokerSettings.ADMIN_LISTENER);
            return new LocalBroker(
                    config.dataDirectories().get(0).toAbsolutePath().normalize(),
                    config.listeners().get(0).reachableHere(),
                    admin.isEmpty() ? null : ListenerAddress.parse(admin).reachableHere());
        } catch (ConfigException wrong) {
            throw new CommandFailure(wrong.getMessage());
        }
    }

    /** The process that has the data folder, if one has and it still runs. */
    Optional<LockHolder> holder() {
        return LockHolder.read(dataDirectory).filter(who -> who.process().isPresent());
    }

    /**
     * Whether a process that cannot be seen from here has the data folder: one of another container, or of another
     * machine that shares the folder. Only asked when there is no holder: it tries the lock.
     */
    boolean heldByAnUnseenProcess() {
        try {
            return DataLocks.isHeld(dataDirectory);
        } catch (IOException unreadable) {
            throw new CommandFailure("cannot read the data folder " + dataDirectory + ": " + unreadable
                    + "; do it as the user who started the broker");
        }
    }

    /** What to say when no process has the data folder. */
    String notRunning() {
        return "no broker is running with " + dataDirectory
                + (somebodyListens()
                        ? ", but another program listens at " + address
                                + "; if it is a broker with another data folder, name that with --set data.directories"
                        : "; start one with bin/journalq-server start");
    }

    /** This one as its process says that it is reached, which the configuration may leave open. */
    LocalBroker as(LockHolder who) {
        return new LocalBroker(dataDirectory, who.address(), who.adminAddress());
    }

    /** Whether it answers, by its health page where it has one. */
    boolean ready() {
        if (address == null) {
            return false;
        }
        if (adminAddress == null) {
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

    /** Whether any program listens where its clients connect. */
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
